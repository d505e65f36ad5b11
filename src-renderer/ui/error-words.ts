import type { Statement } from '../../src-main/domain/messages/message'
import { CoreError, LineError } from '../client/errors'

/** Keys below `errors.` in the locale, or the core's own message. */
export type ErrorWords =
  | { from: 'core'; message: Statement; remedy: Statement | undefined }
  | { from: 'line'; key: LineError['fault']; call: string }

export function errorWords(error: unknown): ErrorWords {
  if (error instanceof LineError) return { from: 'line', key: error.fault, call: error.call }
  if (error instanceof CoreError)
    return { from: 'core', message: error.statement, remedy: error.remedy }
  return {
    from: 'core',
    message: error instanceof Error ? error.message : String(error),
    remedy: undefined,
  }
}
