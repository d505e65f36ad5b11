/**
 * Compares the best rung of each ladder with the vendor library, for single launches, bursts and
 * sustained launches. The data comes from JSON documents that test/gpu/timing.mjs printed on
 * machines with GPUs.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { brotliDecompressSync } from 'node:zlib'
import { z } from 'zod'
import { formatMs, formatRatio } from '../../src-main/domain/metrics/units'
import { CacheState, RungResult } from '../../src-main/domain/session/session'
import { Problem, problemWord } from '../../src-main/domain/task/problem'
import { currentId } from '../../src-main/domain/ladder/former-ids'
import { md, mdTable } from '../../src-main/domain/text/markdown'
import type { LadderFile } from '../../src-main/domain/ladder/ladder'
import { shippedLadders } from './recorded-ladders'

const Run = z.object({
  round: z.number(),
  argv: z.array(z.string()),
  status: z.literal(0),
  document: z.object({
    ladder: z.string(),
    problem: Problem,
    device: z.object({ name: z.string() }),
    createdAt: z.string(),
    settings: z.object({ cacheState: CacheState }),
    rungs: z.array(RungResult.pick({ id: true, title: true, timing: true })),
  }),
})

export const timedGpus = ['h200', 'h100'] as const
export type TimedGpu = (typeof timedGpus)[number]

type Ratios = readonly number[]

/**
 * Comparison of one rung with the vendor library on one GPU. Each ratio is the library's time
 * divided by the rung's time.
 */
export interface LibraryTimes {
  gpu: TimedGpu
  device: string
  ladder: string
  problem: Problem
  rung: string
  /**
   * Times with a cold L2 cache. `ms` is the first session's median. `cold` has one ratio per
   * session.
   */
  ms: number
  cold: Ratios
  warm: Ratios
  burst: number | null
  sustained: number | null
  smClockMHz: number | null
  powerW: number | null
  /** Whether a power cap reduced the clocks during single launches in any session. */
  powerCapped: boolean
}

export const timingPath = (gpu: TimedGpu): string => `test/gpu/timing-${gpu}.jsonl.br`

export function readLibraryTimes(root: string, gpu: TimedGpu): LibraryTimes[] {
  const lines = brotliDecompressSync(readFileSync(join(root, timingPath(gpu))))
  const found = new Map<string, LibraryTimes>()
  for (const line of lines.toString('utf8').trim().split('\n')) {
    const { document } = Run.parse(JSON.parse(line))
    const { ladder, problem, device, rungs, settings } = document
    for (const { id, timing } of rungs) {
      if (timing?.ratioToReference == null) continue
      const rung = currentId(id)
      const key = JSON.stringify([ladder, problem, rung])
      const before = found.get(key) ?? {
        ...{ gpu, device: device.name, ladder, problem, rung, ms: timing.medianMs },
        ...{ cold: [], warm: [], burst: null, sustained: null, smClockMHz: null, powerW: null },
        powerCapped: false,
      }
      const { burst, sustained, ratioToReference, gpu: state } = timing
      const isCold = settings.cacheState === 'cold'
      found.set(key, {
        ...before,
        cold: isCold ? [...before.cold, ratioToReference] : before.cold,
        warm: isCold ? before.warm : [...before.warm, ratioToReference],
        burst: burst?.ratioToReference ?? before.burst,
        sustained: sustained?.ratioToReference ?? before.sustained,
        smClockMHz: sustained?.smClockMHz ?? before.smClockMHz,
        powerW: sustained?.powerW ?? before.powerW,
        powerCapped: before.powerCapped || (state?.heldDownBy?.includes('powerCap') ?? false),
      })
    }
  }
  // A ladder may have been timed with two candidates for the best rung.
  const isBest = (one: LibraryTimes): boolean =>
    [...found.values()].every(
      (other) =>
        other.ladder !== one.ladder ||
        !isDeepStrictEqual(other.problem, one.problem) ||
        other.ms >= one.ms,
    )
  return [...found.values()].filter(isBest)
}

/**
 * Returns whether the rung is faster than the library in every session, for single launches, bursts
 * and sustained launches. Returns null if any of the three timing modes was not measured.
 */
export function isFaster({ cold, burst, sustained }: LibraryTimes): boolean | null {
  if (burst === null || sustained === null || cold.length === 0) return null
  return [...cold, burst, sustained].every((ratio) => ratio > 1)
}

/**
 * Formats a factor with its range and number of sessions, such as `1.04× (1.041 to 1.044, 3
 * sessions)`.
 */
function interval(ratios: Ratios): string {
  if (ratios.length === 0) return '–'
  const sorted = [...ratios].sort((a, b) => a - b)
  const middle = sorted[Math.floor(sorted.length / 2)]!
  if (sorted.length === 1) return formatRatio(middle)
  return `${formatRatio(middle)} (${sorted[0]!.toFixed(3)} to ${sorted.at(-1)!.toFixed(3)}, ${sorted.length} sessions)`
}

const ratio = (value: number | null): string => (value === null ? '–' : formatRatio(value))

const title = (
  ladders: ReadonlyMap<string, LadderFile>,
  { ladder, problem }: LibraryTimes,
): string =>
  md(
    `${ladders.get(ladder)!.title}, ${problemWord(problem)}${problem.scalars.causal ? ', causal' : ''}`,
  )

/**
 * Minimum number of sessions for a headline figure. The ratios of two sessions of the same ladder
 * differed by 1.6 %.
 */
const enoughSessions = 3

function faster(times: LibraryTimes): string {
  const said = { true: 'yes', false: 'no', null: 'not known' }[`${isFaster(times)}`]
  const { length } = times.cold
  return said === 'yes' && length < enoughSessions
    ? `yes, in ${length} ${length === 1 ? 'session' : 'sessions'}`
    : said
}

interface Column {
  header: string
  cell: (times: LibraryTimes) => string
  align?: 'right'
}

const table = (columns: readonly Column[], rows: readonly LibraryTimes[]): string =>
  mdTable(
    columns.map(({ header, align }) => ({ header, align: align ?? ('left' as const) })),
    rows.map((row) => columns.map(({ cell }) => cell(row))),
  )

/**
 * Returns the generated part of each document. README.md contains the rungs on the first GPU.
 * docs/evidence/results.md contains all figures on both GPUs.
 */
export function libraryTimesParts(root: string): [path: string, part: string][] {
  const ladders = new Map(shippedLadders(root).map((file) => [file.id, file]))
  const rows = timedGpus.flatMap((gpu) => readLibraryTimes(root, gpu))
  const columns: Column[] = [
    { header: 'ladder', cell: (times) => title(ladders, times) },
    { header: 'best rung', cell: ({ rung }) => `\`${rung}\`` },
    { header: 'time, cold', align: 'right', cell: ({ ms }) => formatMs(ms) },
    { header: 'interleaved, cold', align: 'right', cell: ({ cold }) => interval(cold) },
    { header: 'interleaved, warm', align: 'right', cell: ({ warm }) => interval(warm) },
    { header: 'bursts', align: 'right', cell: ({ burst }) => ratio(burst) },
    { header: 'sustained', align: 'right', cell: ({ sustained }) => ratio(sustained) },
    { header: 'faster in every test', cell: faster },
  ]
  const isShort = ({ header }: Column): boolean => header !== 'interleaved, warm'
  const withGpu: Column[] = [
    { header: 'GPU', cell: ({ device }) => device.replace(/^NVIDIA /, '').split(' ')[0]! },
    ...columns,
    {
      header: 'sustained at',
      align: 'right',
      cell: ({ smClockMHz, powerW }) =>
        smClockMHz === null ? '–' : `${smClockMHz.toFixed(0)} MHz, ${powerW?.toFixed(0) ?? '–'} W`,
    },
    { header: 'power cap', cell: ({ powerCapped }) => (powerCapped ? 'reached' : '') },
  ]
  const first = rows.filter(({ gpu }) => gpu === timedGpus[0])
  return [
    ['README.md', table(columns.filter(isShort), first)],
    ['docs/evidence/results.md', table(withGpu, rows)],
  ]
}
