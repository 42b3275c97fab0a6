// Scores become probabilities: a block of rows of one label at a time.
#pragma once

namespace lessnaive {

// probabilities (count, pad) of rows with these scores (count, pad), zeros behind the last class;
// log_own (count) is the logarithm of the label's. Both arrays may be the same. Probabilities of
// less than about 1e-307 are 0.
void softmax_rows(const double* scores, int count, int classes, int pad, int label,
                  double* probabilities, double* log_own);

}  // namespace lessnaive
