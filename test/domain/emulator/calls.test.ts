import { describe, expect, it } from 'vitest'
import { placeOf, printedLines, stopReason } from '../../../src-main/domain/emulation/findings'
import { emulate, type EmulationJob } from '../../../src-main/domain/emulation/job'
import { dummyAddress, firstSymbol } from '../../../src-main/domain/emulator/rung'
import { inEnglish } from '../../../src-main/domain/text/english'
import { readCubin } from '../../../src-main/parsers/cubin/cubin'
import { packedRow } from '../../captures'
import { placesOf } from '../../emulated-captures'
import { printf } from '../../../src-main/domain/emulator/printf'
import { isToolkitHeader } from '../../../src-main/domain/sass/line-table'

const kept = packedRow('cubins.jsonl', 'calls.cubin')
const machineCode = [readCubin(kept.bytes)]
const source = kept.source.split('\n')
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

describe('calls to functions outside a kernel', () => {
  it('print output thread by thread', () => {
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

  it('report a failed assertion with its thread', () => {
    expect(run('asserts', 80).reason).toBeNull()
    expect(run('asserts', 75).reason).toBe(
      `Assertion \`i < n\` failed (calls.cu:${lineOf('fails')}), thread (35, 0, 0) of block (1, 0, 0).`,
    )
  })

  it('nest as deeply as the stack allows', () => {
    expect(run('recurses', 10).out[64]).toBeCloseTo(55 + 10 * 0.125)
    expect(run('recurses', 200).reason).toBe(
      `The rung’s calls need more than a thread’s 1024 bytes of stack (calls.cu:${lineOf('nests')}), thread (0, 0, 0) of block (0, 0, 0). Reduce the recursion depth, or raise the limit (cudaDeviceSetLimit, cudaLimitStackSize).`,
    )
    expect(run('recurses', 50, { stackBytes: 8192 }).reason).toBeNull()
  })

  it('read the data that the host copied into variables', () => {
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

it('the emulator reports a fault in a CUDA header at the line of the call in user code', () => {
  const { bytes, source } = packedRow('cubins.jsonl', 'headers.cubin')
  const [kernel] = readCubin(bytes).kernels
  const line = source.split('\n').findIndex((text) => text.endsWith('// outside')) + 1
  const files = Array.from({ length: kernel!.code.length / 16 }, (_, index) =>
    placeOf(
      { kernel: kernel!, name: 'readsBeyond', grid: [1, 1, 1], block: [32, 1, 1] },
      16 * index,
      (path) => path.split('/').at(-1)!,
    ),
  )
  expect(new Set(files.map(({ file }) => file))).toEqual(new Set(['headers.cu']))
  expect(files[0xa0 / 16]).toMatchObject({ file: 'headers.cu', line })
  expect(
    isToolkitHeader(
      '/home/ada/cuda/.cache/kernel-ladder/build/0123456789abcdef0123456789abcdef/src/include/own.cuh',
    ),
  ).toBe(false)
  expect(isToolkitHeader('/usr/include/cuda_fp16.hpp')).toBe(true)
})

/** Formats the given strings, bigints (as integers), and doubles. */
const print = (format: string, ...given: (string | bigint | number)[]): string => {
  const rest = [...given]
  const next = () => rest.shift()
  return printf(format, {
    bits: (bytes) => BigInt.asUintN(8 * bytes, next() as bigint),
    double: () => next() as number,
    text: () => next() as string,
  })
}

/** Test cases: a format, the arguments, and glibc's output. */
const printed: [string, (string | bigint | number)[], string][] = [
  [
    '%d|%5d|%-5d|%05d|%+d|% d|%.3d|%5.3d',
    [42n, 42n, 42n, 42n, 42n, 42n, 7n, 7n],
    '42|   42|42   |00042|+42| 42|007|  007',
  ],
  [
    '%i|%u|%x|%X|%#x|%o|%#o|%08x',
    [-1n, 4294967295n, 48879n, 48879n, 255n, 8n, 8n, 48879n],
    '-1|4294967295|beef|BEEF|0xff|10|010|0000beef',
  ],
  [
    '%ld|%lld|%lu|%hhd|%hd|%zu',
    [-5000000000n, 9007199254740993n, 18446744073709551615n, 300n, 70000n, 7n],
    '-5000000000|9007199254740993|18446744073709551615|44|4464|7',
  ],
  [
    '%f|%.2f|%8.3f|%-8.1f|%+f|%08.2f|%.0f',
    [3.14159, 2.5, -1.5, 1.25, 0.5, -3.14159, 1e20],
    '3.141590|2.50|  -1.500|1.2     |+0.500000|-0003.14|100000000000000000000',
  ],
  [
    '%e|%.2E|%g|%g|%g|%G|%#g|%.3g',
    [12345.678, 0.00012, 1e-5, 100000, 1e6, 1e-10, 1, 1234.5],
    '1.234568e+04|1.20E-04|1e-05|100000|1e+06|1E-10|1.00000|1.23e+03',
  ],
  ['%f|%F|%e|%5g|%f', [Infinity, -Infinity, NaN, 0, -0], 'inf|-INF|nan|    0|-0.000000'],
  ['%a|%a|%a', [1, 0.15625, -3], '0x1p+0|0x1.4p-3|-0x1.8p+1'],
  [
    '%c|%s|%10s|%-10s|%.2s|%%|%*d|%-*d|%.*f',
    [120n, 'text', 'text', 'text', 'text', 6n, 42n, 6n, 42n, 2n, 1.005],
    'x|text|      text|text      |te|%|    42|42    |1.00',
  ],
  ['%f|%.3f', [1e22, 2 ** 76], '10000000000000000000000.000000|75557863725914323419136.000'],
  ['%p|%y|100%', [0x7f0000010000n], '0x7f0000010000|%y|100%'],
]

describe('printf', () => {
  it.each(printed)('%s prints as in C', (format, given, expected) => {
    expect(print(format, ...given)).toBe(expected)
  })
})
