import type { CallName, Reply } from '../../src-main/contract'

/** Carries calls and events. Its data is unchecked; the client validates it. */
export interface Transport {
  readonly kind: 'electron' | 'web' | 'static'
  call(name: CallName, input: unknown, signal: AbortSignal): Promise<Reply<unknown>>
  /** Uploads a file of the user's; absent if nothing can be imported. */
  importFile?(file: File, signal: AbortSignal): Promise<Reply<unknown>>
  /** Lets the user choose a folder; null if they cancel. Absent if there is no folder dialog. */
  chooseFolder?(): Promise<string | null>
  subscribe(listener: Listener): () => void
}

export interface Listener {
  message(message: unknown): void
  /** The connection was lost and is back: messages may have been missed. */
  reconnected(): void
  /** The connection is lost; the transport reconnects by itself. */
  lost(): void
}
