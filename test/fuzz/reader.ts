/** A fuzzed reader, and the real inputs that are damaged. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { capture } from '../captures'

export interface Reader {
  name: string
  /** Inputs small enough for a reader to take microseconds. */
  seeds: () => (string | Uint8Array)[]
  /** Whole files, used for a few inputs. */
  large?: () => (string | Uint8Array)[]
  /** Returns what was read; a non-finite number in it is a misread. */
  read: (input: never) => unknown
  /** Matches a library's own error for damaged input, if it is passed on. */
  says?: RegExp
  /** Whether every number that was read must be in the text, because none is calculated or converted. */
  literal?: boolean
}

export const root = join(import.meta.dirname, '../..')

export const file = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Returns a tool's output, both streams. */
export const both = (name: string): string => {
  const { stdout, stderr = '' } = capture(name)
  return `${stderr}\n${stdout}`
}

export const text = (
  name: string,
  seeds: () => string[],
  read: (input: string) => unknown,
  more: Pick<Reader, 'says' | 'large' | 'literal'> = {},
): Reader => ({ name, seeds, read, ...more })

export const bytes = (
  name: string,
  seeds: () => Uint8Array[],
  read: (input: Uint8Array) => unknown,
  more: Pick<Reader, 'large'> = {},
): Reader => ({ name, seeds, read: read as never, ...more })

/** Throws if a value changed in a round trip. */
export function alike(what: string, a: unknown, b: unknown): void {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)]
  if (one !== other)
    throw new Error(`${what}: ${one?.slice(0, 200)} is not ${other?.slice(0, 200)}`)
}

/** Returns the session.json of a recording. */
export function sessionText(recording: string): string {
  const mark = `{"session":"${recording}",`
  const row = file('resources/recordings/sessions.jsonl')
    .split('\n')
    .find((line) => line.startsWith(mark))
  if (row === undefined) throw new Error(`No recording is named ${recording}.`)
  return `{${row.slice(mark.length)}`
}
