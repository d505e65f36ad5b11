/// <reference types="vite/client" />
import type { CallName, Reply, RunMessage } from '../src-main/contract'

declare global {
  interface Window {
    /** The bridge exposed by Electron's preload script; absent in a browser. */
    kernelLadder?: {
      call(name: CallName, input: unknown): Promise<Reply<unknown>>
      chooseFolder(): Promise<string | null>
      importFile(file: File): Promise<Reply<unknown>>
      subscribe(listener: (message: RunMessage) => void): () => void
    }
  }
}
