#include "sorted_column.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace lessnaive {
namespace {

constexpr int kBlock = 1024;
constexpr int kBits = 11, kBuckets = 1 << kBits, kPasses = 6;

// Unsigned integers in the order of the doubles.
uint64_t key_of(double value) {
    uint64_t bits;
    value += 0.0;  // -0 and 0 are one value
    std::memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t{1} << 63);
}

double value_of(uint64_t key) {
    const uint64_t bits = key >> 63 ? key & ~(uint64_t{1} << 63) : ~key;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// Stable radix sort of keys, with something small carried along; digits that are the same in all
// keys are passed over.
void radix_sort(std::vector<uint64_t>& keys, std::vector<uint32_t>& carried) {
    const size_t size = keys.size();
    std::vector<std::array<uint32_t, kBuckets>> counts(kPasses);
    for (auto& count : counts) count.fill(0);
    for (uint64_t key : keys)
        for (int pass = 0; pass < kPasses; ++pass)
            ++counts[pass][(key >> (pass * kBits)) & (kBuckets - 1)];
    std::vector<uint64_t> other_keys(size);
    std::vector<uint32_t> other_carried(size);
    for (int pass = 0; pass < kPasses; ++pass) {
        std::array<uint32_t, kBuckets>& count = counts[pass];
        const int shift = pass * kBits;
        if (count[(keys[0] >> shift) & (kBuckets - 1)] == size) continue;
        uint32_t sum = 0;
        for (uint32_t& bucket : count) sum += std::exchange(bucket, sum);
        for (size_t i = 0; i < size; ++i) {
            const uint32_t place = count[(keys[i] >> shift) & (kBuckets - 1)]++;
            other_keys[place] = keys[i];
            other_carried[place] = carried[i];
        }
        keys.swap(other_keys);
        carried.swap(other_carried);
    }
}

}  // namespace

SortedColumn sort_column(const Column& column, const Column& labels, const double* weights,
                         int64_t rows, int classes) {
    SortedColumn out;
    out.missing.assign(classes, 0.0);
    const CodedColumn label_codes{labels, 0, classes};
    std::vector<uint64_t> keys;
    std::vector<uint32_t> carried;  // the class, or with weights the row
    keys.reserve(rows);
    carried.reserve(rows);
    double x[kBlock];
    uint32_t label[kBlock];
    for (int64_t first = 0; first < rows; first += kBlock) {
        const int count = static_cast<int>(std::min<int64_t>(kBlock, rows - first));
        load_numbers(column, first, count, x);
        load_codes(label_codes, first, count, label);
        for (int k = 0; k < count; ++k) {
            const double weight = weights == nullptr ? 1.0 : weights[first + k];
            if (weight == 0) continue;
            if (x[k] != x[k]) {
                out.missing[label[k]] += weight;
                continue;
            }
            keys.push_back(key_of(x[k]));
            carried.push_back(weights == nullptr ? label[k] : static_cast<uint32_t>(first + k));
        }
    }
    if (!keys.empty()) radix_sort(keys, carried);
    out.values.resize(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) out.values[i] = value_of(keys[i]);
    out.labels.swap(carried);
    if (weights != nullptr) {
        out.weights.resize(keys.size());
        for (size_t i = 0; i < keys.size(); ++i) {
            const int64_t row = out.labels[i];
            out.weights[i] = weights[row];
            load_codes(label_codes, row, 1, &out.labels[i]);
        }
    }
    return out;
}

double cut_between(double low, double high) {
    const double middle = low / 2 + high / 2;
    return low <= middle && middle < high ? middle : low;
}

}  // namespace lessnaive
