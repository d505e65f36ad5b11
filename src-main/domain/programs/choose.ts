/** Chooses which kernels of a program to profile, based on the times of a preview run. */
import type { ProfiledKernel } from '../session/session'
import { withoutCasts, parseKernelName } from './kernel-names'

export interface PreviewLaunch extends Pick<ProfiledKernel, 'name' | 'grid' | 'block'> {
  range: string | null
  ms: number
}

/** All launches of kernels that have the same name and shape. */
export interface PreviewKernel extends Pick<ProfiledKernel, 'name' | 'grid' | 'block'> {
  key: string
  /** NVTX range of the kernel's first launch. */
  range: string | null
  launchesMs: number[]
  totalMs: number
}

/**
 * Returns a key for the kernel's name, grid and block. Removes casts before template arguments,
 * because ncu's table contains casts and ncu's report does not.
 */
export const kernelKey = ({
  name,
  grid,
  block,
}: Pick<PreviewLaunch, 'name' | 'grid' | 'block'>): string =>
  JSON.stringify([withoutCasts(name), grid, block])

/** Returns the kernels in the order of their first launches. */
export function previewKernels(launches: readonly PreviewLaunch[]): PreviewKernel[] {
  const kernels = new Map<string, PreviewKernel>()
  for (const { name, grid, block, range, ms } of launches) {
    const key = kernelKey({ name, grid, block })
    const kernel = kernels.get(key) ?? {
      ...{ key, name, grid, block, range },
      ...{ launchesMs: [], totalMs: 0 },
    }
    kernels.set(key, kernel)
    kernel.launchesMs.push(ms)
    kernel.totalMs += ms
  }
  return [...kernels.values()]
}

/**
 * Fraction of the GPU time that the chosen kernels must cover. Most programs spend nearly all of
 * their time in a few kernels.
 */
const worthShare = 0.95
const most = 20

/** Returns the kernels that took 95 % of the GPU time, at most 20, hottest first. */
export function hottest(kernels: readonly PreviewKernel[]): PreviewKernel[] {
  const total = kernels.reduce((sum, { totalMs }) => sum + totalMs, 0)
  const chosen: PreviewKernel[] = []
  let covered = 0
  for (const kernel of [...kernels].sort((a, b) => b.totalMs - a.totalMs)) {
    if (chosen.length === most || (chosen.length > 0 && covered >= worthShare * total)) break
    chosen.push(kernel)
    covered += kernel.totalMs
  }
  return chosen
}

/** Returns the function name for ncu's kernel filter. */
export const functionOf = (name: string): string => parseKernelName(name).base

interface Window {
  /** Number of matching launches to skip before this launch. */
  skip: number
  count: number
}

/**
 * Returns the shortest sequence of launches that contains every requested kernel, or null if no
 * sequence does. For a program with a loop, the sequence is one iteration.
 */
export function shortestWindow(
  launches: readonly PreviewLaunch[],
  wanted: ReadonlySet<string>,
): Window | null {
  const keys = launches.map(kernelKey)
  const inside = new Map<string, number>()
  let best: Window | null = null
  let first = 0
  for (const [last, key] of keys.entries()) {
    if (wanted.has(key)) inside.set(key, (inside.get(key) ?? 0) + 1)
    while (inside.size === wanted.size && first <= last) {
      const count = last - first + 1
      if (best === null || count < best.count) best = { skip: first, count }
      const gone = keys[first]!
      first += 1
      const left = inside.get(gone)
      if (left === undefined) continue
      if (left > 1) inside.set(gone, left - 1)
      else inside.delete(gone)
    }
  }
  return best
}
