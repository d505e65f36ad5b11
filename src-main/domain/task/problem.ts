/** A GEMM problem: C = alpha·A·B + beta·C, row-major, A is m×k, B is k×n, C is m×n. */
import { z } from 'zod'

export const dtypes = ['f32', 'f16', 'bf16'] as const
export const Dtype = z.enum(dtypes)
export type Dtype = z.infer<typeof Dtype>

/** KL_MAX_DIMENSION of the launch ABI: an index along one extent, and a tile beyond it, fits in an int. */
export const maxExtent = 2 ** 28
const extent = z.number().int().min(1).max(maxExtent)

export const Problem = z.object({
  m: extent,
  n: extent,
  k: extent,
  alpha: z.number(),
  beta: z.number(),
  dtype: Dtype,
})
export type Problem = z.infer<typeof Problem>

/** Floating-point operations of one launch: a multiply and an add for each of the m·n·k products. */
export const flops = (p: Pick<Problem, 'm' | 'n' | 'k'>): number => 2 * p.m * p.n * p.k

/** GFLOP/s of a launch that took `ms` milliseconds. */
export const gflops = (p: Pick<Problem, 'm' | 'n' | 'k'>, ms: number): number =>
  flops(p) / (ms * 1e6)

/** `4096³` for a cube, `1023×777×1111` otherwise. */
export const problemLabel = (p: Pick<Problem, 'm' | 'n' | 'k'>): string =>
  p.m === p.n && p.n === p.k ? `${p.m}³` : `${p.m}×${p.n}×${p.k}`
