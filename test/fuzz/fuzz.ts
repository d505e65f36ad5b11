/**
 * Feeds damaged inputs to readers. Each input is parsed, rejected with an error message, or counted
 * as a bug.
 */
import { KernelLadderError } from '../../src-main/domain/errors'
import { mutate, seeded } from './mutate'
import type { Reader } from './reader'
import { readersOfFiles } from './readers-of-files'
import { readersOfInstructions } from './readers-of-instructions'
import { readersOfMachines } from './readers-of-machines'
import { readersOfTools } from './readers-of-tools'

/** All readers of data that other programs wrote, with real inputs to damage. */
export const readers: readonly Reader[] = [
  ...readersOfFiles,
  ...readersOfTools,
  ...readersOfInstructions,
  ...readersOfMachines,
]

export interface Find {
  reader: string
  /** The seed. Together with an input's number, the seed reproduces the input. */
  seed: number
  number: number
  what: string
}

export interface Tally {
  reader: string
  inputs: number
  refused: number
  slowestMs: number
  finds: Find[]
}

/**
 * Time limit per input, in milliseconds. An input that exceeds the limit is reported as a bug,
 * because the reader would block the host.
 */
export const mostMs = 5000

/**
 * Returns the first non-finite number in a value, as text, or null if there is none. JSON cannot
 * represent such numbers.
 */
function misread(value: unknown, depth = 0): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : String(value)
  if (typeof value !== 'object' || value === null || depth > 12) return null
  for (const [key, one] of value instanceof Map ? value : Object.entries(value)) {
    const found = misread(one, depth + 1)
    if (found !== null) return `${String(key)}: ${found}`
  }
  return null
}

/** For readers with large inputs, the average number of inputs per large input. */
const oneInLarge = 500

/**
 * Returns the input with a given number. The first inputs are undamaged seeds, including large
 * inputs.
 */
export function inputOf(
  { seeds, large = () => [] }: Pick<Reader, 'seeds' | 'large'>,
  seed: number,
  number: number,
): string | Uint8Array {
  const [small, whole] = [seeds(), large()]
  const first = number < small.length ? small[number] : whole[number - small.length]
  if (first !== undefined) return first
  const random = seeded(seed * 1_000_003 + number)
  const from = whole.length > 0 && random(oneInLarge) === 0 ? whole : small
  return mutate(from[random(from.length)]!, random)
}

const numbersIn = (text: string): Set<number> =>
  new Set([...text.matchAll(/\d+(?:\.\d+)?/g)].map(([number]) => Number(number)))

/**
 * Returns the first number in the value that does not occur in the input text, or null if there is
 * none. Ignores 0, which represents missing values.
 */
function unwritten(value: unknown, written: ReadonlySet<number>, depth = 0): string | null {
  if (typeof value === 'number')
    return value === 0 || written.has(Math.abs(value)) ? null : String(value)
  if (typeof value !== 'object' || value === null || depth > 12) return null
  for (const [key, one] of Object.entries(value)) {
    const found = unwritten(one, written, depth + 1)
    if (found !== null) return `${key}: ${found}`
  }
  return null
}

type End = 'read' | 'refused' | { fault: string }

async function endOf(reader: Reader, input: string | Uint8Array): Promise<End> {
  try {
    const value = await reader.read(input as never)
    const wrong = misread(value)
    if (wrong !== null) return { fault: `a number that is none (${wrong})` }
    const own = reader.literal ? unwritten(value, numbersIn(input as string)) : null
    return own === null ? 'read' : { fault: `a number that does not stand there (${own})` }
  } catch (error) {
    const isSentence = error instanceof KernelLadderError && error.kind !== 'internal'
    if (isSentence || reader.says?.test(String(error))) return 'refused'
    return { fault: String((error as Error).stack ?? error) }
  }
}

const fresh = (reader: string): Tally => ({
  ...{ reader, inputs: 0, refused: 0, slowestMs: 0, finds: [] },
})

const cached = new WeakMap<Reader, Pick<Reader, 'seeds' | 'large'>>()

/** Returns a reader's inputs, which are shortened and unpacked only once. */
function inputsOf(reader: Reader): Pick<Reader, 'seeds' | 'large'> {
  const known = cached.get(reader)
  if (known) return known
  const [small, whole] = [reader.seeds(), reader.large?.() ?? []]
  const own = { seeds: () => small, large: () => whole }
  cached.set(reader, own)
  return own
}

/**
 * Memory limit, one GiB above the memory use at startup. Memory use above this limit is reported as
 * a bug, but only once. `maxRSS` is in KiB.
 */
const mostKiB = process.resourceUsage().maxRSS + 2 ** 20
let mostBefore = 0

/**
 * Returns the memory use in MiB when it exceeds the limit for the first time, and null otherwise.
 */
function grown(): string | null {
  const [before, now] = [mostBefore, process.resourceUsage().maxRSS]
  mostBefore = now
  return before <= mostKiB && now > mostKiB ? `${now >> 10} MiB` : null
}

/** Reads inputs until `enough` returns true. Input numbers continue from the count in `tally`. */
export async function fuzz(
  reader: Reader,
  seed: number,
  enough: (tally: Tally) => boolean,
  tally: Tally = fresh(reader.name),
): Promise<Tally> {
  const inputs = inputsOf(reader)
  while (!enough(tally)) {
    const number = tally.inputs
    const input = inputOf(inputs, seed, number)
    const started = performance.now()
    const end = await endOf(reader, input)
    const ms = performance.now() - started
    tally.inputs += 1
    tally.slowestMs = Math.max(tally.slowestMs, ms)
    if (end === 'refused') tally.refused += 1
    const slow = ms > mostMs ? `${Math.round(ms)} ms` : null
    const what = typeof end === 'object' ? end.fault : (slow ?? grown())
    if (what !== null) tally.finds.push({ reader: reader.name, seed, number, what })
  }
  return tally
}

/** Maximum number of inputs, and of seconds, in one turn of a reader. */
const turn = { inputs: 2000, seconds: 0.5 }

/**
 * Feeds the readers in rotation until each reader has received `most` inputs or time runs out.
 * Calls `onTurn` at the start of each turn, so that the caller can find an input that never
 * finishes.
 */
export async function campaign(
  all: readonly Reader[],
  { seed, seconds, most }: { seed: number; seconds: number; most: number },
  onTurn: (tallies: readonly Tally[], next: { reader: string; from: number }) => void = () =>
    undefined,
): Promise<Tally[]> {
  const end = performance.now() + seconds * 1000
  const tallies = all.map(({ name }) => fresh(name))
  const open = (): number[] =>
    [...tallies.keys()].filter((at) => tallies[at]!.inputs < most && performance.now() < end)
  for (let turns = open(); turns.length > 0; turns = open())
    for (const at of turns) {
      const tally = tallies[at]!
      onTurn(tallies, { reader: tally.reader, from: tally.inputs })
      const until = Math.min(end, performance.now() + turn.seconds * 1000)
      const goal = Math.min(most, tally.inputs + turn.inputs)
      await fuzz(all[at]!, seed, () => tally.inputs >= goal || performance.now() >= until, tally)
    }
  return tallies
}
