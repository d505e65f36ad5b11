/** The type of a fuzzed reader, with the real inputs to damage. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { capture } from '../captures'

export interface Reader {
  name: string
  /** Small inputs, which a reader parses in microseconds. */
  seeds: () => (string | Uint8Array)[]
  /** Complete files, which are used for only a few inputs. */
  large?: () => (string | Uint8Array)[]
  /** Returns the parsed value. A non-finite number in the parsed value is a bug. */
  read: (input: never) => unknown
  /** Matches a library's error for damaged input, if the reader passes the error on. */
  says?: RegExp
  /**
   * Whether every number in the result must occur in the text. True if the reader neither
   * calculates nor converts numbers.
   */
  literal?: boolean
}

export const root = join(import.meta.dirname, '../..')

export const file = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Returns the stderr and stdout of a captured tool call. */
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

/** Throws an error if a value changed in a round trip. */
export function alike(what: string, a: unknown, b: unknown): void {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)]
  if (one !== other)
    throw new Error(`${what}: ${one?.slice(0, 200)} is not ${other?.slice(0, 200)}`)
}

/** Returns a recording's session.json text. */
export function sessionText(recording: string): string {
  const mark = `{"session":"${recording}",`
  const row = file('resources/recordings/sessions.jsonl')
    .split('\n')
    .find((line) => line.startsWith(mark))
  if (row === undefined) throw new Error(`No recording is named ${recording}.`)
  return `{${row.slice(mark.length)}`
}
