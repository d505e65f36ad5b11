/**
 * Declares the part of the WebAssembly API that the emulator uses. TypeScript declares the
 * WebAssembly API only as part of the DOM library.
 */
declare namespace WebAssembly {
  class Memory {
    constructor(descriptor: { initial: number; maximum?: number })
    readonly buffer: ArrayBuffer
    grow(pages: number): number
  }
  interface Module {
    readonly [Symbol.toStringTag]: string
  }
  const Module: new (bytes: Uint8Array<ArrayBuffer>) => Module
  function validate(bytes: Uint8Array<ArrayBuffer>): boolean
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>)
    readonly exports: Record<string, unknown>
  }
}
