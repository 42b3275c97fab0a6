// Packed rows a few at a time, all of them or a sample.
#pragma once

#include <cstdint>
#include <vector>

#include "weights/evidence.hpp"

namespace lessnaive {

// Rows at a time: their evidence for all classes and columns should stay in the cache.
constexpr int kChunkRows = 128;

// Which rows to look at: all, or about `rows` of them spread evenly (places jittered by `seed`).
// Of the log loss with weights of their own for each class, a row is left out between two classes
// the product of whose probabilities is at most `negligible` times the share of rows that the rarer
// one has: the curvature is the sum over pairs of classes of p_c p_d times the square of the
// difference of their scores, so that what is left is curvature still, and less of it.
struct RowSample {
    int64_t rows;
    uint64_t seed;
    double negligible = 0;
};

// Where the packed rows of a part of a table are among those of the whole table.
struct PlaceInWhole {
    int64_t rows;                 // of the whole table
    std::vector<int64_t> starts;  // place of the first row of each class
};

// Rows of one label, not necessarily neighbours.
struct Chunk {
    std::vector<int64_t> rows;
    int label;

    // Of vectors over the rows, with zeros at the end.
    int length() const { return static_cast<int>(rows.size() + 3) / 4 * 4; }
    // A sample may hold a row twice.
    bool are_neighbours() const;
};

PlaceInWhole place_of_whole(const Evidence& evidence);

// Those rows of a part that a sample of the whole table would look at.
std::vector<Chunk> chunks_of(const Evidence& evidence, const PlaceInWhole& place, RowSample sample);

}  // namespace lessnaive
