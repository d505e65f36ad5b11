/**
 * Tests jobs that run a kernel repeatedly with different buffer contents. State that a kernel keeps
 * between launches must not affect the result.
 */
import { describe, expect, it } from 'vitest'
import { emulate, type EmulationJob } from '../../../src-main/domain/emulation/job'
import { dummyAddress, firstAllocation } from '../../../src-main/domain/emulator/rung'
import { readCubin } from '../../../src-main/parsers/cubin/cubin'
import { packedRow } from '../../captures'

const threads = 32
const machineCode = [readCubin(packedRow('cubins.jsonl', 'state.cubin').bytes)]
const floats = (of: (index: number) => number): Uint8Array =>
  new Uint8Array(Float32Array.from({ length: threads }, (_, index) => of(index)).buffer)
const doubled = floats((index) => 2 * index)

function answerOf(kernel: string, changes: Partial<EmulationJob> = {}) {
  const pointers = new BigUint64Array([dummyAddress(1), dummyAddress(2)])
  return emulate({
    machineCode,
    launches: [
      {
        kernel,
        grid: [1, 1, 1],
        block: [threads, 1, 1],
        dynamicSharedBytes: 0,
        arguments: new Uint8Array(pointers.buffer),
      },
    ],
    memory: [],
    workspaceBytes: 0,
    symbols: [],
    stackBytes: null,
    buffers: [
      {
        name: 'in',
        bytes: 4 * threads,
        contents: floats((index) => index),
        earlier: floats((index) => 100 + index),
        writable: false,
      },
      { name: 'out', bytes: 4 * threads, contents: null, earlier: null, writable: true },
    ],
    checks: false,
    limit: 1e6,
    memoryBytes: 2 ** 24,
    ...changes,
  })
}

const right = (outputs: ReadonlyMap<string, Uint8Array>): boolean =>
  Buffer.from(outputs.get('out')!).equals(Buffer.from(doubled))

describe('a job that repeats a kernel with different inputs', () => {
  it('runs until its persistent state no longer changes', () => {
    const { outputs, again, unsettled, kernels } = answerOf('resets')
    expect([outputs, ...again].map(right)).toEqual([true, true])
    expect(unsettled).toBe(false)
    expect(kernels).toHaveLength(1)
  })

  it('detects results computed from earlier inputs', () => {
    expect(right(answerOf('remembers').outputs)).toBe(false)
  })

  it('detects a kernel that is correct only in every other launch', () => {
    const { outputs, again } = answerOf('alternates')
    expect([outputs, ...again].map(right)).toContain(false)
  })

  it('reports unsettled state for a kernel that counts its launches', () => {
    const { outputs, again, unsettled } = answerOf('counts')
    expect([outputs, ...again].every(right)).toBe(true)
    expect(unsettled).toBe(true)
  })

  it('runs once if a kernel cannot keep state', () => {
    const [own] = machineCode
    const without = answerOf('stateless', { machineCode: [{ ...own!, globals: [] }] })
    expect(right(without.outputs)).toBe(true)
    expect(without.again).toEqual([])
    expect(right(answerOf('stateless', { checks: true }).outputs)).toBe(true)
  })

  it('also compares the workspace', () => {
    const [own] = machineCode
    const { again, unsettled } = answerOf('stateless', {
      machineCode: [{ ...own!, globals: [] }],
      workspaceBytes: 64,
    })
    expect(again.map(right)).toEqual([true])
    expect(unsettled).toBe(false)
  })

  describe('with rung-allocated memory', () => {
    const own = dummyAddress(firstAllocation)
    const bytes = 4 * threads
    const withOwn = (from: bigint, to: bigint, changes: Partial<EmulationJob>) =>
      answerOf('stateless', {
        machineCode: [{ ...machineCode[0]!, globals: [] }],
        allocations: [bytes],
        launches: [
          {
            ...{ kernel: 'stateless', grid: [1, 1, 1], block: [threads, 1, 1] },
            dynamicSharedBytes: 0,
            arguments: new Uint8Array(new BigUint64Array([from, to]).buffer),
          },
        ],
        ...changes,
      })

    it('detects results left by the previous launch', () => {
      const late = [{ before: 0, to: dummyAddress(2), from: own, value: 0, bytes }]
      const { outputs, again } = withOwn(dummyAddress(1), own, { memory: late })
      expect(right(outputs)).toBe(false)
      expect(again.map(right)).toEqual([true])
    })

    it('detects contents that change with every launch', () => {
      const ones = { before: 0, to: own, from: null, value: 0x3f, bytes }
      const prepared = { launches: [], memory: [ones] }
      expect(withOwn(own, own, { prepared }).unsettled).toBe(true)
    })
  })

  it('does one-time work only once, while the buffers contain no data', () => {
    const own = dummyAddress(firstAllocation)
    const bytes = 4 * threads
    const copied = { to: own, from: dummyAddress(1), value: 0, bytes }
    const { outputs, again } = answerOf('stateless', {
      allocations: [bytes],
      prepared: { launches: [], memory: [{ ...copied, before: 0 }] },
      memory: [{ ...copied, before: 1, to: dummyAddress(2), from: own }],
    })
    const unwritten = Buffer.alloc(bytes, 0xff)
    for (const each of [outputs, ...again]) expect(Buffer.from(each.get('out')!)).toEqual(unwritten)
  })
})
