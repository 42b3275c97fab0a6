// Codes of texts that lie one after the other in memory, as Arrow keeps them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lessnaive {

// Row i is bytes[offsets[i] .. offsets[i + 1]), and is missing if bit first_bit + i of `valid`,
// which may be null, is not set. codes[i] = the place of its text among the distinct ones, which
// are returned in the order of their first rows; -1 where missing.
template <class Offset>
std::vector<std::string_view> text_codes(const Offset* offsets, const char* bytes,
                                         const uint8_t* valid, int64_t first_bit, int64_t rows,
                                         int32_t* codes);

}  // namespace lessnaive
