#include "binning/sorted_column.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace lessnaive {
namespace {

constexpr int kBlock = 1024;
constexpr int kBits = 8, kBuckets = 1 << kBits, kTopPasses = 4;

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

// Stable radix sort of keys by `passes` digits from a bit on, with something small carried along;
// digits that are the same in all keys are passed over.
void radix_sort(std::vector<uint64_t>& keys, std::vector<uint32_t>& carried, int low, int passes) {
    const size_t size = keys.size();
    const auto digit = [low](uint64_t key, int pass) {
        return (key >> (low + pass * kBits)) & (kBuckets - 1);
    };
    std::vector<std::array<uint32_t, kBuckets>> counts(passes);
    for (auto& count : counts) count.fill(0);
    for (uint64_t key : keys)
        for (int pass = 0; pass < passes; ++pass) ++counts[pass][digit(key, pass)];
    std::vector<uint64_t> other_keys(size);
    std::vector<uint32_t> other_carried(size);
    for (int pass = 0; pass < passes; ++pass) {
        std::array<uint32_t, kBuckets>& count = counts[pass];
        if (count[digit(keys[0], pass)] == size) continue;
        uint32_t sum = 0;
        for (uint32_t& bucket : count) sum += std::exchange(bucket, sum);
        for (size_t i = 0; i < size; ++i) {
            const uint32_t place = count[digit(keys[i], pass)]++;
            other_keys[place] = keys[i];
            other_carried[place] = carried[i];
        }
        keys.swap(other_keys);
        carried.swap(other_carried);
    }
}

// Stable insertion sort, for keys that are nearly in order. Gives up, with the keys somewhat better
// in order, and returns false if it takes more than a few moves per key.
bool insertion_sort(std::vector<uint64_t>& keys, std::vector<uint32_t>& carried) {
    int64_t moves_left = 4 * static_cast<int64_t>(keys.size());
    for (size_t i = 1; i < keys.size(); ++i) {
        if (keys[i - 1] <= keys[i]) continue;
        const uint64_t key = keys[i];
        const uint32_t with = carried[i];
        size_t place = i;
        for (; place > 0 && keys[place - 1] > key; --place) {
            keys[place] = keys[place - 1];
            carried[place] = carried[place - 1];
        }
        keys[place] = key;
        carried[place] = with;
        moves_left -= static_cast<int64_t>(i - place);
        if (moves_left < 0) return false;
    }
    return true;
}

// Most keys differ in the upper half of the bits that differ at all: sorted by these, few are left
// to be put right.
void sort_keys(std::vector<uint64_t>& keys, std::vector<uint32_t>& carried) {
    uint64_t differ = 0;
    for (uint64_t key : keys) differ |= key ^ keys[0];
    int bits = 0;
    while (bits < 64 && differ >> bits != 0) ++bits;
    const int low = std::max(bits - kTopPasses * kBits, 0);
    radix_sort(keys, carried, low, kTopPasses);
    if (low > 0 && !insertion_sort(keys, carried)) radix_sort(keys, carried, 0, 64 / kBits);
}

}  // namespace

void sort_values(std::vector<double>& values, std::vector<uint32_t>& carried) {
    if (values.empty()) return;
    std::vector<uint64_t> keys(values.size());
    std::transform(values.begin(), values.end(), keys.begin(), key_of);
    sort_keys(keys, carried);
    std::transform(keys.begin(), keys.end(), values.begin(), value_of);
}

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
    if (!keys.empty()) sort_keys(keys, carried);
    out.values.resize(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) out.values[i] = value_of(keys[i]);
    std::vector<uint64_t>().swap(keys);
    out.labels.swap(carried);
    if (weights != nullptr) {
        out.weights.resize(out.values.size());
        for (size_t i = 0; i < out.values.size(); ++i) {
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
