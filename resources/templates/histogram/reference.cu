// What the result should be: computed once for each problem, over host memory. A check that is exact takes the
// buffer's own type, unsigned int, where others take double.
#include "kl_reference.h"

extern "C" void kl_reference(const KlReference* p) {
  for (int bin = 0; bin < 256; ++bin) p->bins[bin] = p->bins_in[bin];
  for (long long i = 0; i < p->N; ++i) ++p->bins[p->data[i]];
}
