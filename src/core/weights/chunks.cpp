#include "weights/chunks.hpp"

#include <algorithm>

namespace lessnaive {
namespace {

uint64_t mixed(uint64_t x) {  // splitmix64
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

// The rows of a sample, of which the places increase.
class SampledRows {
  public:
    SampledRows(RowSample sample, int64_t rows)
        : rows_(rows), wanted_(std::min(rows, sample.rows)), seed_(sample.seed) {}

    int64_t count() const { return wanted_; }

    int64_t row(int64_t i) const {
        if (wanted_ == rows_) return i;
        const double jitter = static_cast<double>(mixed(seed_ + i) >> 11) * 0x1p-53;
        const double at = (static_cast<double>(i) + jitter) * static_cast<double>(rows_) /
                          static_cast<double>(wanted_);
        return std::min(rows_ - 1, static_cast<int64_t>(at));
    }

    // The first that is at `row` or behind it.
    int64_t first_from(int64_t row) const {
        const double near = static_cast<double>(row) * static_cast<double>(wanted_) /
                            static_cast<double>(std::max<int64_t>(1, rows_));
        int64_t i = std::clamp<int64_t>(static_cast<int64_t>(near) - 2, 0, wanted_);
        while (i < wanted_ && this->row(i) < row) ++i;
        return i;
    }

  private:
    int64_t rows_, wanted_;
    uint64_t seed_;
};

}  // namespace

bool Chunk::are_neighbours() const {
    return std::adjacent_find(rows.begin(), rows.end(), [](int64_t one, int64_t next) {
               return next != one + 1;
           }) == rows.end();
}

PlaceInWhole place_of_whole(const Evidence& evidence) {
    PlaceInWhole out{evidence.rows(), std::vector<int64_t>(evidence.classes(), 0)};
    // Blocks are in the order of their labels.
    for (auto block = evidence.blocks().rbegin(); block != evidence.blocks().rend(); ++block)
        out.starts[block->label] = block->first;
    return out;
}

std::vector<Chunk> chunks_of(const Evidence& evidence, const PlaceInWhole& place,
                             RowSample sample) {
    std::vector<Chunk> out;
    const SampledRows sampled(sample, place.rows);
    int label = -1;
    int64_t i = 0, shift = 0;  // the next sampled row; from places here to places in the whole
    for (const Block& block : evidence.blocks()) {
        if (block.label != label) {
            label = block.label;
            shift = place.starts[label] - block.first;
            i = sampled.first_from(place.starts[label]);
        }
        for (; i < sampled.count(); ++i) {
            const int64_t row = sampled.row(i) - shift;
            if (row >= block.first + block.count) break;
            if (out.empty() || out.back().label != label || out.back().rows.size() == kChunkRows)
                out.push_back({{}, label});
            out.back().rows.push_back(row);
        }
    }
    return out;
}

}  // namespace lessnaive
