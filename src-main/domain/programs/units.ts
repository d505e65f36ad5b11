/** What of a session is paired with another's: a rung of a ladder, a kernel of a program or of an import. Pure. */
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

/** How a time was taken: by ncu, by CUPTI, or by the runner with this in L2. Times of different kinds are never compared. */
export type Clock = CacheState | 'ncu' | 'cupti' | 'predicted'

export interface UnitTime {
  ms: number
  clock: Clock
  /** The relative uncertainty of `ms`, from 0; null if nothing says how far it varies. */
  uncertainty: number | null
  /** Of a predicted time, ms. */
  range?: { low: number; high: number }
}

type Extent = [number, number, number] | null

export interface UnitKernel {
  name: string
  /** With its namespaces, without template arguments. */
  path: string
  template: string | null
  /** What its template arguments make it do; null if they name no function or functor. */
  functor: string | null
  grid: Extent
  block: Extent
  range: string | null
}

export interface Unit {
  /** The rung's id; `<rung>/2` for the second of several kernels of one NVTX range. */
  id: string
  rung: string
  title: string
  /** null for a rung of a ladder that was not profiled, or that launches several kernels. */
  kernel: UnitKernel | null
  time: UnitTime | null
  /** How many launches `time` is the sum of; null for the median of a ladder's rung. */
  launches: number | null
  /** Counters of one launch; empty if it was only timed. */
  work: Work
}

/** Counters that hardly differ between two launches that do the same. */
const workIds = ['instructions', 'memoryInstructions', 'l1Bytes', 'l2Bytes'] as const
export type Work = Readonly<Partial<Record<(typeof workIds)[number], number>>>

const workOf = ({ metrics }: RungResult): Work =>
  Object.fromEntries(
    workIds.flatMap((id) => {
      const value = metrics[id]?.value
      return value == null ? [] : [[id, value]]
    }),
  )

/** A half-width of the median's 95 % interval that assumes nothing but a middle half of this width. */
const ofMedian = (spread: number, samples: number): number => (1.57 * spread) / Math.sqrt(samples)

/** Launches under ncu follow each other within minutes at most; that they agree says little about the next run. */
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

/** A program launches few kernels many times: each name is parsed once, and launches of one shape share their kernel. */
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

/** The kernel of a rung that launches just one. */
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
    // The counters of the rung are sums over its kernels.
    work: {},
  }))
}

/** A single launch that no session holds. */
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
