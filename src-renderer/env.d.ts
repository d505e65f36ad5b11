/// <reference types="vite/client" />

interface Window {
  /** The bridge that Electron's preload script exposes, or undefined in a browser. */
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

/** Translations in YAML files, imported through scripts/vite/yaml-modules.ts. */
declare module '*.yaml' {
  const words: import('./ui/authored').Translations
  export default words
}
