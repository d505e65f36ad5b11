/** Summarizes a predicted deep profile over a rung's launches. */
import type { DeepKernel, DeepProfile } from '../session/deep'
import type { Limiter, StallReason } from '../session/prediction-words'

const launchesOf = (profile: DeepProfile | null) =>
  (profile?.kernels ?? []).flatMap(({ predicted }) => predicted ?? [])

/** Returns the utilization of each unit, weighted by launch time, busiest first. */
export function utilizationsOf(profile: DeepProfile | null): { unit: Limiter; value: number }[] {
  const launches = launchesOf(profile)
  const ms = launches.reduce((sum, launch) => sum + launch.ms, 0)
  const busy = new Map<Limiter, number>()
  for (const launch of launches)
    for (const [unit, value] of Object.entries(launch.utilization) as [Limiter, number][])
      busy.set(unit, (busy.get(unit) ?? 0) + (value * launch.ms) / ms)
  return [...busy]
    .map(([unit, value]) => ({ unit, value }))
    .filter(({ value }) => value >= 0.005)
    .toSorted((a, b) => b.value - a.value)
}

/** Returns the share of stalled warp cycles by reason, largest first. */
export function stallHistogramOf(
  profile: DeepProfile | null,
): { reason: StallReason; value: number }[] {
  const launches = launchesOf(profile)
  const sum = new Map<StallReason, number>()
  for (const { stalls, ms } of launches)
    for (const [reason, warps] of Object.entries(stalls) as [StallReason, number][])
      sum.set(reason, (sum.get(reason) ?? 0) + warps * ms)
  const all = [...sum.values()].reduce((total, one) => total + one, 0)
  return [...sum]
    .map(([reason, warps]) => ({ reason, value: warps / all }))
    .filter(({ value }) => value >= 0.005)
    .toSorted((a, b) => b.value - a.value)
}

interface CycleLine {
  file: string
  line: number
  text: string | null
  /** Share of the rung's total warp cycles. */
  share: number
}

/**
 * Returns the share of cycles by source line, largest first. Inlined code counts only toward its
 * own source line.
 */
export function cycleLines({ kernels }: DeepProfile): CycleLine[] {
  const all = kernels.reduce((sum, { predicted }) => sum + (predicted?.ms ?? 0), 0)
  const lines = new Map<string, CycleLine>()
  for (const kernel of kernels) {
    const weight = (kernel.predicted?.ms ?? 0) / all
    for (const { file, line, predicted } of kernel.instructions) {
      if (file === null || line === null || !predicted?.share) continue
      const key = `${file}:${line}`
      const found = lines.get(key) ?? { file, line, text: textOf(kernel, file, line), share: 0 }
      found.share += predicted.share * weight
      lines.set(key, found)
    }
  }
  return [...lines.values()].toSorted((a, b) => b.share - a.share)
}

const textOf = ({ lines }: DeepKernel, file: string, line: number): string | null =>
  lines.find((one) => one.file === file && one.line === line)?.text ?? null
