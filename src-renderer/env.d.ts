/// <reference types="vite/client" />

interface Window {
  /** The bridge exposed by Electron's preload script; absent in a browser. */
  kernelLadder?: {
    call(
      name: import('../src-main/contract').CallName,
      input: unknown,
    ): Promise<import('../src-main/contract').Reply<unknown>>
    chooseFolder(): Promise<string | null>
    importFile(file: File): Promise<import('../src-main/contract').Reply<unknown>>
    subscribe(listener: (message: import('../src-main/contract').RunMessage) => void): () => void
  }
}

/** Translations, as imported by scripts/vite/yaml-modules.ts. */
declare module '*.yaml' {
  const words: import('./ui/authored').Translations
  export default words
}
