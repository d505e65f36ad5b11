/**
 * Creates the units that are paired between sessions: rungs of a ladder, or kernels of a program or
 * import. Pure.
 */
import { can } from '../targets/targets'
import type {
  CacheState,
  ProfiledKernel,
  ProfiledTime,
  RungResult,
  Session,
  Timing,
} from '../session/session'
import type { PredictedTime } from '../session/predicted'
import { functorsOf } from './functors'
import { parseKernelName } from './kernel-names'

/**
 * The source of a time: ncu, CUPTI, the timing model, or the runner with a given L2 state. Times
 * from different sources are never compared.
 */
export type Clock = CacheState | 'ncu' | 'cupti' | 'predicted'

export interface UnitTime {
  ms: number
  clock: Clock
  /** Relative uncertainty of `ms`; null if unknown. */
  uncertainty: number | null
  /** Range of a predicted time in ms. */
  range?: { low: number; high: number }
}

type Extent = [number, number, number] | null

export interface UnitKernel {
  name: string
  /** Kernel name with namespaces but without template arguments. */
  path: string
  template: string | null
  /** Functions and functors in the template arguments; null if the arguments contain none. */
  functor: string | null
  grid: Extent
  block: Extent
  range: string | null
}

export interface Unit {
  /** Rung id, or `<rung>/2` for the second of several kernels in one NVTX range. */
  id: string
  rung: string
  title: string
  /**
   * The kernel. Null for a ladder's rung that was not profiled or that launches several kernels.
   */
  kernel: UnitKernel | null
  time: UnitTime | null
  /**
   * Number of launches whose times are summed in `time`. Null for a ladder's rung, whose time is a
   * median.
   */
  launches: number | null
  /** Counters of one launch. The record is empty if the launch was only timed. */
  work: Work
}

/** Counters that are nearly equal for launches with the same work. */
const workIds = ['instructions', 'memoryInstructions', 'l1Bytes', 'l2Bytes'] as const
export type Work = Readonly<Partial<Record<(typeof workIds)[number], number>>>

const workOf = ({ metrics }: RungResult): Work =>
  Object.fromEntries(
    workIds.flatMap((id) => {
      const value = metrics[id]?.value
      return value == null ? [] : [[id, value]]
    }),
  )

/**
 * Returns the half-width of the median's 95 % confidence interval, computed from the interquartile
 * range. It makes no other assumption about the distribution.
 */
const ofMedian = (spread: number, samples: number): number => (1.57 * spread) / Math.sqrt(samples)

/**
 * Minimum relative uncertainty of a time. Times of launches within a few minutes vary less than
 * times from separate runs.
 */
const leastUncertainty = 0.005

const runnerTime = ({ cacheState, medianMs, spread, samples }: Timing): UnitTime => ({
  ms: medianMs,
  clock: cacheState,
  uncertainty: Math.max(leastUncertainty, ofMedian(spread, samples)),
})

const modelTime = ({ ms, lowMs, highMs }: PredictedTime): UnitTime => ({
  ...{ ms, clock: 'predicted', uncertainty: null },
  range: { low: lowMs, high: highMs },
})

const profilerTime = ({ timer, totalMs, spread, launches }: ProfiledTime): UnitTime => ({
  ms: totalMs,
  clock: timer ?? 'ncu',
  uncertainty: spread === null ? null : Math.max(leastUncertainty, ofMedian(spread, launches)),
})

type NamedKernel = Pick<ProfiledKernel, 'name' | 'grid' | 'block' | 'range'>

type NameParts = Pick<UnitKernel, 'path' | 'template' | 'functor'>

function partsOf(name: string): NameParts {
  const { path, template } = parseKernelName(name)
  const functor = template === null ? '' : functorsOf(template).join(', ')
  return { path, template, functor: functor || null }
}

/**
 * Cache of parsed kernel names. A program launches a few kernels many times, so each name is parsed
 * only once. Launches of the same shape share a kernel object.
 */
export type Names = Map<string, { parts: NameParts; shapes: Map<string, UnitKernel> }>

const toKernel = (
  { name, grid, block, range }: NamedKernel,
  names: Names = new Map(),
): UnitKernel => {
  const known = names.get(name) ?? { parts: partsOf(name), shapes: new Map<string, UnitKernel>() }
  names.set(name, known)
  const shape = `${grid?.join()} ${block?.join()} ${range === undefined ? '' : `in ${range}`}`
  const kernel = known.shapes.get(shape) ?? {
    name,
    ...known.parts,
    ...{ grid, block, range: range ?? null },
  }
  known.shapes.set(shape, kernel)
  return kernel
}

/** Returns the rung's kernel if the rung launches exactly one kernel, otherwise null. */
const onlyKernel = (rung: RungResult, names: Names): UnitKernel | null => {
  const kernels = rung.profile?.kernels ?? rung.launches ?? []
  const [only] = kernels
  return kernels.length === 1 && only ? toKernel(only, names) : null
}

function kernelTime({ ncuMetrics }: ProfiledKernel): UnitTime | null {
  const { value, unit } = ncuMetrics?.['gpu__time_duration.sum'] ?? {}
  return typeof value === 'number' && unit === 'ns'
    ? { ms: value / 1e6, clock: 'ncu', uncertainty: null }
    : null
}

function unitsOfRung(rung: RungResult, names: Names): Unit[] {
  const { id, title, profile, profiledTime: time } = rung
  const kernels = profile?.kernels ?? []
  const own = { id, rung: id, title }
  if (kernels.length <= 1)
    return [
      {
        ...own,
        kernel: onlyKernel(rung, names),
        time: time ? profilerTime(time) : null,
        launches: time?.launches ?? 1,
        work: workOf(rung),
      },
    ]
  return kernels.map((kernel, index) => ({
    id: `${id}/${index + 1}`,
    rung: id,
    title,
    kernel: toKernel(kernel, names),
    time: kernelTime(kernel),
    launches: 1,
    // The rung's counters are sums over its kernels.
    work: {},
  }))
}

/** Returns a unit for a single launch that is not part of a session. */
export const launchUnit = (
  id: string,
  kernel: NamedKernel,
  ms: number | null,
  { work = {}, names }: { work?: Work; names?: Names } = {},
): Unit => ({
  id,
  rung: id,
  title: kernel.name,
  kernel: toKernel(kernel, names),
  time: ms === null ? null : { ms, clock: 'ncu', uncertainty: null },
  launches: 1,
  work,
})

export function unitsOf({ target, rungs }: Pick<Session, 'target' | 'rungs'>): Unit[] {
  const names: Names = new Map()
  return can(target).knowsRun
    ? rungs.map((rung) => ({
        id: rung.id,
        rung: rung.id,
        title: rung.title,
        kernel: onlyKernel(rung, names),
        time: rung.timing
          ? runnerTime(rung.timing)
          : rung.predicted
            ? modelTime(rung.predicted)
            : null,
        launches: null,
        work: workOf(rung),
      }))
    : rungs.flatMap((rung) => unitsOfRung(rung, names))
}
