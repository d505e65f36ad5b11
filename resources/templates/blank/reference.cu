// The expected result, computed once per problem. kl_reference.h is generated from ladder.yaml: sizes, scalars,
// inputs in their own types, and every output as double*.
#include "kl_reference.h"

extern "C" void kl_reference(const KlReference* p) {
  for (long long i = 0; i < p->N; ++i) p->y[i] = double(p->a) * p->x[i];
}
