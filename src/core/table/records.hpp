// Where the records of a CSV text end.
#pragma once

#include <cstdint>
#include <vector>

namespace lessnaive {

// The whole records of a piece of text that begins where a record begins. Empty lines are no
// records; they belong to the bytes of the record that follows.
struct Records {
    std::vector<int64_t> ends;   // one past the last byte of each, its line break included
    std::vector<int64_t> lines;  // the line in which each begins, the first one being 0
    std::vector<int64_t> nexts;  // the line behind its line break
    std::vector<int32_t> cells;  // number of cells of each
    bool open = false;           // whether the rest ends within quotes
};

// Quotes open a cell at its first byte only, and are doubled within it; what follows the closing
// one belongs to the cell. Lines end with LF, CR LF or CR. If this is the end of the text, what is
// behind the last line break is a record too, unless it ends within quotes.
Records find_records(const char* text, int64_t size, char separator, bool is_end);

}  // namespace lessnaive
