/**
 * Errors with a user-visible message. Each error has a message, an optional remedy, and a kind that
 * determines the CLI's exit code. Hosts convert errors to `ErrorShape` for transport.
 */
import { z } from 'zod'
import { inLines, message, messageOf, Statement } from './messages/message'
import { inEnglish } from './text/english'

const errorKinds = ['usage', 'input', 'missing', 'failed', 'cancelled', 'internal'] as const
export type ErrorKind = (typeof errorKinds)[number]

export const ErrorShape = z.object({
  kind: z.enum(errorKinds),
  message: Statement,
  /** One sentence that tells the user how to fix the problem. */
  remedy: Statement.optional(),
})
export type ErrorShape = z.infer<typeof ErrorShape>

export class KernelLadderError extends Error {
  override readonly name = 'KernelLadderError'
  readonly kind: ErrorKind
  /** The error message as a statement, so that UIs can translate it. */
  readonly statement: Statement
  readonly remedy: Statement | undefined

  constructor(kind: ErrorKind, statement: Statement, remedy?: Statement, options?: ErrorOptions) {
    super(inEnglish(statement), options)
    this.kind = kind
    this.statement = statement
    this.remedy = remedy
  }

  toShape(): ErrorShape {
    return {
      kind: this.kind,
      message: this.statement,
      ...(this.remedy === undefined ? {} : { remedy: this.remedy }),
    }
  }
}

/** Returns an error for invalid usage or input (exit code 2). */
export const inputError = (message: Statement, remedy?: Statement): KernelLadderError =>
  new KernelLadderError('input', message, remedy)

/** Combines several problems with an input into one error, with one problem per line. */
export const inputErrors = ([first, ...more]: readonly [
  Statement,
  ...Statement[],
]): KernelLadderError => inputError(first, more.length === 0 ? undefined : inLines(more))

/** Returns an error for something missing on this machine (exit code 3). */
export const missingError = (message: Statement, remedy?: Statement): KernelLadderError =>
  new KernelLadderError('missing', message, remedy)

/** Returns a thrown value's text. */
export const errorText = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** Returns a schema error's first issue and its location, on one line. */
export function schemaFault({ issues }: z.ZodError): string {
  const [{ path, message: text } = { path: [], message: 'invalid' }] = issues
  const place = z.core.toDotPath(path)
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return `${inEnglish(messageOf(text)).replace(/^Invalid input: /, '')}${place === '' ? '' : `, at ${place}`}${more}.`
}

/** Returns whether the process or the system has reached its open-file limit. */
const isOutOfFiles = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE')

/** Converts a thrown value to a serializable shape. Errors of unknown types become `internal`. */
export function toErrorShape(error: unknown): ErrorShape {
  if (error instanceof KernelLadderError) return error.toShape()
  if (isOutOfFiles(error))
    return missingError(
      message('files.tooManyOpen', { text: errorText(error) }),
      message('files.raiseLimit'),
    ).toShape()
  return { kind: 'internal', message: errorText(error) }
}

/**
 * Exit codes of the CLI: 0 success, 1 failure, 2 invalid usage or input, 3 missing on this machine.
 */
export const exitCodes: Record<ErrorKind, 1 | 2 | 3> = {
  usage: 2,
  input: 2,
  missing: 3,
  failed: 1,
  cancelled: 1,
  internal: 1,
}
