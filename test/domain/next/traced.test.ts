/**
 * Tests that stalls are traced through registers to the instruction that produces the awaited
 * value.
 */
import { describe, expect, it } from 'vitest'
import { tracedStalls } from '../../../src-main/domain/next/traced'
import { notCounted, type Instruction } from '../../../src-main/domain/session/deep'

const code = (
  ...lines: readonly (readonly [text: string, stalls?: Record<string, number>])[]
): { instructions: Instruction[] } => ({
  instructions: lines.map(([text, stalls = {}], index) => ({
    ...notCounted,
    index,
    offset: 16 * index,
    text,
    opcode: text.replace(/^@!?U?P\d /, '').split(' ')[0]!,
    file: 'a.cu',
    line: index + 1,
    samples: Object.values(stalls).reduce((sum, count) => sum + count, 0),
    stalls,
  })),
})

const pairs = (kernel: { instructions: Instruction[] }) =>
  tracedStalls(kernel).map(({ waiting, producer }) => [waiting.line, producer.line])

describe('a stall', () => {
  it('is traced to the load that wrote the register', () => {
    const kernel = code(
      ['LDG.E R4, desc[UR4][R2.64]'],
      ['LDG.E R5, desc[UR4][R2.64+0x4]'],
      ['IADD3 R8, R8, 0x1, RZ'],
      ['FFMA R6, R4, R7, R6', { long_sb: 90 }],
      ['EXIT'],
    )
    expect(pairs(kernel)).toEqual([[4, 1]])
    expect(tracedStalls(kernel)[0]!.share).toBe(1)
  })

  it("is traced across a loop's back edge to the load in the previous iteration", () => {
    const kernel = code(
      ['FFMA R6, R4, R7, R6', { long_sb: 50 }],
      ['LDG.E R4, desc[UR4][R2.64]'],
      ['@P0 BRA 0x0'],
      ['EXIT'],
    )
    expect(pairs(kernel)).toEqual([[1, 2]])
  })

  it('on shared memory is traced to a shared load, not to a global load', () => {
    const kernel = code(
      ['LDG.E R7, desc[UR4][R2.64]'],
      ['LDS R4, [R3]'],
      ['FFMA R6, R4, R7, R6', { short_sb: 50 }],
      ['EXIT'],
    )
    expect(pairs(kernel)).toEqual([[3, 2]])
  })

  it('is traced to a wide load through any of its registers', () => {
    const kernel = code(
      ['LDG.E.128 R4, desc[UR4][R2.64]'],
      ['FADD R9, R7, R9', { long_sb: 5 }],
      ['EXIT'],
    )
    expect(pairs(kernel)).toEqual([[2, 1]])
  })

  it('is not traced past an indirect jump, or without stall samples', () => {
    expect(pairs(code(['LDG.E R4, desc[UR4][R2.64]'], ['BRX R4 -0x10', { long_sb: 5 }]))).toEqual(
      [],
    )
    expect(pairs(code(['LDG.E R4, desc[UR4][R2.64]'], ['FADD R5, R4, R4'], ['EXIT']))).toEqual([])
  })

  it('is not traced to an instruction that cannot cause it', () => {
    const kernel = code(['MOV R4, R5'], ['FADD R6, R4, R4', { long_sb: 5 }], ['EXIT'])
    expect(pairs(kernel)).toEqual([])
  })
})
