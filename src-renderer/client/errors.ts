import { inEnglish } from '../../src-main/domain/text/text'
import type { Statement } from '../../src-main/domain/messages/message'
import type { ErrorKind, ErrorShape } from '../../src-main/domain/errors'

export type LineFault = 'timeout' | 'unreachable' | 'unauthorized' | 'malformed'

/** The core answered with an error; its message is shown as is. */
export class CoreError extends Error {
  override readonly name = 'CoreError'
  readonly kind: ErrorKind
  readonly statement: Statement
  readonly remedy: Statement | undefined

  constructor(shape: ErrorShape) {
    super(inEnglish(shape.message))
    this.statement = shape.message
    this.kind = shape.kind
    this.remedy = shape.remedy
  }
}

/** No usable answer arrived; the screen words the error in the user's language. */
export class LineError extends Error {
  override readonly name = 'LineError'
  readonly fault: LineFault
  readonly call: string

  constructor(fault: LineFault, call: string, options?: ErrorOptions) {
    super(`${fault}: ${call}`, options)
    this.fault = fault
    this.call = call
  }
}
