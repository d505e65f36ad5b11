// The expected result, computed once per problem in host memory. An exact check uses the buffer's own type,
// unsigned int; other checks use double.
#include "kl_reference.h"

extern "C" void kl_reference(const KlReference* p) {
  for (int bin = 0; bin < 256; ++bin) p->bins[bin] = p->bins_in[bin];
  for (long long i = 0; i < p->N; ++i) ++p->bins[p->data[i]];
}
