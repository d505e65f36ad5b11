// The expected result, computed once per problem in host memory.
#include "kl_reference.h"

extern "C" void kl_reference(const KlReference* p) {
  for (long long row = 0; row < p->ROWS; ++row) {
    for (long long col = 0; col < p->COLS; ++col) p->y[col * p->ROWS + row] = p->x[row * p->COLS + col];
    p->progress(double(row + 1) / double(p->ROWS));  // a long time without progress counts as a hang
  }
}
