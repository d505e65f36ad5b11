#include "kl_reference.h"

#include <cmath>

extern "C" void kl_reference(const KlReference* p) {
  for (long long row = 0; row < p->ROWS; ++row) {
    double sum = 0, scale = 0;
    for (long long i = row * p->COLS; i < (row + 1) * p->COLS; ++i) {
      sum += p->x[i];
      scale += std::fabs(p->x[i]);
    }
    p->y[row] = sum;
    p->y_scale[row] = scale;
  }
}
