import { describe, expect, it } from 'vitest'
import {
  notCounted,
  type DeepKernel,
  type DeepProfile,
  type Instruction,
} from '../../../src-main/domain/session/deep'
import {
  codeByLine,
  collectedHeat,
  families,
  findCode,
  heatShares,
  kernelCode,
  lineHeat,
  lineIn,
  shownCode,
  valueOf,
} from './sass-view'

const code = (...given: (Partial<Instruction> & { text: string })[]): Instruction[] =>
  given.map((own, index) => ({
    ...notCounted,
    index,
    offset: index * 16,
    opcode: own.text.replace(/^@\S+ /, '').split(' ')[0]!,
    file: 'k.cu',
    line: 1,
    ...own,
  }))
const kernel = (instructions: Instruction[]): DeepKernel => ({
  name: 'k',
  instructions,
  lines: [],
  opcodes: null,
  rules: [],
})
const profile = (instructions: Instruction[]): DeepProfile => ({
  schema: 2,
  rung: 'a',
  kernels: [kernel(instructions)],
  notes: [],
})

const sampled = code(
  { text: 'LDS R0, [R1]', line: 3, samples: 30, stalls: { mio: 20, selected: 10 } },
  { text: 'FFMA R2, R0, R0, R2', line: 4, samples: 10, stalls: { selected: 10 } },
  {
    text: 'FFMA R3, R0, R0, R3',
    file: 'common.cuh',
    line: 9,
    inlinedFrom: [{ file: 'k.cu', line: 4 }],
    samples: 60,
    stalls: { wait: 60 },
  },
  { text: '@P0 BRA 0x0', file: null, line: null, samples: 0, stalls: {} },
)

describe('heat', () => {
  it('lists only collected counters, with the largest stall first', () => {
    expect(collectedHeat([profile(sampled)])).toEqual([
      'samples',
      'stall:wait',
      'stall:mio',
      'stall:selected',
    ])
    expect(collectedHeat([profile(code({ text: 'EXIT' }))])).toEqual([])
    expect(valueOf(sampled[1]!, 'stall:mio')).toBe(0)
    expect(valueOf(code({ text: 'EXIT' })[0]!, 'stall:mio')).toBeNull()
  })

  it('is an instruction’s or a line’s share of the kernel’s total heat', () => {
    expect(heatShares(sampled, 'samples')).toEqual([0.3, 0.1, 0.6, 0])
    expect(heatShares(sampled, 'executed')).toBeNull()
    const lines = lineHeat(codeByLine(sampled, 'k.cu'), heatShares(sampled, 'samples')!)
    expect([...lines]).toEqual([
      [4, 0.7],
      [3, 0.3],
    ])
  })
})

describe('lines and instructions', () => {
  it('link to each other, even through inlined code', () => {
    expect(codeByLine(sampled, 'k.cu').get(4)).toEqual([1, 2])
    expect(lineIn(sampled[2]!, 'k.cu')).toBe(4)
    expect(lineIn(sampled[2]!, 'common.cuh')).toBe(9)
    expect(lineIn(sampled[3]!, 'k.cu')).toBeUndefined()
  })

  it('are filtered by opcode and found by text', () => {
    expect(families(sampled)).toEqual([
      ['FFMA', 2],
      ['BRA', 1],
      ['LDS', 1],
    ])
    expect(shownCode(sampled, 'FFMA')).toEqual([1, 2])
    expect(findCode(sampled, shownCode(sampled, null), 'r3,')).toEqual([2])
    expect(findCode(sampled, shownCode(sampled, null), '  ')).toEqual([])
  })

  it('have jump arrows and live register counts even without counters', () => {
    const { arrows, peak, live } = kernelCode(
      kernel(code({ text: 'MOV R0, RZ' }, { text: 'STS [R0], R0' }, { text: '@P0 BRA 0x10' })),
    )
    expect(arrows).toEqual([{ from: 2, to: 1, lane: 0 }])
    expect(peak).toBe(1)
    expect(live).toHaveLength(3)
    expect(kernelCode(kernel(code({ text: 'BRX R4' }))).peak).toBeNull()
  })
})
