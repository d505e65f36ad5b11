/** Converts the simulation of one SM to the utilization, stalls and traffic of a launch. */
import type { LaunchPlan } from './launch-plan'
import type { LaunchSetting } from './launch-setting'
import { stallReasons, type Limiter, type StallReason } from './prediction'
import type { SmResult } from './sm-simulator'

interface Described {
  plan: LaunchPlan
  sm: SmResult
  cycles: number
  runCycles: number
  atomics: number
  /** Ratio of the SM's work to the simulated work. */
  scale: number
  setting: LaunchSetting
}

const subCores = 4

/**
 * Minimum utilization of the busiest unit for that unit to be the limiter. Below this utilization,
 * latency is the limiter.
 */
const busyEnough = 0.6

export function describe({ plan, sm, cycles, runCycles, atomics, scale, setting }: Described) {
  const { values } = setting
  const { clusterBlocks } = plan.shape
  // Factor that converts the counts of the simulated clusters to all clusters of the SM, per cycle
  // of the launch.
  const perCycle = scale / (runCycles * clusterBlocks)
  const ofPipe = (busy: number): number => (busy * perCycle) / subCores
  const { pipeBusy } = sm
  const utilization: Partial<Record<Limiter, number>> = {
    issue: (sm.issued * perCycle) / subCores,
    fma: ofPipe((pipeBusy.fma + pipeBusy.imad) / 2),
    alu: ofPipe(pipeBusy.alu),
    fp16: ofPipe(pipeBusy.fp16),
    fp64: ofPipe(pipeBusy.fp64),
    xu: ofPipe(pipeBusy.xu),
    tensor: ofPipe(pipeBusy.tensor),
    lsu: ofPipe(pipeBusy.lsu),
    l1: sm.l1Busy * perCycle,
    l2: Math.max(sm.l2Busy, sm.portBusy) * perCycle,
    dram: sm.dramBusy * perCycle,
    ...(atomics > 0 ? { atomics: Math.min(1, atomics / runCycles) } : {}),
  }
  const [busiest, most] = (Object.entries(utilization) as [Limiter, number][]).reduce((a, b) =>
    b[1] > a[1] ? b : a,
  )
  const stalls: Partial<Record<StallReason, number>> = {}
  for (const [index, reason] of stallReasons.entries()) {
    let sum = 0
    for (let at = index; at < sm.stalls.length; at += stallReasons.length) sum += sm.stalls[at]!
    if (sum > 0) stalls[reason] = sum / sm.issued
  }
  const stalled = Object.values(stalls).reduce((sum, each) => sum + each, 0)
  const limiter: Limiter =
    setting.overheadCycles > runCycles
      ? 'launch'
      : most >= busyEnough
        ? busiest
        : (stalls.barrier ?? 0) > 0.4 * stalled
          ? 'barrier'
          : 'latency'
  const clockMHz =
    values.clockMHz - (values.clockMHz - values.clockTensorMHz) * Math.min(1, utilization.tensor!)
  const traffic = (bytes: number): number => (bytes * scale * plan.sms) / clusterBlocks
  const warpCycles = sm.warpCycles * scale
  return {
    ...{ cycles, clockMHz, limiter, utilization, stalls },
    ms: cycles / clockMHz / 1000,
    achievedOccupancy: Math.min(
      1,
      warpCycles / clusterBlocks / runCycles / (setting.limits.threadsPerSm / 32),
    ),
    l1HitRate: sm.traffic.l1Sectors > 0 ? sm.traffic.l1Hits / sm.traffic.l1Sectors : null,
    l2HitRate: sm.traffic.l2Sectors > 0 ? sm.traffic.l2Hits / sm.traffic.l2Sectors : null,
    l2ReadBytes: traffic(sm.traffic.l2ReadBytes),
    l2WriteBytes: traffic(sm.traffic.l2WriteBytes),
    dramReadBytes: traffic(sm.traffic.dramReadBytes),
    dramWriteBytes: traffic(sm.traffic.dramWriteBytes),
    extrapolated: scale !== 1,
    instructions: instructionsOf(sm, scale * (plan.sms / clusterBlocks)),
  }
}

function instructionsOf({ executed, stalls, issued }: SmResult, scale: number) {
  let all = issued
  for (const each of stalls) all += each
  return Array.from(executed, (count, at) => {
    const own: Partial<Record<StallReason, number>> = {}
    let sum = count
    for (const [index, reason] of stallReasons.entries()) {
      const cycles = stalls[at * stallReasons.length + index]!
      if (cycles === 0) continue
      sum += cycles
      own[reason] = cycles / Math.max(1, count)
    }
    return { executed: count * scale, share: sum / Math.max(1, all), stalls: own }
  })
}
