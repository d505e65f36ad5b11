import type { CallName, Reply } from '../../src-main/contract'

/** How calls and events travel. What arrives is unchecked; the client validates it. */
export interface Transport {
  readonly kind: 'electron' | 'web' | 'static'
  call(name: CallName, input: unknown, signal: AbortSignal): Promise<Reply<unknown>>
  /** Hands a file of the reader's over; absent where nothing can be imported. */
  importFile?(file: File, signal: AbortSignal): Promise<Reply<unknown>>
  /** Lets the reader choose a folder; null where they chose none. Absent where there is no dialog for it. */
  chooseFolder?(): Promise<string | null>
  subscribe(listener: Listener): () => void
}

export interface Listener {
  message(message: unknown): void
  /** The line was down and is up again: messages may have been missed. */
  reconnected(): void
  /** The line is down; it is tried again without being asked. */
  lost(): void
}
