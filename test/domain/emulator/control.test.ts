import { describe, expect, it } from 'vitest'
import { emulate } from '../../../src-main/domain/emulation/job'
import { dummyAddress } from '../../../src-main/domain/emulator/rung'
import { readCubin } from '../../../src-main/parsers/cubin/cubin'
import { packedRow } from '../../captures'

const machineCode = [readCubin(packedRow('cubins.jsonl', 'control.cubin').bytes)]
const threads = 64

/** Runs a kernel from control.cubin with one block of two warps. */
function run(kernel: string, n: number, stackBytes: number | null = null) {
  const parameters = new DataView(new ArrayBuffer(12))
  parameters.setBigUint64(0, dummyAddress(1), true)
  parameters.setInt32(8, n, true)
  const answer = emulate({
    machineCode,
    launches: [
      {
        ...{ kernel, grid: [1, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0 },
        arguments: new Uint8Array(parameters.buffer),
      },
    ],
    ...{ memory: [], workspaceBytes: 0, symbols: [], stackBytes, checks: true },
    buffers: [{ name: 'out', bytes: 4 * threads, writable: true, contents: null }],
    ...{ limit: 1e6, memoryBytes: 2 ** 24 },
  })
  return {
    out: [...new Int32Array(answer.outputs.get('out')?.slice().buffer ?? new ArrayBuffer(0))],
    stop: answer.stop,
    findings: answer.kernels.flatMap(({ findings }) => findings).slice(0, 1),
    instructions: answer.kernels[0]?.instructions ?? Infinity,
    readsClock: answer.kernels[0]?.readsClock,
  }
}

const each = (valueOf: (thread: number) => number): number[] =>
  Array.from({ length: threads }, (_, thread) => valueOf(thread))

const odd = (n: number): number => {
  if (n <= 0) return 0
  const first = 3 * even(n - 1)
  return first & 4 ? first + odd(n - 4) : first
}
const even = (n: number): number => {
  if (n <= 0) return 1
  const first = n % 3 === 0 ? odd(n - 2) : odd(n - 1)
  return first + (n & 1 ? even(n - 3) : 2)
}
const ackermann = (m: number, n: number): number =>
  m === 0 ? n + 1 : n === 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1))

/**
 * Returns the sum of a thread's `count` numbers. The thread reads the numbers with a stride of 7,
 * modulo `count`.
 */
const picked = (thread: number, count: number): number =>
  Array.from({ length: count }, (_, at) => ((7 * at) % count) + thread).reduce((a, b) => a + b)

describe('legal control flow in code from nvcc', () => {
  it('completes a named barrier after one warp arrives and exits', () => {
    const { out, stop, findings } = run('arrivesAndExits', 7)
    expect({ stop, findings }).toEqual({ stop: null, findings: [] })
    expect(out.slice(0, 32)).toEqual(Array.from({ length: 32 }, (_, at) => 7 + at))
  })

  it('completes __syncthreads without waiting for exited threads', () => {
    const { out, stop, findings } = run('meetsWithoutTheGone', 40)
    expect({ stop, findings }).toEqual({ stop: null, findings: [] })
    expect(out.slice(0, 40)).toEqual(Array.from({ length: 40 }, (_, at) => (at + 1) % 40))
  })

  it.each([
    ['callsByPointer', 7, (t: number) => (t % 2 === 0 ? 3 * t : t + 3)],
    ['callsVirtual', 7, (t: number) => (t % 2 === 0 ? t * t : 2 * t)],
    ['callEachOther', 12, (t: number) => even((7 * t) % 12)],
    ['callsItselfTwice', 12, (t: number) => ackermann(t % 3, t % 12)],
    ['growsItsStack', 7, (t: number) => picked(t, (t % 8) + 7)],
  ] as const)('%s', (kernel, n, valueOf) => {
    const { out, stop, findings } = run(kernel, n, 8192)
    expect({ stop, findings }).toEqual({ stop: null, findings: [] })
    expect(out).toEqual(each(valueOf))
  })

  it.each(['waitsForTheClock', 'waitsForTheLowClock', 'waitsForTheTimer'])(
    'ends a loop that waits for a clock, regardless of how long the wait is: %s',
    (kernel) => {
      expect(run(kernel, 500)).toMatchObject({ stop: null, out: each(() => 1), readsClock: true })
      const second = run(kernel, 1_000_000_000)
      expect(second).toMatchObject({ stop: null, out: each(() => 1) })
      expect(second.instructions).toBeGreaterThan(10_000)
    },
  )

  it('reports a stack overflow for an alloca larger than the stack', () => {
    expect(run('growsItsStack', 300).stop).toMatchObject({ kind: 'stack', detail: '1024' })
    expect(run('growsItsStack', 300, 2048).stop).toBeNull()
  })
})
