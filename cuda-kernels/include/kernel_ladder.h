/* The launch ABI of Kernel Ladder: what the runner and a rung know of each other.
 *
 * A rung is a shared library that computes a task. The task says what its launch struct holds: kl_task.h
 * is generated from it. Every pointer in the struct is device memory, and every buffer is dense and
 * row-major. A buffer that must not be read holds 0xff bytes, which are NaN in every floating-point type.
 *
 * A rung defines kl_launch, and may define kl_workspace_bytes and kl_unsupported:
 *
 *   kl_launch           enqueues the work on the stream and returns without waiting. A rung links its own
 *                       copy of the CUDA runtime, whose last error the runner cannot see: end with
 *                       `return cudaGetLastError();`.
 *   kl_workspace_bytes  scratch memory that the launch needs; its content is undefined. What it answers
 *                       comes back in workspaceBytes; workspace is null where that is 0.
 *   kl_unsupported      why the rung cannot run this case on this GPU (sm is 90 for compute capability
 *                       9.0), in words that finish "unsupported: ...", or null when it can. */
#ifndef KERNEL_LADDER_H
#define KERNEL_LADDER_H

#include "kl_abi.h"
#include "kl_task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Defined here, so that a rung carries the version of the header it was built against. */
KL_EXPORT __attribute__((weak)) int kl_abi_version(void) { return KL_ABI_VERSION; }

#ifdef __cplusplus
}
#endif

#endif
