// Counts the pairs exactly, one at a time.
#include "kl_reference.h"

extern "C" void kl_reference(const KlReference* p) {
  for (int bin = 0; bin < 64 * 64; ++bin) p->counts[bin] = 0;
  for (long long i = 0; i < p->N; ++i) p->counts[p->a[i] * 64 + p->b[i]] += 1;
}
