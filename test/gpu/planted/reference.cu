#include "kl_reference.h"
extern "C" void kl_reference(const KlReference* p) {
  for (long long i = 0; i < p->M; ++i) p->y[i] = 2.0 * p->x[i];
}
