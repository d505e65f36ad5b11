// The expected result, computed once per problem, in FP64 and in host memory.
#include "kl_reference.h"

extern "C" void kl_reference(const KlReference* p) {
  double sum = 0;
  for (long long i = 0; i < p->N; ++i) sum += p->x[i];
  p->sum[0] = sum;
}
