#include "search/selection.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/interrupt.hpp"
#include "base/parallel.hpp"
#include "base/simd.hpp"
#include "table/parabola.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = SegmentedLines::kBlock;
constexpr int64_t kBlocksPerTask = 16;
constexpr int64_t kTaskRows = kBlock * kBlocksPerTask;
// Scores that differ by less, relative to the highest, count as equal.
constexpr double kTie = 1e-10;

LESSNAIVE_WIDE void add_parabola(const double* x, const Parabola& score, int count, double* sum) {
    for (int k = 0; k < count; ++k) sum[k] += x[k] == x[k] ? score.at(x[k]) : score.missing;
}

// One column, read block by block. Blocks of scores have shape (classes, kBlock): the inner loops
// run over rows.
class Reader {
  public:
    Reader(const ColumnEvidence& evidence, int classes) : evidence_(evidence), classes_(classes) {
        if (const Lookup* lookup = std::get_if<Lookup>(&evidence)) {
            const int64_t rows = lookup->coded.table_rows;
            by_class_.resize(rows * classes);
            for (int64_t r = 0; r < rows; ++r)
                for (int c = 0; c < classes; ++c)
                    by_class_[c * rows + r] = lookup->table[r * classes + c];
        } else if (const Piecewise* curve = std::get_if<Piecewise>(&evidence)) {
            lines_.emplace(*curve, classes, classes);
        }
    }

    void add(int64_t first, int count, double* scores) const {
        if (const Lookup* lookup = std::get_if<Lookup>(&evidence_))
            add_lookup(lookup->coded, first, count, scores);
        else if (lines_)
            add_curve(std::get<Piecewise>(evidence_).column, first, count, scores);
        else
            add_quadratic(std::get<Quadratic>(evidence_), first, count, scores);
    }

  private:
    void add_lookup(const CodedColumn& coded, int64_t first, int count, double* scores) const {
        uint32_t codes[kBlock];
        load_codes(coded, first, count, codes);
        for (int c = 0; c < classes_; ++c) {
            const double* table = by_class_.data() + c * coded.table_rows;
            double* sum = scores + c * kBlock;
            for (int k = 0; k < count; ++k) sum[k] += table[codes[k]];
        }
    }

    void add_quadratic(const Quadratic& quadratic, int64_t first, int count, double* scores) const {
        double x[kBlock];
        load_numbers(quadratic.column, first, count, x);
        for (int c = 0; c < classes_; ++c)
            add_parabola(x, Parabola(quadratic.parameters, classes_, c), count,
                         scores + c * kBlock);
    }

    void add_curve(const Column& column, int64_t first, int count, double* scores) const {
        double x[kBlock];
        load_numbers(column, first, count, x);
        lines_->add_by_class(x, count, kBlock, scores);
    }

    const ColumnEvidence& evidence_;
    int classes_;
    std::optional<SegmentedLines> lines_;
    std::vector<double> by_class_;  // the table, class by class
};

std::vector<Reader> readers_of(const std::vector<ColumnEvidence>& columns, int classes) {
    std::vector<Reader> readers;
    for (const ColumnEvidence& column : columns) readers.emplace_back(column, classes);
    return readers;
}

LESSNAIVE_WIDE void first_highest(const double* scores, int count, int classes, double* highest,
                                  uint32_t* winner) {
    double lowest[kBlock];
    std::copy_n(scores, count, highest);
    for (int c = 1; c < classes; ++c)
        for (int k = 0; k < count; ++k) highest[k] = std::max(highest[k], scores[c * kBlock + k]);
    for (int k = 0; k < count; ++k) lowest[k] = highest[k] - kTie * (1 + std::fabs(highest[k]));
    for (int c = classes - 1; c >= 0; --c)
        for (int k = 0; k < count; ++k)
            winner[k] = scores[c * kBlock + k] >= lowest[k] ? static_cast<uint32_t>(c) : winner[k];
}

// Judges blocks of rows: the labels and weights of one block, for any number of scores.
class Judge {
  public:
    Judge(const ScoredRows& rows, bool with_log_loss)
        : rows_(rows), with_log_loss_(with_log_loss), labels_{rows.labels, 0, rows.classes} {}

    void start(int64_t first, int count) {
        first_ = first;
        count_ = count;
        load_codes(labels_, first, count, label_);
    }

    void add(const double* scores, ScanLoss& loss) const {
        double highest[kBlock];
        uint32_t winner[kBlock];
        first_highest(scores, count_, rows_.classes, highest, winner);
        for (int k = 0; k < count_; ++k) loss.error += winner[k] == label_[k] ? 0.0 : weight(k);
        if (!with_log_loss_) return;
        for (int k = 0; k < count_; ++k) {
            double sum = 0;
            for (int c = 0; c < rows_.classes; ++c)
                sum += std::exp(scores[c * kBlock + k] - highest[k]);
            const double own = scores[int64_t{label_[k]} * kBlock + k];
            loss.log_loss += weight(k) * (std::log(sum) + (highest[k] - own));
        }
    }

  private:
    double weight(int k) const { return rows_.weights ? rows_.weights[first_ + k] : 1.0; }

    const ScoredRows& rows_;
    bool with_log_loss_;
    CodedColumn labels_;
    int64_t first_ = 0;
    int count_ = 0;
    uint32_t label_[kBlock];
};

void load_scores(const double* scores, int64_t rows, int64_t first, int count, int classes,
                 double* out) {
    for (int c = 0; c < classes; ++c)
        std::copy_n(scores + c * rows + first, count, out + c * kBlock);
}

// One block of rows, with room for what is computed on the way.
class Scanner {
  public:
    Scanner(const std::vector<Reader>& readers, const std::vector<int64_t>& judged,
            const ScoredRows& rows, bool with_log_loss)
        : readers_(readers),
          judged_(judged),
          rows_(rows),
          judge_(rows, with_log_loss),
          size_(static_cast<size_t>(rows.classes) * kBlock),
          base_(size_),
          total_(size_) {}

    void add_one(int64_t first, int count, ScanLoss* losses) {
        start(first, count);
        for (size_t i = 0; i < judged_.size(); ++i) {
            std::copy(base_.begin(), base_.end(), total_.begin());
            readers_[judged_[i]].add(first, count, total_.data());
            judge_.add(total_.data(), losses[i]);
        }
    }

    // Sums of the columns before and after each one are added, rather than the column subtracted
    // from the sum of all: the others' digits would be lost where one column says very much.
    void leave_one_out(int64_t first, int count, ScanLoss* losses) {
        start(first, count);
        const size_t width = readers_.size();
        after_.assign((width + 1) * size_, 0.0);
        for (size_t j = width; j-- > 0;) {
            std::copy_n(after_.begin() + (j + 1) * size_, size_, after_.begin() + j * size_);
            readers_[j].add(first, count, after_.data() + j * size_);
        }
        size_t i = 0;  // judged_ is ascending
        for (size_t j = 0; j < width && i < judged_.size(); ++j) {
            if (judged_[i] == static_cast<int64_t>(j)) {
                const double* rest = after_.data() + (j + 1) * size_;
                for (size_t k = 0; k < size_; ++k) total_[k] = base_[k] + rest[k];
                judge_.add(total_.data(), losses[i++]);
            }
            readers_[j].add(first, count, base_.data());
        }
    }

  private:
    void start(int64_t first, int count) {
        poll();
        load_scores(rows_.scores, rows_.rows, first, count, rows_.classes, base_.data());
        judge_.start(first, count);
    }

    const std::vector<Reader>& readers_;
    const std::vector<int64_t>& judged_;
    const ScoredRows& rows_;
    Judge judge_;
    size_t size_;
    std::vector<double> base_, total_, after_;
};

}  // namespace

std::vector<ScanLoss> scan(const std::vector<ColumnEvidence>& columns,
                           const std::vector<int64_t>& judged, const ScoredRows& rows,
                           bool leave_one_out, bool with_log_loss) {
    const std::vector<Reader> readers = readers_of(columns, rows.classes);
    const int64_t tasks = (rows.rows + kTaskRows - 1) / kTaskRows;
    std::vector<std::vector<ScanLoss>> found(tasks);
    parallel_for(tasks, rows.rows * static_cast<int64_t>(columns.size()), [&](int64_t task) {
        Scanner scanner(readers, judged, rows, with_log_loss);
        found[task].resize(judged.size());
        const int64_t end = std::min(rows.rows, (task + 1) * kTaskRows);
        for (int64_t first = task * kTaskRows; first < end; first += kBlock) {
            const int count = static_cast<int>(std::min<int64_t>(kBlock, end - first));
            if (leave_one_out)
                scanner.leave_one_out(first, count, found[task].data());
            else
                scanner.add_one(first, count, found[task].data());
        }
    });
    std::vector<ScanLoss> out(judged.size());
    for (const std::vector<ScanLoss>& part : found)
        for (size_t i = 0; i < out.size(); ++i) {
            out[i].error += part[i].error;
            out[i].log_loss += part[i].log_loss;
        }
    return out;
}

void add_evidence(const std::vector<ColumnEvidence>& columns, int64_t rows, int classes,
                  double* scores) {
    const std::vector<Reader> readers = readers_of(columns, classes);
    const int64_t tasks = (rows + kTaskRows - 1) / kTaskRows;
    parallel_for(tasks, rows * static_cast<int64_t>(columns.size()), [&](int64_t task) {
        std::vector<double> block(static_cast<size_t>(classes) * kBlock);
        const int64_t end = std::min(rows, (task + 1) * kTaskRows);
        for (int64_t first = task * kTaskRows; first < end; first += kBlock) {
            const int count = static_cast<int>(std::min<int64_t>(kBlock, end - first));
            load_scores(scores, rows, first, count, classes, block.data());
            for (const Reader& reader : readers) reader.add(first, count, block.data());
            for (int c = 0; c < classes; ++c)
                std::copy_n(block.data() + c * kBlock, count, scores + c * rows + first);
        }
    });
}

}  // namespace lessnaive
