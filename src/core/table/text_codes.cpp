#include "table/text_codes.hpp"

#include <cstring>

namespace lessnaive {
namespace {

// Mixes eight bytes at a time; the same on all machines of one byte order.
uint64_t hash_of(std::string_view text) {
    constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
    uint64_t hash = text.size() * kOdd;
    const auto mix = [&](uint64_t word) {
        hash = (hash ^ word) * kOdd;
        hash ^= hash >> 29;
    };
    size_t place = 0;
    uint64_t word;
    for (; place + sizeof word <= text.size(); place += sizeof word) {
        std::memcpy(&word, text.data() + place, sizeof word);
        mix(word);
    }
    word = 0;
    std::memcpy(&word, text.data() + place, text.size() - place);
    mix(word);
    return hash ^ (hash >> 32);
}

// An open table of the places of distinct texts, at least twice as long as there are texts.
class TextTable {
  public:
    TextTable() : slots_(256, -1) {}

    int32_t place_of(std::string_view text) {
        const uint64_t hash = hash_of(text);
        size_t slot = hash & (slots_.size() - 1);
        for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
            const int32_t place = slots_[slot];
            if (hashes_[place] == hash && texts[place] == text) return place;
        }
        const int32_t place = static_cast<int32_t>(texts.size());
        slots_[slot] = place;
        texts.push_back(text);
        hashes_.push_back(hash);
        if (2 * texts.size() > slots_.size()) grow();
        return place;
    }

    std::vector<std::string_view> texts;

  private:
    void grow() {
        slots_.assign(2 * slots_.size(), -1);
        for (size_t place = 0; place < hashes_.size(); ++place) {
            size_t slot = hashes_[place] & (slots_.size() - 1);
            while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = static_cast<int32_t>(place);
        }
    }

    std::vector<int32_t> slots_;
    std::vector<uint64_t> hashes_;
};

}  // namespace

template <class Offset>
std::vector<std::string_view> text_codes(const Offset* offsets, const char* bytes,
                                         const uint8_t* valid, int64_t first_bit, int64_t rows,
                                         int32_t* codes) {
    TextTable table;
    for (int64_t row = 0; row < rows; ++row) {
        const int64_t bit = first_bit + row;
        if (valid != nullptr && !(valid[bit >> 3] >> (bit & 7) & 1)) {
            codes[row] = -1;
            continue;
        }
        const size_t length = static_cast<size_t>(offsets[row + 1] - offsets[row]);
        codes[row] = table.place_of(std::string_view(bytes + offsets[row], length));
    }
    return table.texts;
}

template std::vector<std::string_view> text_codes(const int32_t*, const char*, const uint8_t*,
                                                  int64_t, int64_t, int32_t*);
template std::vector<std::string_view> text_codes(const int64_t*, const char*, const uint8_t*,
                                                  int64_t, int64_t, int32_t*);

}  // namespace lessnaive
