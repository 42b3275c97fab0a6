#include "stream/kept_values.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace lessnaive {
namespace {

constexpr int kBlock = 1024;

// Finds the slot of the smallest bound, the first of several. Bounds only grow: an entry that is no
// longer true is put back with its present bound when it comes up.
class SmallestBound {
  public:
    explicit SmallestBound(const KeptValues& kept) : kept_(kept) {}

    int64_t slot() {
        if (waiting_.empty())
            for (int64_t slot = 0; slot < kept_.slots; ++slot)
                waiting_.push({kept_.bound[slot], slot});
        while (true) {
            const auto [bound, slot] = waiting_.top();
            if (bound == kept_.bound[slot]) return slot;
            waiting_.pop();
            waiting_.push({kept_.bound[slot], slot});
        }
    }

  private:
    using Entry = std::pair<double, int64_t>;
    const KeptValues& kept_;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> waiting_;
};

}  // namespace

std::vector<int64_t> keep_values(KeptValues& kept, const CodedColumn& codes, const Column& labels,
                                 const double* weights, int64_t rows,
                                 std::vector<int64_t> slot_of) {
    std::vector<int64_t> taken(kept.slots, -1), holder(kept.slots, -1);
    for (size_t value = 0; value < slot_of.size(); ++value)
        if (slot_of[value] >= 0) holder[slot_of[value]] = static_cast<int64_t>(value);
    const CodedColumn label_codes{labels, 0, kept.classes};
    SmallestBound smallest(kept);
    uint32_t code[kBlock], label[kBlock];
    for (int64_t first = 0; first < rows; first += kBlock) {
        const int count = static_cast<int>(std::min<int64_t>(kBlock, rows - first));
        load_codes(codes, first, count, code);
        load_codes(label_codes, first, count, label);
        for (int k = 0; k < count; ++k) {
            const double weight = weights == nullptr ? 1.0 : weights[first + k];
            if (weight == 0) continue;
            if (code[k] == 0) {
                kept.missing[label[k]] += weight;
                continue;
            }
            int64_t& slot = slot_of[code[k] - 1];
            if (slot < 0) {
                slot = kept.used < kept.slots ? kept.used++ : smallest.slot();
                if (holder[slot] >= 0) slot_of[holder[slot]] = -1;
                holder[slot] = taken[slot] = code[k] - 1;
                double* counts = kept.counts + slot * kept.classes;
                for (int64_t c = 0; c < kept.classes; ++c)
                    kept.rest[c] += std::exchange(counts[c], 0.0);
            }
            kept.counts[slot * kept.classes + label[k]] += weight;
            kept.bound[slot] += weight;
        }
    }
    return taken;
}

}  // namespace lessnaive
