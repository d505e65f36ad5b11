/** Host code of libraries that a real nvcc built, honest and hostile ones, and what is said of it. */
import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { hostCodeFault } from '../../../src-main/domain/labs/host-code'
import { inEnglish } from '../../../src-main/domain/text/text'
import { hostCodeOf } from '../../../src-main/parsers/cubin/host-code'
import { libraries } from '../../captures/host-code.json'

type Name = keyof typeof libraries

const libraryOf = (name: Name): Uint8Array =>
  brotliDecompressSync(Buffer.from(libraries[name].library, 'base64'))

const faultOf = (name: Name): string | null => {
  const fault = hostCodeFault(hostCodeOf(libraryOf(name))!)
  return fault === null ? null : inEnglish(fault)
}

describe('the host code of a library', () => {
  it.each(['plain', 'library'] as const)('launches kernels: %s', (name) => {
    expect(hostCodeOf(libraryOf(name))!.unasked).toEqual([])
    expect(faultOf(name)).toBeNull()
  })

  it.each([
    ['constructor', '_ZL5earlyv'],
    ['object', '_GLOBAL__sub_I'],
    ['destructor', '_ZL4latev'],
    ['initArray', '.init_array'],
    ['init', '.init'],
    ['resolver', 'chosen'],
    ['forged', '.init_array'],
  ] as const)('that runs without being called is named: %s', (name, symbol) => {
    expect(hostCodeOf(libraryOf(name))!.unasked).toEqual([symbol])
    expect(faultOf(name)).toBe(
      `Host code of a submission may only launch its kernels, so nothing of it was run. The code runs on the host without being called, when it is loaded or unloaded (${symbol}).`,
    )
  })

  it('that reaches for processes, memory, other code and files is named', () => {
    expect(hostCodeOf(libraryOf('calls'))!.unasked).toEqual([])
    const said = faultOf('calls')
    for (const word of ['dlsym', 'fork', 'mprotect', 'ptrace', 'basic_filebuf', 'St6thread'])
      expect(said).toContain(word)
    for (const word of ['cudaGetLastError', '__cxa_atexit', 'getppid'])
      expect(said).not.toContain(word)
  })

  it('is none in what is no library, and damaged in a part of one', () => {
    expect(hostCodeOf(Buffer.from('// rung: 01_naive\n'))).toBeNull()
    const whole = libraryOf('constructor')
    for (const length of [8, 64, 4000, whole.length - 1])
      expect(() => hostCodeOf(whole.subarray(0, length))).toThrow(/^The machine code is damaged/)
  })
})
