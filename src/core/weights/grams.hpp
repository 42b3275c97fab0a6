// Sums over rows of products of evidence for one class.
#pragma once

#include <cstdint>

#include "weights/evidence.hpp"

namespace lessnaive {

// grams (classes, places, places), by the columns that say something: sum_i s_i e_ic e_ic'. Returns
// sum_i s_i max_c |e_ic|^2.
double gram_matrices(const Evidence& evidence, double* grams);

// The same where the matrices would have no room: out = G v for weights v (classes, columns).
void gram_products(const Evidence& evidence, const double* v, double* out);

// sum_i s_i max_c |e_ic|^2, or the sum over the classes instead of the largest.
double squared_norms(const Evidence& evidence, bool summed);

// Second derivatives of the log loss by weights of one class and of columns near each other, at
// probabilities (rows, pad). Columns that say something are taken `width` at a time, and
// out (groups, classes, width, width) = sum_i s_i p_ic (1 - p_ic) e_ic e_ic', with zeros where the
// last group has fewer. If weights are tied, of all classes together: out (groups, width, width).
void class_curvatures(const Evidence& evidence, const double* probabilities, bool tied,
                      int64_t width, double* out);

}  // namespace lessnaive
