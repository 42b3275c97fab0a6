// Runs of parameters that must not fall, or not rise, from one to the next.
//
// Neighbours that are equal, and that their slopes push together, are tied: Newton's step moves
// them as one. What else a step would turn around is pooled, as in isotonic regression.
#pragma once

#include <cstdint>
#include <vector>

namespace lessnaive {

class Rises {
  public:
    // Parameters begin .. end - 1, times sign, must not fall. One that is alone must not be
    // negative.
    struct Run {
        int64_t begin, end;
        int sign;
    };
    // Whether a parameter moves by itself, with the one before it, or not at all.
    enum class Tie : uint8_t { none, to_last, to_zero };
    using Ties = std::vector<Tie>;

    explicit Rises(std::vector<Run> runs) : runs_(std::move(runs)) {}

    bool empty() const { return runs_.empty(); }
    // The ties of parameters that have this gradient; none if there are no runs.
    Ties held(const std::vector<double>& parameters, const std::vector<double>& gradient,
              const std::vector<double>& weights) const;
    // Ties what is equal and would be turned around by a step of any length. Returns whether there
    // was anything.
    bool tie_turned(const std::vector<double>& parameters, const std::vector<double>& step,
                    Ties& ties) const;
    // Moves parameters to the nearest ones that keep to the runs, and keeps ties as they are; the
    // weights multiply squares of distances.
    void project(const Ties& ties, const std::vector<double>& weights,
                 std::vector<double>& parameters) const;

  private:
    std::vector<Run> runs_;
};

// Parameters that are tied count as one: the place of each among those that are left, -1 if it
// does not move.
class Pools {
  public:
    Pools(const Rises::Ties& ties, int64_t parameters);

    int64_t size() const { return size_; }
    int64_t operator[](int64_t parameter) const { return places_[parameter]; }

  private:
    std::vector<int64_t> places_;
    int64_t size_ = 0;
};

}  // namespace lessnaive
