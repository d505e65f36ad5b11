/**
 * Determines what limits a rung. The result is a bottleneck class from documented thresholds, with
 * every counter used to choose the class. If data is missing, the class is `unknown` and the
 * missing counters are listed. All profiling levels are supported.
 *
 * The first matching rule applies:
 * 1. tail: because of the last wave, more than a quarter of the GPU's block-slot time is idle.
 * 2. The unit closest to its limit, if any unit is busy for 60% or more. At or above its threshold,
 * the unit limits the rung. Below its threshold, the unit is only the strongest of several limits.
 * Warps that mostly wait in a unit's queue confirm that the unit is the limit.
 * 3. lsu-mio, l1-bandwidth: no unit is near its limit, and warps mostly wait in the queues in front
 * of shared or global memory.
 * 4. latency: every unit is known and below 60%.
 *
 * `also` lists classes that were nearly chosen. A small counter change therefore only reorders the
 * classes.
 */
import { shareOfRoof } from './lead-figure'
import { z } from 'zod'
import { ceilingsOf } from '../gpu/ceilings'
import { metricDefinition } from '../metrics/metrics'
import type { RungResult, Session } from '../session/session'
import { units } from '../metrics/units'
import { isEmulated, isPredicted } from '../targets/targets'
import { isTensor } from '../task/problem'
import { leadOf } from './lead-figure'
import { worksOnTensor } from './roofline'

export const bottleneckClasses = [
  'tail',
  'tensor',
  'fma-issue',
  'lsu-mio',
  'l1-bandwidth',
  'l2-bandwidth',
  'dram-bandwidth',
  'latency',
  'unknown',
] as const
export type BottleneckClass = (typeof bottleneckClasses)[number]

/** Thresholds in percent. The tail threshold is a fraction instead of a percentage. */
export const bottleneckThresholds = {
  /**
   * Threshold for memory units and issue slots. Source: ncu's rule SOLBottleneck (“greater than
   * 80.0%”).
   */
  unit: 80,
  /**
   * Threshold for arithmetic pipes. cuBLAS keeps the FP32 pipe of an H200 79% busy at size 4096.
   */
  pipe: 70,
  /**
   * Latency is the limit if the utilization of every unit is below this threshold. Source: ncu's
   * rule SOLBottleneck (“below 60.0% … latency”).
   */
  latency: 60,
  /** Threshold for stalls on one kind of queue, as a percentage of all warp states. */
  stallShare: 40,
  /** Minimum fraction of block-slot time that the grid uses over its waves, from 0 to 1. */
  tailEfficiency: 0.75,
} as const

export const Derivation = z.discriminatedUnion('kind', [
  /** DRAM traffic per measured time, relative to the memory bandwidth `ceilingGBs`. */
  z.object({ kind: z.literal('dram-traffic'), ceilingGBs: z.number() }),
  /**
   * Fraction of block-slot time that the grid uses over its waves, from 0 to 1. Assumes that all
   * blocks take equally long.
   */
  z.object({ kind: z.literal('tail'), efficiency: z.number(), wholeWaves: z.number() }),
  /** Warps that stall for the reasons in `metrics`, as a percentage of all warp states. */
  z.object({ kind: z.literal('stall-share'), metrics: z.array(z.string()).readonly() }),
])
export type Derivation = z.infer<typeof Derivation>

export const BottleneckEvidence = z.object({
  /** Id of a registry metric or a derived figure. `how` describes the derivation. */
  id: z.string(),
  label: z.string(),
  value: z.number(),
  unit: z.enum(units),
  threshold: z.number(),
  /** Whether a value above or below the threshold supports the class. */
  side: z.enum(['above', 'below']),
  /** How the figure is derived. Absent for a measured metric. */
  how: Derivation.optional(),
})
export type BottleneckEvidence = z.infer<typeof BottleneckEvidence>

export const Bottleneck = z.object({
  class: z.enum(bottleneckClasses),
  /**
   * Classes of other units that are at their limit, or as close to their limit as the unit of
   * `class`. The class of the unit closest to its limit comes first.
   */
  also: z.array(z.enum(bottleneckClasses)),
  /**
   * Whether the unit's utilization is between the two thresholds. Between the thresholds, the class
   * is only the strongest of several limits.
   */
  leaning: z.boolean(),
  evidence: z.array(BottleneckEvidence),
  /** Ids of missing metrics that would allow a verdict or make the verdict more certain. */
  missing: z.array(z.string()),
})
export type Bottleneck = z.infer<typeof Bottleneck>

interface Figure {
  id: string
  value: number | null
  how?: Derivation
}

type UnitClass = Exclude<BottleneckClass, 'tail' | 'latency' | 'unknown'>

interface UnitFigure extends Figure {
  class: UnitClass
  limit: number
}

/** A unit and its utilization. */
export interface UnitLoad {
  /** Id of the metric that measures the unit. */
  id: string
  /** Utilization in percent. */
  busy: number
  /** Utilization divided by the unit's saturation threshold. */
  height: number
}

/** Two units within this relative difference are treated as equally near their limit. */
const closeShare = 0.05

const isClose = (load: UnitLoad, first: UnitLoad): boolean =>
  load.height >= first.height * (1 - closeShare)

/**
 * Returns the units near their limit, closest first. Among equally close units, the unit that does
 * the task's main work comes first.
 */
export function nearLimit<T extends UnitLoad>(
  session: Session,
  rung: RungResult,
  loads: readonly T[],
): T[] {
  const near = loads
    .filter(({ busy }) => busy >= bottleneckThresholds.latency)
    .sort((one, other) => other.height - one.height)
  const ownId = ownUtilization(session, rung)
  const own = near.find(({ id }) => id === ownId)
  return own && isClose(own, near[0]!) ? [own, ...near.filter((load) => load !== own)] : near
}

/**
 * Tolerance factor for clock changes and profiler error. If the percentage of peak FP32 throughput
 * exceeds the FMA utilization by more than this factor, another unit did the arithmetic.
 */
const fmaAllowance = 1.1

function exceedsFma(session: Session, rung: RungResult): boolean {
  const [done, busy] = [rung.timing?.gflops ?? null, valueOf(rung, 'fmaUtilization')]
  const peak = ceilingsOf(session).compute.fp32.value.value
  return (
    done !== null && busy !== null && peak !== null && (100 * done) / peak > fmaAllowance * busy
  )
}

/**
 * Returns the metric for the unit that does the task's main work. The unit is device memory, the
 * tensor pipe or the FMA pipe.
 */
export function ownUtilization(
  session: Session,
  rung: RungResult,
): 'dramUtilization' | 'tensorUtilization' | 'fmaUtilization' {
  if (leadOf(session).of === 'bytes') return 'dramUtilization'
  if (worksOnTensor(session, rung)) return 'tensorUtilization'
  const isOfTensor = session.problem && isTensor(session.ladder.task, session.problem)
  return isOfTensor || exceedsFma(session, rung) ? 'tensorUtilization' : 'fmaUtilization'
}

const stallIds = [
  'stallLongScoreboard',
  'stallShortScoreboard',
  'stallMioThrottle',
  'stallLgThrottle',
  'stallBarrier',
  'stallMathPipe',
  'stallNotSelected',
  'stallWait',
  'stallDispatch',
] as const

const valueOf = ({ metrics }: RungResult, id: string): number | null => metrics[id]?.value ?? null

const labelOf = (id: string): string => metricDefinition(id)?.label ?? id

/**
 * Returns DRAM utilization. If ncu did not report the DRAM percentage, the metric is computed from
 * DRAM throughput and memory bandwidth.
 */
function dramFigure(session: Session, rung: RungResult): Figure {
  const measured = valueOf(rung, 'dramUtilization')
  if (measured !== null) return { id: 'dramUtilization', value: measured }
  const bytes = valueOf(rung, 'dramBytes')
  const ceiling = ceilingsOf(session).memory.dram.value.value
  if (bytes === null || !ceiling || !rung.timing) return { id: 'dramUtilization', value: null }
  const perSecond = bytes / (rung.timing.medianMs * 1e6)
  // With a warm L2, the timed launch found data in L2 that the profiled launch had to load. If the
  // computed rate therefore exceeds the roof, the value is null.
  return {
    id: 'dramUtilization',
    value: shareOfRoof(perSecond, ceiling, 'memory').share,
    how: { kind: 'dram-traffic', ceilingGBs: ceiling },
  }
}

/**
 * Returns the share of a rung's warps that stall for the given reasons. Returns null unless all
 * stall reasons were collected.
 */
function stallShare(rung: RungResult, ids: readonly (typeof stallIds)[number][]): number | null {
  const values = stallIds.map((id) => valueOf(rung, id))
  if (!values.every((value) => value !== null)) return null
  // Each issued instruction accounts for one selected warp.
  const total = 1 + values.reduce((sum, value) => sum + value, 0)
  return (100 * ids.reduce((sum, id) => sum + valueOf(rung, id)!, 0)) / total
}

function unitFigures(session: Session, rung: RungResult): UnitFigure[] {
  const { unit, pipe } = bottleneckThresholds
  const own = (id: string): Figure => ({ id, value: valueOf(rung, id) })
  const lsuClass: UnitClass = servesShared(rung) ? 'lsu-mio' : 'l1-bandwidth'
  return [
    { ...own('fmaUtilization'), class: 'fma-issue', limit: pipe },
    { ...own('issueSlotsBusy'), class: 'fma-issue', limit: unit },
    { ...own('tensorUtilization'), class: 'tensor', limit: pipe },
    { ...own('lsuDataUtilization'), class: lsuClass, limit: unit },
    { ...own('lsuUtilization'), class: 'lsu-mio', limit: unit },
    { ...own('l2Utilization'), class: 'l2-bandwidth', limit: unit },
    { ...dramFigure(session, rung), class: 'dram-bandwidth', limit: unit },
  ]
}

/**
 * Bytes that the L1 data stage serves per cycle. One shared-memory wavefront takes a cycle of the
 * same stage.
 */
const bytesPerWavefront = 128

/**
 * Returns whether the L1 data stage serves mostly shared memory. If the wavefronts are unknown,
 * returns whether the rung loads from shared memory.
 */
function servesShared(rung: RungResult): boolean {
  const [loads, stores, l1Bytes] = ['sharedLoadWavefronts', 'sharedStoreWavefronts', 'l1Bytes'].map(
    (id) => valueOf(rung, id),
  )
  if (loads == null || stores == null || l1Bytes == null) return valueOf(rung, 'sharedLoads') !== 0
  return loads + stores > l1Bytes / bytesPerWavefront
}

const evidenceOf = (
  { id, value, how }: Figure,
  threshold: number,
  side: 'above' | 'below',
): BottleneckEvidence => ({
  id,
  label: labelOf(id),
  value: value!,
  unit: '%',
  threshold,
  side,
  ...(how === undefined ? {} : { how }),
})

function tailOf(rung: RungResult): BottleneckEvidence | null {
  const waves = valueOf(rung, 'wavesPerSm')
  if (waves === null || waves <= 0) return null
  const efficiency = waves / Math.ceil(waves)
  const threshold = bottleneckThresholds.tailEfficiency
  if (efficiency >= threshold) return null
  return {
    id: 'wavesPerSm',
    label: labelOf('wavesPerSm'),
    value: waves,
    unit: 'waves',
    threshold: Math.ceil(waves) * threshold,
    side: 'below',
    how: { kind: 'tail', efficiency, wholeWaves: Math.ceil(waves) },
  }
}

function queueOf(rung: RungResult): Pick<Bottleneck, 'class' | 'evidence'> | null {
  const queues = [
    { class: 'lsu-mio', ids: ['stallMioThrottle', 'stallShortScoreboard'] },
    { class: 'l1-bandwidth', ids: ['stallLgThrottle'] },
  ] as const
  for (const { class: name, ids } of queues) {
    const share = stallShare(rung, ids)
    if (share === null || share < bottleneckThresholds.stallShare) continue
    const how = { kind: 'stall-share', metrics: ids } as const
    return {
      class: name,
      evidence: [
        evidenceOf({ id: ids[0], value: share, how }, bottleneckThresholds.stallShare, 'above'),
      ],
    }
  }
  return null
}

/**
 * Returns a rung's bottleneck. Returns null if the rung was not profiled and therefore has no
 * relevant counters. Also returns null for emulated rungs. Emulated rungs have no times, and their
 * wave count at a small size does not apply to a GPU.
 */
export function bottleneckOf(session: Session, rung: RungResult): Bottleneck | null {
  if (isEmulated(session.target) || isPredicted(session.target)) return null
  if (!Object.values(rung.metrics).some(({ value }) => value !== null)) return null
  const figures = unitFigures(session, rung)
  const missing = figures.filter(({ value }) => value === null).map(({ id }) => id)
  if (stallShare(rung, []) === null)
    missing.push(...stallIds.filter((id) => valueOf(rung, id) === null))
  const loads = figures.flatMap((figure) =>
    figure.value !== null && Number.isFinite(figure.value)
      ? [{ ...figure, busy: figure.value, height: figure.value / figure.limit }]
      : [],
  )
  const near = nearLimit(session, rung, loads)
  const [first] = near
  const queue = queueOf(rung)
  const tail = tailOf(rung)
  const full = near.filter(({ height }) => height >= 1)
  const { latency } = bottleneckThresholds
  const above = (figure: (typeof near)[number]): BottleneckEvidence =>
    evidenceOf(figure, figure.height >= 1 ? figure.limit : latency, 'above')
  const bottleneckOf = (
    name: BottleneckClass,
    evidence: readonly BottleneckEvidence[],
    { also = [], leaning = false }: { also?: readonly BottleneckClass[]; leaning?: boolean } = {},
  ): Bottleneck => ({
    class: name,
    also: [...new Set(also)].filter((other) => other !== name),
    leaning,
    evidence: [...evidence],
    missing,
  })

  if (tail)
    return bottleneckOf('tail', [tail, ...full.map(above)], {
      also: full.map((figure) => figure.class),
    })
  if (first) {
    const beside = near.filter((figure) => figure.height >= 1 || isClose(figure, first))
    const also: BottleneckClass[] = beside.map((figure) => figure.class)
    if (full.length > 0) return bottleneckOf(first.class, beside.map(above), { also })
    const evidence = near.map(above)
    // Stalls in the queue of a nearly saturated unit confirm that the unit is the limit.
    if (queue && also.includes(queue.class))
      return bottleneckOf(queue.class, [...queue.evidence, ...evidence], { also })
    // A unit that was not measured might be the saturated unit.
    if (queue || missing.length === 0)
      return bottleneckOf(first.class, [...evidence, ...(queue?.evidence ?? [])], {
        also: [...also, ...(queue ? [queue.class] : [])],
        leaning: true,
      })
    return bottleneckOf('unknown', [])
  }
  if (queue) return bottleneckOf(queue.class, queue.evidence)
  if (missing.length > 0) return bottleneckOf('unknown', [])
  const highest = [...loads].sort((one, other) => other.height - one.height).slice(0, 3)
  return bottleneckOf('latency', [
    ...highest.map((figure) => evidenceOf(figure, latency, 'below')),
    ...longestWait(rung),
  ])
}

/**
 * Returns the most frequent stall reason. A latency verdict lists the most frequent stall reason as
 * the first thing to investigate.
 */
function longestWait(rung: RungResult): BottleneckEvidence[] {
  const [longest] = stallIds
    .map((id) => ({
      id,
      value: stallShare(rung, [id]),
      how: { kind: 'stall-share', metrics: [id] } as const,
    }))
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0))
  return longest?.value == null ? [] : [evidenceOf(longest, 0, 'above')]
}
