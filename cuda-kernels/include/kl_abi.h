/* What every task's launch ABI has in common. kernel_ladder.h, which rungs include, adds what one task
 * launches: the struct of kl_task.h, generated from the task. */
#ifndef KL_ABI_H
#define KL_ABI_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#define KL_ABI_VERSION 1

/* No size is larger than this, so indices along one dimension (and a tile beyond it) fit in an
 * int. Products of two dimensions do not: form element offsets in 64 bits. */
#define KL_MAX_DIMENSION (1 << 28)

#define KL_EXPORT __attribute__((visibility("default")))

/* Element types, for a task that leaves the type of a buffer open. */
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
