/* The launch ABI of Kernel Ladder, between the runner and a rung.
 *
 * A rung is a shared library that computes a task. The task defines the launch struct: kl_task.h is
 * generated from it. Every pointer in the struct is to device memory, and every buffer is dense and
 * row-major. A buffer that must not be read contains 0xff bytes, which are NaN in every floating-point type.
 *
 * A rung defines kl_launch, and may define the others:
 *
 *   kl_launch           enqueues the work on the stream and returns without waiting. A rung links its own
 *                       copy of the CUDA runtime, whose last error the runner cannot see: end with
 *                       `return cudaGetLastError();`.
 *   kl_workspace_bytes  size of the scratch memory that the launch needs, passed back in workspaceBytes. Its
 *                       contents are undefined at first unless the task has `workspace: zero`, which zeroes it before
 *                       each launch; workspace is null if the size is 0.
 *   kl_prepare          sets up what launches share: memory, streams, handles, tensor maps. Called once and not
 *                       timed; buffers hold no data yet. Returns a cudaError_t.
 *   kl_release          ends that after the last launch. Returns nothing.
 *   kl_unsupported      why the rung cannot run this case on this GPU (sm is 90 for compute capability
 *                       9.0), as a phrase that completes "unsupported: ...", or null if it can. */
#ifndef KERNEL_LADDER_H
#define KERNEL_LADDER_H

#include "kl_abi.h"
#include "kl_task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Defined here, so that a rung records the version of the header it was built with. */
KL_EXPORT __attribute__((weak)) int kl_abi_version(void) { return KL_ABI_VERSION; }

#ifdef __cplusplus
}
#endif

#endif
