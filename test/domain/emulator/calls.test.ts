import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { printedLines, stopReason } from '../../../src-main/domain/emulation/findings'
import { emulate, type EmulationJob } from '../../../src-main/domain/emulation/job'
import { dummyAddress, firstSymbol } from '../../../src-main/domain/emulator/rung'
import { inEnglish } from '../../../src-main/domain/text/text'
import { readCubin } from '../../../src-main/parsers/cubin/cubin'
import { placesOf } from '../../emulated-captures'

const folder = join(import.meta.dirname, '../../captures/cubin')
const machineCode = [readCubin(brotliDecompressSync(readFileSync(join(folder, 'calls.cubin.br'))))]
const source = readFileSync(join(folder, 'calls.cu'), 'utf8').split('\n')
const lineOf = (comment: string): number =>
  source.findIndex((line) => line.endsWith(`// ${comment}`)) + 1

function run(kernel: string, n: number, more: Partial<EmulationJob> = {}) {
  const parameters = new DataView(new ArrayBuffer(12))
  parameters.setBigUint64(0, dummyAddress(1), true)
  parameters.setInt32(8, n, true)
  const job: EmulationJob = {
    machineCode,
    launches: [
      {
        ...{ kernel, grid: [2, 1, 1], block: [40, 1, 1], dynamicSharedBytes: 0 },
        arguments: new Uint8Array(parameters.buffer),
      },
    ],
    ...{ memory: [], workspaceBytes: 0, symbols: [], stackBytes: null, checks: false },
    buffers: [
      {
        ...{ name: 'out', bytes: 1024, writable: true },
        contents: new Uint8Array(Float32Array.from({ length: 256 }, (_, at) => at + 0.125).buffer),
      },
    ],
    ...{ limit: 1e5, memoryBytes: 2 ** 24 },
    ...more,
  }
  const answer = emulate(job)
  const places = placesOf(job)
  const file = (path: string): string => path.split('/').at(-1)!
  return {
    out: new Float32Array(answer.outputs.get('out')?.slice().buffer ?? new ArrayBuffer(0)),
    reason: answer.stop && inEnglish(stopReason(answer.stop, places[0], file)),
    printed: printedLines('01_own', answer, places).map((said) => inEnglish(said)),
  }
}

describe('what kernels call that is not in them', () => {
  it('prints, thread by thread', () => {
    const { printed, reason, out } = run('prints', 42)
    expect(reason).toBeNull()
    expect(out[79]).toBe(79)
    expect(printed.slice(0, 2)).toEqual([
      '01_own, thread (0, 0, 0) of block (0, 0, 0): 0 of block: 0.12',
      '01_own, thread (1, 0, 0) of block (0, 0, 0): 1 of block: 1.12',
    ])
    expect(printed.at(-1)).toBe('01_own printed 10 times more.')
    expect(run('prints', 1).printed).toHaveLength(1)
  })

  it('names the assertion that failed, with its thread', () => {
    expect(run('asserts', 80).reason).toBeNull()
    expect(run('asserts', 75).reason).toBe(
      `Assertion \`i < n\` failed (calls.cu:${lineOf('fails')}), thread (35, 0, 0) of block (1, 0, 0).`,
    )
  })

  it('nests calls as deep as the stack is', () => {
    expect(run('recurses', 10).out[64]).toBeCloseTo(55 + 10 * 0.125)
    expect(run('recurses', 200).reason).toBe(
      `Its calls need more than the 1024 bytes of stack that a thread has (calls.cu:${lineOf('nests')}), thread (0, 0, 0) of block (0, 0, 0): recursion that is too deep, or a limit to raise (cudaDeviceSetLimit, cudaLimitStackSize).`,
    )
    expect(run('recurses', 50, { stackBytes: 8192 }).reason).toBeNull()
  })

  it('has in variables what the host copied there', () => {
    const floats = (...values: number[]) => new Uint8Array(new Float32Array(values).buffer)
    const to = (place: number, offset: number) => dummyAddress(firstSymbol + place) + BigInt(offset)
    const copy = { before: 0, value: 0 }
    const { out, reason } = run('scales', 2, {
      symbols: ['table', 'factors'],
      memory: [
        { ...copy, to: to(0, 0), from: floats(1, 2, 3, 4), bytes: 16 },
        { ...copy, to: to(1, 8), from: floats(10), bytes: 4 },
      ],
    })
    expect(reason).toBeNull()
    expect([...out.slice(0, 6)]).toEqual([10, 20, 30, 40, 10, 20])
  })
})
