// The expected result, computed once per problem, in FP64 and in host memory. kl_reference.h is generated from
// ladder.yaml: inputs in their own types, every output as double*.
#include "kl_reference.h"

#include <algorithm>
#include <cmath>

extern "C" void kl_reference(const KlReference* p) {
  for (long long row = 0; row < p->ROWS; ++row) {
    const float* x = p->x + row * p->COLS;
    double* y = p->y + row * p->COLS;
    const double largest = *std::max_element(x, x + p->COLS);
    double sum = 0;
    for (long long col = 0; col < p->COLS; ++col) sum += y[col] = std::exp(x[col] - largest);
    for (long long col = 0; col < p->COLS; ++col) y[col] /= sum;
    p->progress(double(row + 1) / double(p->ROWS));  // a long time without progress counts as a hang
  }
}
