/** What is fuzzed, and the real inputs that are damaged. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { capture } from '../captures'

export interface Reader {
  name: string
  /** Small enough for a reader to take microseconds. */
  seeds: () => (string | Uint8Array)[]
  /** Whole files, of which a few inputs are made. */
  large?: () => (string | Uint8Array)[]
  /** What was read; a number in it that is none is a misread. */
  read: (input: never) => unknown
  /** How a library says that its input is damaged, where that is passed on. */
  says?: RegExp
  /** Whether each number that was read stands in the text, where none is calculated or converted. */
  literal?: boolean
}

export const root = join(import.meta.dirname, '../..')

export const file = (path: string): string => readFileSync(join(root, path), 'utf8')

/** What a tool printed, both streams. */
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

/** A value that does not come back as it was is a misread. */
export function alike(what: string, a: unknown, b: unknown): void {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)]
  if (one !== other)
    throw new Error(`${what}: ${one?.slice(0, 200)} is not ${other?.slice(0, 200)}`)
}

/** The session.json of a recording. */
export function sessionText(recording: string): string {
  const mark = `{"session":"${recording}",`
  const row = file('resources/recordings/sessions.jsonl')
    .split('\n')
    .find((line) => line.startsWith(mark))
  if (row === undefined) throw new Error(`No recording is named ${recording}.`)
  return `{${row.slice(mark.length)}`
}
