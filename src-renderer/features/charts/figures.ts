/** The figures of the charts: instruction mix, stalls, traffic, occupancy, variants of one source, and problem sizes. */
import {
  mixOf,
  type Mix,
  blocksOf,
  launchOccupancy,
  type LaunchLike,
} from '../../../src-main/domain/analysis/derived-metrics'
import { instructionKinds } from '../../../src-main/domain/metrics/counted-metrics'
import type { RungResult, Session } from '../../../src-main/domain/session/session'
import { metricDefinitions, type MetricValue } from '../../../src-main/domain/metrics/metrics'
import type { MetricDefinition } from '../../../src-main/domain/metrics/metric-definition'
import { memoryLevels } from '../../../src-main/domain/gpu/ceilings'
import { trafficMetric } from '../../../src-main/domain/analysis/roofline'
import { leastBytes as leastBytesOf, problemLabel } from '../../../src-main/domain/task/problem'
import { bufferTitle } from '../../../src-main/domain/task/task'
import { gpuOfTarget, isBuiltOnly } from '../../../src-main/domain/target/targets'
import {
  occupancyLimiters,
  type Occupancy,
  scheduleOf,
  wavesOf,
  type Schedule,
  type Waves,
} from '../../../src-main/domain/gpu/occupancy'
import { smLimits } from '../../../src-main/domain/gpu/gpu'
import { leadFigure, leadOf, type Lead } from '../../../src-main/domain/analysis/lead-figure'
import type { SessionSummary } from '../../../src-main/contract/index'
import { bySize } from '../../../src-main/contract/sessions'
import { stepTo } from '../../../src-main/domain/analysis/climb'
import { areTimesRanked, comparability } from '../../../src-main/domain/analysis/comparability'
import type { AnyMessage } from '../../../src-main/domain/messages/message'
import type { SweepMeasure } from '../../../src-main/domain/report/report-format'

// The instruction mix as drawn: the kinds that have a color, and the rest.

/** As many as the theme has distinguishable colors; the others are small and are summed. */
export const drawnKinds = instructionKinds.slice(0, 6)

export function mixFigures(session: Session): { mixes: Mix[]; without: RungResult[] } {
  const found = session.rungs.map((rung) => ({ rung, mix: mixOf(rung) }))
  return {
    mixes: found.flatMap(({ mix }) => mix ?? []),
    without: found.flatMap(({ rung, mix }) => (mix ? [] : [rung])),
  }
}

/** Drawn in gray: kinds not drawn by themselves, and instructions without a kind. */
export const restOf = ({ kinds, none }: Mix): number =>
  instructionKinds
    .filter((id) => !drawnKinds.includes(id))
    .reduce((sum, id) => sum + (kinds[id] ?? 0), none)

// Stall reasons of each rung, ordered by their sum over the ladder.

export const stallReasons: readonly MetricDefinition[] = metricDefinitions.filter(({ id }) =>
  /^stall[A-Z]/.test(id),
)

export interface StallFigures {
  /** Reasons with a value in some rung, largest sum over the rungs first. */
  reasons: readonly MetricDefinition[]
  rungs: readonly RungResult[]
  /** Rungs without a value for any reason. */
  without: readonly RungResult[]
}

const valueOf = (rung: RungResult, id: string): number | null => rung.metrics[id]?.value ?? null

export const stallTotal = (rung: RungResult): number =>
  stallReasons.reduce((sum, { id }) => sum + (valueOf(rung, id) ?? 0), 0)

export function stallFigures(session: Session): StallFigures {
  const has = (rung: RungResult) => stallReasons.some(({ id }) => valueOf(rung, id) !== null)
  const rungs = session.rungs.filter(has)
  const sums = new Map(
    stallReasons.map(({ id }) => [
      id,
      rungs.reduce((sum, rung) => sum + (valueOf(rung, id) ?? 0), 0),
    ]),
  )
  return {
    reasons: stallReasons
      .filter(({ id }) => rungs.some((rung) => valueOf(rung, id) !== null))
      .sort((a, b) => (sums.get(b.id) ?? 0) - (sums.get(a.id) ?? 0)),
    rungs,
    without: session.rungs.filter((rung) => !has(rung)),
  }
}

/** From here on, the longest bar leaves the usual one too short to be read. */
const dwarfs = 5

/** Shares where one bar would dwarf the rest, warps otherwise. */
export function stallScale({ rungs }: Pick<StallFigures, 'rungs'>): 'warps' | 'share' {
  const totals = rungs.map(stallTotal).sort((a, b) => a - b)
  const usual = totals[Math.floor((totals.length - 1) / 2)] ?? 0
  return (totals.at(-1) ?? 0) > dwarfs * usual ? 'share' : 'warps'
}

/** Warps stalled for one reason; 0 if the rung lacks it, since it has others. */
export const stallValue = (rung: RungResult, id: string): number => valueOf(rung, id) ?? 0

// Bytes that a rung moved through each level of the memory hierarchy, next to the compulsory minimum.

export const trafficMetrics: readonly string[] = memoryLevels.map((level) => trafficMetric[level])

export function trafficRungs(session: Session): { rungs: RungResult[]; without: RungResult[] } {
  const has = ({ metrics }: RungResult) => trafficMetrics.some((id) => metrics[id]?.value != null)
  return {
    rungs: session.rungs.filter(has),
    without: session.rungs.filter((rung) => !has(rung)),
  }
}

/**
 * Each buffer read or written once, as the task counts it: no kernel that starts with cold caches moves
 * fewer bytes to and from device memory. null if the problem is unknown.
 */
export const leastBytes = ({ problem, ladder }: Session): number | null =>
  problem && ladder.task && leastBytesOf(ladder.task, problem)

/** Names of the buffers that every rung has. */
export const bufferTitles = ({ ladder: { task } }: Session): string[] =>
  Object.entries(task?.buffers ?? {}).flatMap(([name, { when }]) =>
    when === undefined ? [bufferTitle(task, name)] : [],
  )

// What limits each rung's occupancy, calculated from its launch and compared with ncu's measurement.

export interface RungOccupancy {
  rung: RungResult
  kernel: LaunchLike
  occupancy: Occupancy
  /** Blocks in the grid. */
  blocks: number
}

export type OccupancyGap =
  /** No launch is known, hence neither block size nor registers. */
  | 'notProfiled'
  /** The resources of a block are unknown for every launch. */
  | 'noResources'
  | 'noDevice'
  | 'unknownGpu'

export interface Gpu {
  computeCapability: string
  /** null if the rungs were built for an architecture rather than a GPU. */
  smCount: number | null
}

/** SM count and compute capability of the GPU; an import has them among its counters, a build in its target. */
export function gpuOf(session: Session, rung: RungResult): Gpu | null {
  if (session.device) return session.device
  const built = gpuOfTarget(session.target)
  if (built) return built
  const metrics = rung.ncuMetrics ?? rung.profile?.kernels[0]?.ncuMetrics
  const number = (name: string) => {
    const value = metrics?.[name]?.value
    return typeof value === 'number' ? value : null
  }
  const major = number('device__attribute_compute_capability_major')
  const minor = number('device__attribute_compute_capability_minor')
  const smCount = number('device__attribute_multiprocessor_count')
  return major === null || minor === null || smCount === null
    ? null
    : { computeCapability: `${major}.${minor}`, smCount }
}

/**
 * The launch that represents a rung with several. Registry metrics are those of the longest-running
 * kernel, so take the launch that agrees with them; without metrics, the one with the most registers
 * per block.
 */
function mainLaunch(rung: RungResult, found: readonly RungOccupancy[]): RungOccupancy | undefined {
  const registers = rung.metrics['registersPerThread']?.value
  const percent = rung.metrics['theoreticalOccupancy']?.value
  const agreeing = found.find(
    ({ kernel, occupancy }) =>
      kernel.resources?.registersPerThread === registers &&
      percent != null &&
      Math.abs(occupancy.percent - percent) < 0.1,
  )
  if (agreeing) return agreeing
  const held = ({ occupancy }: RungOccupancy) => occupancy.allocated.registersPerBlock
  return [...found].sort((a, b) => held(b) - held(a))[0]
}

export function rungOccupancy(session: Session, rung: RungResult): RungOccupancy | OccupancyGap {
  const profiled: readonly LaunchLike[] = rung.profile?.kernels ?? []
  const launches = profiled.some(({ resources }) => resources)
    ? profiled
    : (rung.launches ?? profiled)
  if (launches.length === 0) return 'notProfiled'
  const gpu = gpuOf(session, rung)
  if (!gpu) return 'noDevice'
  if (!smLimits(gpu.computeCapability)) return 'unknownGpu'
  const found = launches.flatMap((launch) => {
    const occupancy = launchOccupancy(launch, gpu)
    const blocks = blocksOf(launch)
    return 'reason' in occupancy || blocks === null
      ? []
      : [{ rung, kernel: launch, occupancy, blocks }]
  })
  return mainLaunch(rung, found) ?? 'noResources'
}

export const isKnown = (found: RungOccupancy | OccupancyGap): found is RungOccupancy =>
  typeof found !== 'string'

/** In the order of the limiters. What lets in more blocks than an SM ever holds limits nothing, and lies beyond the axis. */
export const drawnLimits = ({ limits }: Occupancy): (number | null)[] =>
  occupancyLimiters.map((limiter) => {
    const limit = limits[limiter]
    return limit !== null && limit > (limits.blocks ?? Infinity) ? null : limit
  })

export interface RungWaves extends RungOccupancy {
  waves: Waves
  schedule: Schedule
  smCount: number
}

/**
 * null if no block fits, and for clusters: how many are resident at once depends on how the GPU's SMs
 * are grouped, which CUDA does not report. A build may not know whether there are any clusters.
 */
export function rungWaves(session: Session, own: RungOccupancy): RungWaves | null {
  const gpu = gpuOf(session, own.rung)
  if (gpu?.smCount == null) return null
  const clusters = own.kernel.resources?.clusterBlocks
  if (clusters || (clusters === null && isBuiltOnly(session.target))) return null
  const { blocksPerSm } = own.occupancy
  const waves = wavesOf(own.blocks, gpu.smCount, blocksPerSm)
  const schedule = scheduleOf(own.blocks, gpu.smCount, blocksPerSm)
  return waves && schedule ? { ...own, waves, schedule, smCount: gpu.smCount } : null
}

// Variants of one source that differ in one parameter, next to what the ladder's author measured.

export interface StudyVariant {
  rung: RungResult
  /** The parameter's value. */
  value: number
}

export interface Study {
  /** The source file, for the heading if a ladder has several studies. */
  file: string
  parameter: string
  /** Ascending. */
  variants: readonly StudyVariant[]
}

/** Two points are just a pair, which Compare shows better. */
const fewest = 3

function differing(rungs: readonly RungResult[]): string[] {
  const names = [...new Set(rungs.flatMap(({ params }) => Object.keys(params)))]
  return names.filter((name) => new Set(rungs.map(({ params }) => params[name])).size > 1)
}

export function studies(session: Session): Study[] {
  const files = [...new Set(session.rungs.map(({ file }) => file))].filter((file) => file !== '')
  return files.flatMap((file) => {
    const rungs = session.rungs.filter((rung) => rung.file === file)
    const [parameter, ...others] = differing(rungs)
    if (parameter === undefined || others.length > 0) return []
    const variants = rungs
      .flatMap((rung) => {
        const value = rung.params[parameter]
        return value === undefined ? [] : [{ rung, value }]
      })
      .sort((a, b) => a.value - b.value)
    return new Set(variants.map(({ value }) => value)).size >= fewest
      ? [{ file, parameter, variants }]
      : []
  })
}

/** Our value for a variant: `throughput`, or a registry metric. */
export const studyFigure = (
  session: Session,
  { rung }: StudyVariant,
  id: string,
): MetricValue | null =>
  id === 'throughput' ? (leadFigure(session, rung)?.rate ?? null) : (rung.metrics[id] ?? null)

/** The author's value, in the same unit; null if they gave none. */
export function publishedFigure(
  session: Session,
  { rung }: StudyVariant,
  id: string,
): number | null {
  const { published } = session.ladder
  if (!published) return null
  // Authors give operations per second.
  if (id === 'throughput' && leadOf(session).of === 'bytes') return null
  return (
    (id === 'throughput' ? published.gflops[rung.id] : published.metrics[rung.id]?.[id]) ?? null
  )
}

/** Metrics that we measured for some variant, the author's metrics first. */
export function studyMetrics(session: Session, { variants }: Study): string[] {
  const ids = [...new Set(variants.flatMap(({ rung }) => Object.keys(rung.metrics)))].filter((id) =>
    variants.some(({ rung }) => rung.metrics[id]?.value != null),
  )
  const given = (id: string) =>
    variants.some((variant) => publishedFigure(session, variant, id) !== null)
  return [...ids.filter(given), ...ids.filter((id) => !given(id))]
}

// One ladder over several problem sizes: one session per size, joined by rung.

/** Toggles a session; selecting one deselects any other of the same size. */
export function toggleChoice(
  candidates: readonly SessionSummary[],
  chosen: readonly string[],
  ref: string,
): string[] {
  if (chosen.includes(ref)) return chosen.filter((other) => other !== ref)
  const sizeOf = (of: string) => {
    const item = candidates.find((candidate) => candidate.ref === of)
    return item?.problem && problemLabel(item.problem)
  }
  return [...chosen.filter((other) => sizeOf(other) !== sizeOf(ref)), ref]
}

export interface SweepRung {
  id: string
  title: string
  /** One value per session, in their order; null if the rung has none there. */
  values: (number | null)[]
}

function measure(
  session: Session,
  rung: RungResult,
  by: SweepMeasure,
  of: Lead['of'],
): number | null {
  if (!rung.timing) return null
  if (by === 'throughput')
    return leadFigure(session, rung, { ...leadOf(session), of })?.rate.value ?? null
  if (by === 'toReference') return rung.timing.ratioToReference
  return stepTo(session, rung)?.factor ?? null
}

export interface Sweep {
  sessions: readonly Session[]
  sizes: readonly string[]
  rungs: readonly SweepRung[]
  /** Differences between the sessions other than the size, each once. */
  warnings: readonly AnyMessage[]
}

/**
 * `of`: what a throughput is of, at every size. A line has times of one state of L2, that of `shown`; the others are
 * left out, and a warning says why.
 */
export function sweep(
  sessions: readonly Session[],
  by: SweepMeasure,
  of: Lead['of'] = 'operations',
  shown: Session | undefined = sessions[0],
): Sweep {
  const ordered = [...sessions].sort(bySize)
  const ids = [...new Set(ordered.flatMap(({ rungs }) => rungs.map(({ id }) => id)))]
  const rungs = ids.map((id) => {
    const found = ordered.map((session) => ({
      session,
      rung: session.rungs.find((rung) => rung.id === id),
    }))
    return {
      id,
      title: found.find(({ rung }) => rung)?.rung?.title ?? id,
      values: found.map(({ session, rung }) =>
        rung && shown && areTimesRanked(session, shown) ? measure(session, rung, by, of) : null,
      ),
    }
  })
  return {
    sessions: ordered,
    sizes: ordered.map(({ problem }) => (problem ? problemLabel(problem) : '')),
    rungs: rungs.filter(({ values }) => values.some((value) => value !== null)),
    warnings: shown
      ? ordered
          .filter((other) => other !== shown)
          .flatMap((other) => comparability(shown, other).warnings)
      : [],
  }
}
