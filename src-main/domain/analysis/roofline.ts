/**
 * Computes the hierarchical roofline of a session. The chart plots each rung's throughput against
 * its operations per byte of L1, L2, and device memory traffic. The chart also shows the GPU's
 * roofs. Every figure includes its origin.
 *
 * Operations are the FP32 operations counted by ncu, if available. These counts exclude the tensor
 * pipe and are missing below the standard level. For the tensor pipe and below the standard level,
 * the task's operation count is used instead. Each point includes the origin of its count. An
 * imported session has no problem, and its time was measured under ncu.
 */
import { ceilingsOf, memoryLevels, type MemoryLevel, type SessionCeilings } from '../gpu/ceilings'
import { message, type Statement } from '../messages/message'
import type { MetricValue } from '../metrics/metrics'
import { shareOfRoof } from './lead-figure'
import { flops, isTensor } from '../task/problem'
import { resultOf, type Task } from '../task/task'
import { type NcuMetrics, type RungResult, type Session } from '../session/session'

/**
 * Origin of an operation count. `counted` means ncu counted the operations. `problem` uses the
 * operation count of the task, because no hardware counter was collected. `tensor` uses the same
 * count, because the tensor pipe executed the operations.
 */
export type OperationBasis = 'counted' | 'problem' | 'tensor'

/** Returns an operation count's origin as a sentence. */
export function basisSaid(basis: OperationBasis, task: Task | null): Statement {
  if (basis === 'counted') return message('roofline.counted')
  const flops = String(task?.work.flops ?? '').replaceAll(/\s*\*\s*/g, '·')
  const key = basis === 'problem' ? 'roofline.ofProblem' : 'roofline.ofProblemTensor'
  return message(key, { what: resultOf(task), flops })
}

/**
 * Minimum percentage of an SM's active cycles for the tensor pipe to be considered in use. Kernels
 * without tensor instructions show up to 0.04% on an H200 (test/captures/ncu, `standard-mix`).
 */
const tensorWorks = 1

interface RooflinePoint {
  rung: string
  title: string
  level: MemoryLevel
  /** Operations per launch, and the origin of the count. */
  operations: number
  basis: OperationBasis
  /** Operations per byte of the level's traffic. */
  intensity: MetricValue
  throughput: MetricValue
  /**
   * The lower of the two roofs at the point's intensity, in GFLOP/s. Null if either roof is
   * unavailable.
   */
  roofGflops: number | null
  /** The kind of the lower roof. */
  bound: 'compute' | 'memory' | null
}

/**
 * Returns the point's percentage of its roof, or the reason why the roof does not limit the point.
 */
export const shareOfPoint = ({
  throughput,
  roofGflops,
  bound,
}: RooflinePoint): ReturnType<typeof shareOfRoof> =>
  shareOfRoof(throughput.value, roofGflops, bound)

interface Roofline {
  /** The arithmetic unit that this session's data type uses, which determines the roof. */
  arithmetic: 'fp32' | 'tensor'
  ceilings: SessionCeilings
  /**
   * Points in ladder order. A chart connects the points with a line. Rungs without a point are
   * omitted.
   */
  paths: Record<MemoryLevel, RooflinePoint[]>
  /** Rungs that have no point at a level, and the reason. */
  missing: { rung: string; level: MemoryLevel; reason: Statement }[]
}

/** Registry ids of the metrics for each level's traffic in bytes. */
export const trafficMetric: Record<MemoryLevel, string> = {
  l1: 'l1Bytes',
  l2: 'l2Bytes',
  dram: 'dramBytes',
}

/** The reason why a value is missing. */
interface Gap {
  reason: Statement
}

const gap = (reason: Statement): Gap => ({ reason })

interface Work {
  operations: number
  basis: OperationBasis
  throughput: MetricValue
}

const counted = (metrics: NcuMetrics | undefined, name: string): number | null => {
  const value = metrics?.[name]?.value
  return typeof value === 'number' ? value : null
}

/**
 * Returns the work of a rung in a session with an unknown task. The operations were counted by ncu,
 * and their rate is relative to the time under ncu.
 */
function importedWork({ metrics, ncuMetrics, profiledTime }: RungResult): Work | Gap {
  const executed = (op: string): number | null =>
    metrics[`${op}Instructions`]?.value ??
    counted(ncuMetrics, `smsp__sass_thread_inst_executed_op_${op}_pred_on.sum`)
  const [ffma, fadd, fmul] = [executed('ffma'), executed('fadd'), executed('fmul')]
  if (ffma === null || fadd === null || fmul === null) return gap(message('roofline.noOperations'))
  const ns = counted(ncuMetrics, 'gpu__time_duration.sum') ?? (profiledTime?.medianMs ?? 0) * 1e6
  if (ns <= 0) return gap(message('roofline.noDuration'))
  const operations = 2 * ffma + fadd + fmul
  if (operations === 0) return gap(message('roofline.noFp32'))
  return {
    operations,
    basis: 'counted',
    throughput: { value: operations / ns, unit: 'GFLOP/s', evidence: 'derived' },
  }
}

/**
 * Returns whether the tensor pipe executes the task's operations. Returns false if there are no
 * tensor counters. If the FP32 pipe executed all operations of the task, a busy tensor pipe did
 * other work.
 */
export function worksOnTensor({ problem, ladder }: Session, rung: RungResult): boolean {
  const counted = rung.metrics['fp32Operations']?.value ?? null
  const ofTask = problem && flops(ladder.task, { ...problem, flags: rung.flags })
  const isAll = counted !== null && ofTask !== null && counted >= ofTask
  return !isAll && (rung.metrics['tensorUtilization']?.value ?? 0) >= tensorWorks
}

function operationsOf(session: Session, rung: RungResult): Omit<Work, 'throughput'> | Gap {
  const counted = rung.metrics['fp32Operations']?.value ?? null
  if (counted !== null && !worksOnTensor(session, rung))
    return { operations: counted, basis: 'counted' }
  const { problem, ladder } = session
  const ofTask = problem && flops(ladder.task, { ...problem, flags: rung.flags })
  if (ofTask === null) return gap(message('roofline.noOperationsOfTask'))
  return { operations: ofTask, basis: counted === null ? 'problem' : 'tensor' }
}

function workOf(session: Session, rung: RungResult): Work | Gap {
  if (!session.problem) return importedWork(rung)
  if (!rung.timing) return gap(rung.reason ?? message('roofline.noTime'))
  const work = operationsOf(session, rung)
  if ('reason' in work) return work
  return {
    ...work,
    throughput: {
      value: work.operations / (rung.timing.medianMs * 1e6),
      unit: 'GFLOP/s',
      evidence: 'derived',
    },
  }
}

/**
 * Returns operations per byte. The value is derived, because it is a count divided by a counter.
 */
function intensityAt(rung: RungResult, level: MemoryLevel, operations: number): number | Gap {
  const metric = { metric: trafficMetric[level] }
  const traffic = rung.metrics[metric.metric]
  if (!traffic) return gap(message('roofline.notCollected', { metric }))
  if (traffic.value === null)
    return gap(traffic.reason ?? message('roofline.notAvailable', { metric }))
  return traffic.value === 0 ? gap(message('roofline.noByte')) : operations / traffic.value
}

export function roofline(session: Session): Roofline {
  const ceilings = ceilingsOf(session)
  const { problem, ladder } = session
  const arithmetic = problem && isTensor(ladder.task, problem) ? 'tensor' : 'fp32'
  const peak = ceilings.compute[arithmetic].value.value
  const paths: Roofline['paths'] = { l1: [], l2: [], dram: [] }
  const missing: Roofline['missing'] = []
  for (const rung of session.rungs) {
    const work = workOf(session, rung)
    for (const level of memoryLevels) {
      if ('reason' in work) {
        missing.push({ rung: rung.id, level, reason: work.reason })
        continue
      }
      const intensity = intensityAt(rung, level, work.operations)
      if (typeof intensity !== 'number') {
        missing.push({ rung: rung.id, level, reason: intensity.reason })
        continue
      }
      const bandwidth = ceilings.memory[level].value.value
      const slope = bandwidth === null ? null : bandwidth * intensity
      const roofGflops = peak === null || slope === null ? null : Math.min(peak, slope)
      paths[level].push({
        rung: rung.id,
        title: rung.title,
        level,
        operations: work.operations,
        basis: work.basis,
        intensity: { value: intensity, unit: 'FLOP/byte', evidence: 'derived' },
        throughput: work.throughput,
        roofGflops,
        bound: roofGflops === null ? null : slope! < peak! ? 'memory' : 'compute',
      })
    }
  }
  return { arithmetic, ceilings, paths, missing }
}

/**
 * Returns the intensity in operations per byte at which a memory roof meets the arithmetic roof.
 * Returns null unless both roofs are known.
 */
export function ridge(
  { ceilings, arithmetic }: Pick<Roofline, 'ceilings' | 'arithmetic'>,
  level: MemoryLevel,
): number | null {
  const peak = ceilings.compute[arithmetic].value.value
  const bandwidth = ceilings.memory[level].value.value
  return peak === null || bandwidth === null ? null : peak / bandwidth
}

/** Returns whether any rung can be drawn. Logarithmic axes cannot show zero. */
export const hasPlaces = ({ paths }: Pick<Roofline, 'paths'>): boolean =>
  Object.values(paths).some((path) =>
    path.some(
      ({ intensity, throughput }) => (intensity.value ?? 0) > 0 && (throughput.value ?? 0) > 0,
    ),
  )
