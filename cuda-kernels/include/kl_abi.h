/* The part of the launch ABI that all tasks share. Rungs include kernel_ladder.h, which adds the
 * task's launch struct from the generated kl_task.h. */
#ifndef KL_ABI_H
#define KL_ABI_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#define KL_ABI_VERSION 1

/* The largest size of a dimension. Indices along one dimension (plus a tile) fit in an int. Products of two
 * dimensions do not fit, so compute element offsets in 64 bits. */
#define KL_MAX_DIMENSION (1 << 28)

#define KL_EXPORT __attribute__((visibility("default")))

/* Element types, for tasks whose buffer types are an option. */
enum KlDtype {
  KL_F32 = 0,
  KL_F16 = 1,
  KL_BF16 = 2,
  KL_F64 = 3,
  KL_E4M3 = 4,
  KL_E5M2 = 5,
  KL_I8 = 6,
  KL_I16 = 7,
  KL_I32 = 8,
  KL_I64 = 9,
  KL_U8 = 10,
  KL_U16 = 11,
  KL_U32 = 12,
  KL_U64 = 13
};

#endif
