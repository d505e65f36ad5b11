/** Feeds readers with damaged inputs, and looks at how each ends: read, refused in a sentence, or at fault. */
import { KernelLadderError } from '../../src-main/domain/errors'
import { mutate, seeded } from './mutate'
import { readers, type Reader } from './readers'

export { readers }

export interface Find {
  reader: string
  /** With the number of the input, it makes the input again. */
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

/** An input that takes longer is a find: some reader would block its host. */
export const mostMs = 5000

/** Where a value has a number that is none, as JSON would lose it. */
function misread(value: unknown, depth = 0): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : String(value)
  if (typeof value !== 'object' || value === null || depth > 12) return null
  for (const [key, one] of value instanceof Map ? value : Object.entries(value)) {
    const found = misread(one, depth + 1)
    if (found !== null) return `${String(key)}: ${found}`
  }
  return null
}

/** The input of a number; the first ones are the seeds themselves. */
export function inputOf({ seeds }: Reader, seed: number, number: number): string | Uint8Array {
  const all = seeds()
  const random = seeded(seed * 1_000_003 + number)
  return number < all.length ? all[number]! : mutate(all[random(all.length)]!, random)
}

type End = 'read' | 'refused' | { fault: string }

async function endOf(reader: Reader, input: string | Uint8Array): Promise<End> {
  try {
    const wrong = misread(await reader.read(input as never))
    return wrong === null ? 'read' : { fault: `a number that is none (${wrong})` }
  } catch (error) {
    const isSentence = error instanceof KernelLadderError && error.kind !== 'internal'
    if (isSentence || reader.says?.test(String(error))) return 'refused'
    return { fault: String((error as Error).stack ?? error) }
  }
}

/** Reads inputs until `enough` says so. */
export async function fuzz(
  reader: Reader,
  seed: number,
  enough: (tally: Tally) => boolean,
): Promise<Tally> {
  const tally: Tally = { reader: reader.name, inputs: 0, refused: 0, slowestMs: 0, finds: [] }
  const cached: Reader = {
    ...reader,
    seeds: (
      (all) => () =>
        all
    )(reader.seeds()),
  }
  while (!enough(tally)) {
    const number = tally.inputs
    const input = inputOf(cached, seed, number)
    const started = performance.now()
    const end = await endOf(reader, input)
    const ms = performance.now() - started
    tally.inputs += 1
    tally.slowestMs = Math.max(tally.slowestMs, ms)
    if (end === 'refused') tally.refused += 1
    const slow = ms > mostMs ? `${Math.round(ms)} ms` : null
    const what = typeof end === 'object' ? end.fault : slow
    if (what !== null) tally.finds.push({ reader: reader.name, seed, number, what })
  }
  return tally
}
