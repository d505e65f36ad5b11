/* The launch ABI of Kernel Ladder, between the runner and a rung.
 *
 * A rung is a shared library that computes a task. The task defines the launch struct in the generated
 * kl_task.h. Every pointer in the struct points to device memory, and every buffer is dense and row-major.
 * A buffer that must not be read contains 0xff bytes, which are NaN in every floating-point type.
 *
 * A rung must define kl_launch. The other functions are optional:
 *
 *   kl_launch           enqueues the work on the stream and returns without waiting. A rung links its own
 *                       copy of the CUDA runtime, and the runner cannot see its last error: end with
 *                       `return cudaGetLastError();`.
 *   kl_workspace_bytes  returns the size of the scratch memory that the launch needs, passed in workspaceBytes.
 *                       The memory's contents are undefined at first. With `workspace: zero` in the task, the
 *                       memory is zeroed before each launch. The pointer is null if the size is 0.
 *   kl_prepare          sets up memory, streams, handles and tensor maps that launches share. Runs once, before
 *                       buffers contain data, and is not timed. Returns a cudaError_t.
 *   kl_release          frees the resources of kl_prepare after the last launch. Returns nothing.
 *   kl_unsupported      returns null, or the reason the rung cannot run this case on this GPU, as a phrase that
 *                       completes "unsupported: ...". sm is 90 for compute capability 9.0. */
#ifndef KERNEL_LADDER_H
#define KERNEL_LADDER_H

#include "kl_abi.h"
#include "kl_task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* kl_abi_version is defined in the header, so a rung reports the version of the header it was built with. */
KL_EXPORT __attribute__((weak)) int kl_abi_version(void) { return KL_ABI_VERSION; }

#ifdef __cplusplus
}
#endif

#endif
