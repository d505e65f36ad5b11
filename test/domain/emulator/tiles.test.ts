/**
 * Compares emulated counts for the kernels in `counters tiles` (test/gpu/instructions/counters.cu)
 * with the hardware counters of an H200.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { emulate, type KernelArgument } from '../../../src-main/api'
import { packedRow } from '../../captures'

const cubin = packedRow('cubins.jsonl', 'counters.cubin').bytes
const bytes = 2 ** 20

const [header, ...lines] = readFileSync(
  new URL('../../captures/accesses/tiles-h200.csv', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => line.split(','))

/** The kernel's mangled name, and the arguments that precede and follow the numbers in a row. */
const kernels: Readonly<
  Record<string, readonly [string, before: KernelArgument[], after: KernelArgument[]]>
> = {
  'groupProducts<0>': ['groupProductsILb0E', [], [{ buffer: 'out' }]],
  'groupProducts<1>': ['groupProductsILb1E', [], [{ buffer: 'out' }]],
  tile: ['4tile', [{ buffer: 'in' }, { buffer: 'out' }], []],
  strided: ['7strided', [{ buffer: 'in' }, { buffer: 'out' }], []],
  stridedStores: ['stridedStores', [{ buffer: 'out' }], []],
}

const rows = lines.map((values) => {
  const field = (name: string): string => values[header!.indexOf(name)]!
  const [name, grid, block] = ['kernel', 'grid', 'block'].map(field) as [string, string, string]
  const counter = (of: string): number => Number(field(of))
  const hardware = (counted: string, kind: string): number =>
    counter(`l1tex__data_${counted}_mem_shared${kind}.sum`)
  return {
    ...{ name, grid: Number(grid), block: Number(block) },
    numbers: field('arguments').split(' ').map(Number),
    measured: {
      instructions: counter('smsp__inst_executed.sum'),
      wavefronts: counter('memory_l1_wavefronts_shared'),
      ideal: counter('memory_l1_wavefronts_shared_ideal'),
      loads: hardware('pipe_lsu_wavefronts', '_op_ld'),
      loadConflicts: hardware('bank_conflicts_pipe_lsu', '_op_ld'),
      stores: hardware('pipe_lsu_wavefronts', '_op_st'),
      storeConflicts: hardware('bank_conflicts_pipe_lsu', '_op_st'),
    },
    all: hardware('pipe_lsu_wavefronts', ''),
  }
})

function emulated({ name, grid, block, numbers }: (typeof rows)[number]) {
  const [kernel, before, after] = kernels[name]!
  const own = numbers.map((i32) => ({ i32 }))
  const answer = emulate(cubin, {
    launches: [{ kernel, grid: [grid], block: [block], arguments: [...before, ...own, ...after] }],
    buffers: { in: new Uint8Array(bytes), out: new Uint8Array(bytes) },
  })
  expect([answer.stopped, answer.findings]).toEqual([null, []])
  const [counted] = answer.kernels
  const metric = (id: string): number => Number(counted!.metrics[id]!.value)
  const sum = (figure: 'sharedWavefronts' | 'sharedWavefrontsIdeal'): number =>
    counted!.code()!.instructions.reduce((total, one) => total + (one[figure] ?? 0), 0)
  return {
    instructions: metric('instructions'),
    wavefronts: sum('sharedWavefronts'),
    ideal: sum('sharedWavefrontsIdeal'),
    loads: metric('sharedLoadWavefronts'),
    loadConflicts: metric('sharedLoadBankConflicts'),
    stores: metric('sharedStoreWavefronts'),
    storeConflicts: metric('sharedStoreBankConflicts'),
  }
}

const measuredOf = (names: RegExp) => rows.filter(({ name }) => names.test(name))

describe('H200 counters of kernels', () => {
  it('match the emulator for strided loads and stores', () => {
    const own = measuredOf(/^strided/)
    expect(own).toHaveLength(18)
    expect(own.map(emulated)).toEqual(own.map(({ measured }) => measured))
  })

  it('include warpgroup products only in the total of all accesses', () => {
    const own = measuredOf(/^groupProducts/)
    expect(own).toHaveLength(6)
    expect(own.map(emulated)).toEqual(own.map(({ measured }) => measured))
    // In each row, the total counter exceeds the wavefront counter by 12, regardless of the number
    // of products.
    expect(own.map(({ all, measured }) => all - measured.wavefronts)).toEqual(Array(6).fill(12))
  })

  it('match for 2D tiles of up to two warps, and are at most 0.4 % larger with more', () => {
    const own = measuredOf(/^tile/)
    expect(own).toHaveLength(6)
    for (const row of own) {
      const { loads, loadConflicts, ...exact } = emulated(row)
      expect(row.measured).toMatchObject(exact)
      const more = row.measured.loads - loads
      // Timing effects on the GPU add wavefronts, each of which the GPU also counts as a conflict.
      expect(row.measured.loadConflicts - loadConflicts).toBe(more)
      if (row.block <= 64) expect(more).toBe(0)
      expect(more / loadConflicts).toBeLessThan(0.004)
      expect(more).toBeGreaterThanOrEqual(0)
    }
  })
})
