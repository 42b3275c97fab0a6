#include "table/records.hpp"

namespace lessnaive {
namespace {

bool is_break(char c) { return c == '\n' || c == '\r'; }

// One past a line break, or -1 if the text ends behind a CR that an LF may follow.
int64_t after_break(const char* text, int64_t at, int64_t size, bool is_end) {
    if (text[at] == '\n') return at + 1;
    if (at + 1 == size) return is_end ? size : -1;
    return text[at + 1] == '\n' ? at + 2 : at + 1;
}

// The place of the quote that closes a cell, or size; counts the lines on the way.
int64_t closing_quote(const char* text, int64_t at, int64_t size, int64_t& line) {
    for (; at < size; ++at) {
        if (text[at] == '"') {
            if (at + 1 == size || text[at + 1] != '"') return at;
            ++at;
        } else if (text[at] == '\n' ||
                   (text[at] == '\r' && at + 1 < size && text[at + 1] != '\n')) {
            ++line;
        }
    }
    return size;
}

}  // namespace

Records find_records(const char* text, int64_t size, char separator, bool is_end) {
    Records out;
    int64_t at = 0, line = 0;
    while (at < size) {
        if (is_break(text[at])) {  // an empty line
            const int64_t next = after_break(text, at, size, is_end);
            if (next < 0) return out;
            at = next;
            ++line;
            continue;
        }
        const int64_t first_line = line;
        int32_t cells = 1;
        bool at_start = true;  // of a cell
        while (at < size && !is_break(text[at])) {
            if (at_start && text[at] == '"') {
                at = closing_quote(text, at + 1, size, line);
                if (at == size) {
                    out.open = true;
                    return out;
                }
            }
            at_start = text[at] == separator;
            cells += at_start;
            ++at;
        }
        int64_t end = size;
        if (at < size) {
            end = after_break(text, at, size, is_end);
            if (end < 0) return out;
            ++line;
        } else if (!is_end) {
            return out;
        }
        out.ends.push_back(end);
        out.lines.push_back(first_line);
        out.cells.push_back(cells);
        out.nexts.push_back(line);
        at = end;
    }
    return out;
}

}  // namespace lessnaive
