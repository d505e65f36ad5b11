import type { CallName, Reply } from '../../src-main/contract'

/** How calls and events travel. What arrives is unchecked; the client validates it. */
export interface Transport {
  readonly kind: 'electron' | 'web' | 'static'
  call(name: CallName, input: unknown, signal: AbortSignal): Promise<Reply<unknown>>
  /** Hands a file of the reader's over; absent where nothing can be imported. */
  importFile?(file: File, signal: AbortSignal): Promise<Reply<unknown>>
  subscribe(listener: Listener): () => void
}

export interface Listener {
  message(message: unknown): void
  /** The line was down and is up again: messages may have been missed. */
  reconnected(): void
  /** The line is down; it is tried again without being asked. */
  lost(): void
}
