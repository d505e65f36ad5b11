import { describe, expect, it } from 'vitest'
import { createDevice } from '../../../src-main/domain/emulator/device'
import { runLaunch } from '../../../src-main/domain/emulator/launch'
import { decodeInstruction } from '../../../src-main/domain/sass/decode'
import type { Instruction } from '../../../src-main/domain/sass/instruction'
import { assemble } from './assembly'

/** Decodes an instruction that nvcc 13.0 emitted for sm_90. */
function decoded(encoding: string): Instruction {
  const [low, second, third, high] = [24, 16, 8, 0].map((at) =>
    Number.parseInt(encoding.slice(at, at + 8), 16),
  ) as [number, number, number, number]
  const found = decodeInstruction([low, second, third, high], 0, 90)
  if ('unknown' in found) throw new Error('not decoded')
  return found
}

function run(code: readonly Instruction[], compileAfter: number) {
  const device = createDevice()
  return runLaunch(
    device,
    {
      ...{ kernel: 'test', code, grid: [1, 1, 1], block: [32, 1, 1] },
      ...{ sharedBytes: 0, localBytes: 16, banks: new Map() },
    },
    { limit: 100, checks: false, compileAfter },
  )
}

describe('an instruction with an unsupported feature', () => {
  it.each([
    ['VIADD.16x2', '008fc600000002008000000a0b167236', 'the modifier 16x2 (bit 73)'],
    ['VIMNMX.U16x2', '002fe40003fe02000000000900137248', 'the modifier U16x2 (bits 72, 73)'],
    ['VIMNMX.S16x2', '001fc60007fe03000000000a0b167248', 'the modifier S16x2 (bits 72, 73)'],
    ['VIADDMNMX.S16x2', '0c4fe2000380030b0000000a0b097246', 'the modifier S16x2 (bits 72, 73)'],
    ['REDG.E.ADD.F32x2', '000fe8000c10f5840000000c020079a6', 'the modifier F32x2 (bits 73, 76)'],
    ['REDG.E.ADD.F32x4', '0011e8000c10f78400000008020079a6', 'the modifier F32x4 (bits 73,'],
    ['REDG.E.ADD.F16x8', '000fe8000c10e58400000010020079a6', 'the modifier F16x8 (bits 73,'],
    ['ATOMG.E.ADD.F32x2', '000e2400081ef5c40000000e020e79a3', 'the modifier F32x2 (bits 73, 76)'],
    ['F2FP.BF16.F32.PACK_AB.RZ', '004fc400000190ff0000000cff0c723e', 'the modifier RZ'],
    ['FRND.F64.FLOOR', '001e30000030580000000006000e7313', 'the modifier F64'],
    ['SYNCS.ARRIVE', '000e64000850023f0000000c110479a7', 'the modifier TMASK (bit 73)'],
    ['ATOM.E.ADD.F16x2', '0043e4000810e1ce0000001708ff79a2', 'value of operand 1'],
  ])('stops the kernel, compiled or not: %s', (name, encoding, said) => {
    for (const compileAfter of [0, Infinity])
      expect(() => run([decoded(encoding), ...assemble('EXIT')], compileAfter)).toThrow(
        expect.objectContaining({
          reason: 'unknown-instruction',
          message: expect.stringMatching(
            new RegExp(`${said.replace(/[()]/g, '\\$&')}.* of ${name}.*, encoding 0x${encoding}`),
          ) as unknown,
        }),
      )
  })

  it('does not stop the kernel if its guard is false', () => {
    const [exit] = assemble('EXIT')
    const vector = decoded('008fc600000002008000000a0b167236')
    const guard = { kind: 'predicate', index: 3, negated: false } as const
    expect(run([{ ...vector, guard }, exit!], 0).instructions).toBe(2)
  })
})

it('the guard of SYNCS.EXCH, a uniform-datapath instruction, is a uniform predicate', () => {
  expect(decoded('0002e2000800010000000004093f85b2')).toMatchObject({
    mnemonic: 'SYNCS',
    guard: { kind: 'uniform-predicate', index: 0, negated: true },
  })
})
