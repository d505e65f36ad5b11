/** Terminal output: one JSON document or text on stdout, everything else on stderr. */
import type { z } from 'zod'
import type { Statement } from '../../domain/messages/message'
import { inEnglish, withText } from '../../domain/text/english'
import { errorCode } from '../../adapters/disk/disk'
import { KernelLadderError, type ErrorShape } from '../../domain/errors'
import type { DocumentKind, FieldsOf } from './documents/document'
import { printable } from './printable'

/** The reader is gone: `| head` has seen enough, or the terminal was closed. */
const readerGone = ['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']

let refused: Error | null = null

/**
 * Keeps working when nobody reads the output: a run is still saved and exits with its own code. A stdout
 * that cannot take the text (a full disk) is reported by `checkOutput`.
 */
export function outliveReaders(): void {
  // When stderr fails, there is nowhere left to report it.
  process.stderr.on('error', () => undefined)
  process.stdout.on('error', (error) => {
    if (!readerGone.includes(errorCode(error) ?? '')) refused ??= error
  })
}

/** Throws if stdout refused what was printed. */
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

/** Prints a command's one document. Each statement gets its English text beside it, for scripts. */
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

/** Passes on what a program prints, unchanged; pending while its reader has not taken it. */
export function passOn(stream: 'stdout' | 'stderr', text: string): Promise<void> | void {
  let taken: () => void = () => undefined
  // Called as well when the reader is gone.
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

/** While sessions are read for the index, which happens once. */
export const noteReading = (count: number): void => {
  note(`Reading ${count} sessions for the list; the next time it is there at once…`)
}

/** `ladder.yaml:21:5: …` */
const placed = /^(\S[^\n]*?:\d+(?::\d+)?): ([\s\S]*)$/

/** As compilers write it, so that editors find the place: `ladder.yaml:21:5: error: …`; without a place, `error: …`. */
export function problemText(text: string, word = 'error'): string {
  const [, place, rest] = placed.exec(text) ?? []
  return place === undefined ? `${word}: ${text}` : `${place}: ${word}: ${rest}`
}

/** A remedy with several ways out has a line for each. */
export function remedyLines(remedy: Statement | undefined): string[] {
  const ways = typeof remedy === 'object' && 'sentences' in remedy ? remedy.sentences : [remedy]
  return ways.flatMap((way) => (way ? [inEnglish(way)] : []))
}

export function printError({ kind, message, remedy }: ErrorShape): void {
  note(problemText(inEnglish(message), kind === 'internal' ? 'internal error' : 'error'))
  // A remedy that has a place is a fault of its own.
  for (const then of remedyLines(remedy)) note(placed.test(then) ? problemText(then) : `  ${then}`)
}
