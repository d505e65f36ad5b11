// Mean, variance and result of each row in FP64.
#include "kl_reference.h"

#include <math.h>

extern "C" void kl_reference(const KlReference* p) {
  for (long long row = 0; row < p->ROWS; ++row) {
    const float* x = p->x + row * p->COLS;
    double mean = 0, variance = 0;
    for (long long col = 0; col < p->COLS; ++col) mean += x[col];
    mean /= p->COLS;
    for (long long col = 0; col < p->COLS; ++col) variance += (x[col] - mean) * (x[col] - mean);
    const double scale = 1 / sqrt(variance / p->COLS + p->epsilon);
    for (long long col = 0; col < p->COLS; ++col)
      p->y[row * p->COLS + col] = (x[col] - mean) * scale * p->gamma[col] + p->beta[col];
    p->rstd[row] = scale;
  }
}
