import { describe, expect, it } from 'vitest'
import { createDevice } from '../../../src-main/domain/emulator/device'
import { dummyAddress, runRung } from '../../../src-main/domain/emulator/rung'
import { Halt } from '../../../src-main/domain/emulator/warp'
import { type MachineCode } from '../../../src-main/domain/sass/machine-code'
import { readCubin } from '../../../src-main/parsers/cubin/cubin'
import { packedRow } from '../../captures'
import { placesOf } from '../../../src-main/domain/sass/line-table'

const kept = packedRow('cubins.jsonl', 'faults.cubin')
const machineCode = readCubin(kept.bytes)
const source = kept.source.split('\n')

/** Returns the number of the line in a function whose trailing comment names the fault. */
function lineOf(name: string, fault: string): number {
  const first = source.findIndex((line) => line.includes(` ${name}(`))
  return source.findIndex((line, index) => index > first && line.endsWith(`// ${fault}`)) + 1
}

interface Setup {
  n: number
  blocks?: number
  threads?: number
  /** Number of floats in the buffer. `shared` counts the floats in dynamic shared memory. */
  floats?: number
  shared?: number
  checks?: boolean
  /** The machine code to run. `values` are the buffer's initial contents. */
  code?: MachineCode
  values?: readonly number[]
}

function run(kernel: string, setup: Setup) {
  const { n, blocks = 1, threads = 64, floats = 256, shared = 64, checks = true } = setup
  const { code = machineCode, values = [] } = setup
  const device = createDevice()
  const out = device.allocate('out', 4 * floats)
  new Float32Array(device.memory.buffer, out.offset, floats).set(values)
  const parameters = new DataView(new ArrayBuffer(12))
  parameters.setBigUint64(0, dummyAddress(1), true)
  parameters.setInt32(8, n, true)
  const [launched] = runRung({
    device,
    machineCode: [code],
    launches: [
      {
        kernel,
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        dynamicSharedBytes: 4 * shared,
        arguments: new Uint8Array(parameters.buffer),
      },
    ],
    memory: [],
    buffers: new Map([[1, out]]),
    options: { limit: 1e5, checks, written: [] },
  })
  const { lines } = launched!.kernel
  return {
    out: new Float32Array(device.memory.buffer, out.offset, floats),
    counts: launched!.result.counts,
    findings: launched!.result.findings.map(({ at, other, ...finding }) => ({
      ...finding,
      line: placesOf(lines, 16 * at)[0]?.line,
      otherLine: other && placesOf(lines, 16 * other.at)[0]?.line,
    })),
  }
}

describe('a fault in code from nvcc', () => {
  it.each([
    ['outsideStore', 'outside-global', { n: 128, blocks: 3, floats: 128, checks: false }, 0, 2],
    ['misalignedLoad', 'misaligned', { n: 0, threads: 32, checks: false }, 0, 0],
    ['outsideShared', 'outside-shared', { n: 8, checks: false }, 56, 0],
    ['missingBarrier', 'race', { n: 1 }, 32, 0],
    ['unwrittenShared', 'unwritten-shared', { n: 1 }, 4, 0],
    ['unwrittenGlobal', 'unwritten-global', { n: 64 }, 0, 0],
    ['barrierInBranch', 'divergent-barrier', { n: 1, checks: false }, 0, 0],
  ] as [string, string, Setup, number, number][])(
    'is reported with its line, thread, and block in %s: %s',
    (kernel, kind, setup, thread, block) => {
      const { findings } = run(kernel, setup)
      const line = lineOf(kernel, kind)
      const [found] = findings.filter((finding) => finding.kind === kind && finding.line === line)
      expect(found, JSON.stringify(findings[0])).toMatchObject({ thread, block })
    },
  )

  it('is reported with both locations if it is a race', () => {
    const { findings } = run('missingBarrier', { n: 1 })
    const lines = findings.map(({ line, otherLine }) => [line, otherLine])
    const read = lineOf('missingBarrier', 'race')
    expect(lines).toContainEqual([read, read - 1])
  })

  it('is reported with its line if it is an endless loop, which is stopped', () => {
    const kernel = machineCode.kernels.find(({ name }) => name === 'neverEnds')!
    let halt: Halt | null = null
    try {
      run('neverEnds', { n: 1 })
    } catch (error) {
      halt = error as Halt
    }
    expect(halt?.reason).toBe('too-long')
    const line = placesOf(kernel.lines, halt!.instruction!.address)[0]!.line
    expect(source[line - 1]).toContain('while')
  })
})

describe('a bulk copy', () => {
  it('from another block in the cluster arrives and causes no race after a wait on its barrier', () => {
    const { findings, out } = run('rightCopyAcross', { n: 64, blocks: 2 })
    expect(findings).toEqual([])
    const backwards = Array.from({ length: 64 }, (_, at) => 63 - at)
    expect([...out.subarray(0, 128)]).toEqual([...backwards, ...backwards])
    const late = run('copyAcrossNotWaitedFor', { n: 64, blocks: 2 }).findings
    expect(late.map(({ kind, line }) => [kind, line])).toContainEqual([
      'race',
      lineOf('copiedAcross', 'race'),
    ])
  })

  it('arrives and causes no race after a wait on its barrier', () => {
    const { findings, out } = run('rightCopy', { n: 64 })
    expect(findings).toEqual([])
    expect([...out.subarray(0, 64)]).toEqual(Array.from({ length: 64 }, (_, at) => 63 - at))
  })

  it('causes a race if no thread waits on its barrier', () => {
    const { findings } = run('copyNotWaitedFor', { n: 64 })
    const race = findings.find(({ kind }) => kind === 'race')!
    const lines = [race.line!, race.otherLine!].sort((x, y) => x - y)
    expect(lines[1]).toBe(lineOf('copied', 'race'))
    // The copy statement spans several lines, so search the five lines up to the reported line.
    expect(source.slice(lines[0]! - 5, lines[0]).join()).toContain('cp.async.bulk')
  })

  const lanes = packedRow('cubins.jsonl', 'lanes.cubin')
  const code = readCubin(lanes.bytes)
  const values = Array.from({ length: 256 }, (_, at) => at)

  it.each([
    ['oneBarrier', (at: number) => 255 - at],
    ['ownBarriers', (at: number) => 4 * at],
    ['someLanes', (at: number) => (at % 32 < 21 ? 4 * at : -1)],
  ] as const)(
    'has the same counts as on an H200 if many lanes issue copies simultaneously: %s',
    (kernel, expected) => {
      const { out, counts } = run(kernel, { n: 21, checks: false, code, values })
      expect([...out.subarray(0, 64)]).toEqual(values.slice(0, 64).map(expected))
      const { executed, threads, on, divergent } = counts
      expect(
        lanes.counted[kernel]!.map((_, at) => [executed[at], threads[at], on[at], divergent[at]]),
      ).toEqual(lanes.counted[kernel])
    },
  )
})
