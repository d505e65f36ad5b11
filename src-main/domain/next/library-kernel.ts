/** Recognizes library kernels, which the user cannot change. */
import { climbs, type RungResult, type Session } from '../session/session'

/**
 * Prefixes of library kernel names: cuBLAS and cuBLASLt (nvjet, xmma, architecture names), cuDNN,
 * NCCL, PyTorch and CUB. Sources: the reports in test/captures and the recordings of programs.
 */
const libraries =
  /^(void )?(nvjet_|sm\d+_xmma_|(volta|turing|ampere|hopper)_|cudnn|gemv|\w*(::)?splitKreduce|ncclDev|ncclKernel|at::native|at_cuda_detail|cub::|vectorized_layer_norm|(vectorized_|unrolled_)?elementwise_kernel|reduce_kernel)/

/**
 * Returns whether a kernel in a program or an import comes from a library. Returns false for a
 * ladder's rungs.
 */
export const isLibraryKernel = (
  session: Pick<Session, 'program' | 'target'>,
  { title, profile }: Pick<RungResult, 'title' | 'profile'>,
): boolean =>
  !climbs(session) &&
  [title, ...(profile?.kernels ?? []).map(({ name }) => name)].some((name) => libraries.test(name))
