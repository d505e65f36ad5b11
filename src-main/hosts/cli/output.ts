/**
 * Prints terminal output. A JSON document or text goes to stdout, and everything else goes to
 * stderr.
 */
import type { z } from 'zod'
import type { Statement } from '../../domain/messages/message'
import { inEnglish, withText } from '../../domain/text/english'
import { errorCode } from '../../adapters/disk/disk'
import { KernelLadderError, type ErrorShape } from '../../domain/errors'
import type { DocumentKind, FieldsOf } from './documents/document'
import { printable } from './printable'

/**
 * Error codes for output that nobody reads, because `| head` exited or the terminal was closed.
 */
const readerGone = ['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']

let refused: Error | null = null

/**
 * Keeps the program running if nobody reads its output, so that a run is still saved and returns
 * its own exit code. If stdout rejects the text, for example on a full disk, `checkOutput` reports
 * the error.
 */
export function outliveReaders(): void {
  // If stderr fails, there is no way to report the failure.
  process.stderr.on('error', () => undefined)
  process.stdout.on('error', (error) => {
    if (!readerGone.includes(errorCode(error) ?? '')) refused ??= error
  })
}

/** Throws an error if stdout rejected the output. */
export async function checkOutput(): Promise<void> {
  await new Promise<void>((flushed) => {
    process.stdout.write('', () => {
      flushed()
    })
  })
  if (refused)
    throw new KernelLadderError(
      'failed',
      errorCode(refused) === 'ENOSPC' || errorCode(refused) === 'EDQUOT'
        ? 'Could not write to stdout: the disk is full.'
        : `Could not write to stdout: ${refused.message}.`,
      'Free some space, or redirect the output elsewhere.',
    )
}

/**
 * Prints a command's only JSON document. Adds the English text to each statement, so that scripts
 * need no message templates.
 */
export function printJson<Fields extends z.ZodRawShape>(
  { version }: DocumentKind<Fields>,
  fields: FieldsOf<Fields>,
): void {
  const document = withText({ schema: version, ...fields })
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
}

export const printText = (text: string): void => {
  process.stdout.write(`${printable(text)}\n`)
}

/**
 * Forwards a program's output unchanged. The promise resolves when the reader has consumed the
 * output.
 */
export function passOn(stream: 'stdout' | 'stderr', text: string): Promise<void> | void {
  let taken: () => void = () => undefined
  // This callback also runs if the reader has exited.
  const hasRoom = process[stream].write(text, () => {
    taken()
  })
  if (!hasRoom)
    return new Promise((resolve) => {
      taken = resolve
    })
}

export const note = (text: string): void => {
  process.stderr.write(`${printable(text)}\n`)
}

/** Prints a note that sessions are being read to build the index. The index is built only once. */
export const noteReading = (count: number): void => {
  note(`Reading ${count} sessions for the list; next time, it appears immediately…`)
}

/** Matches a location such as `ladder.yaml:21:5: …`. */
const placed = /^(\S[^\n]*?:\d+(?::\d+)?): ([\s\S]*)$/

/**
 * Formats a problem like a compiler error, so that editors find the location: `ladder.yaml:21:5:
 * error: …`. Without a location, the text begins with `error: …`.
 */
export function problemText(text: string, word = 'error'): string {
  const [, place, rest] = placed.exec(text) ?? []
  return place === undefined ? `${word}: ${text}` : `${place}: ${word}: ${rest}`
}

/** Returns a remedy's lines, one per alternative. */
export function remedyLines(remedy: Statement | undefined): string[] {
  const ways = typeof remedy === 'object' && 'sentences' in remedy ? remedy.sentences : [remedy]
  return ways.flatMap((way) => (way ? [inEnglish(way)] : []))
}

export function printError({ kind, message, remedy }: ErrorShape): void {
  note(problemText(inEnglish(message), kind === 'internal' ? 'internal error' : 'error'))
  // A remedy line with a source location is itself an error, so print it as one.
  for (const then of remedyLines(remedy)) note(placed.test(then) ? problemText(then) : `  ${then}`)
}
