import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { arrowLanes, controlFlow } from '../../../src-main/domain/sass/control-flow'
import { registerFiles, registersOf } from '../../../src-main/domain/sass/operands'
import { decodeInstruction } from '../../../src-main/domain/sass/decode'
import type { Instruction } from '../../../src-main/domain/sass/instruction'
import { printInstruction, printOpcode } from '../../../src-main/domain/sass/print'
import { readCubin } from '../../../src-main/parsers/cubin/cubin'
import { openSession } from '../../../src-main/services/sessions/open-session'
import { packedRow } from '../../captures'
import { setupIn, tempDir } from '../../services/support'
import { liveRegisters } from '../../../src-main/domain/sass/live-registers'
import { placesOf } from '../../../src-main/domain/sass/line-table'

const code = (...lines: string[]) =>
  lines.map((text, index) => ({
    offset: index * 16,
    text,
    opcode: text.replace(/^@\S+ /, '').split(' ')[0]!,
  }))

const nameOf = (register: number): string => {
  const { general, uniform, predicate, uniformPredicate } = registerFiles
  if (register < uniform.from) return `R${register - general.from}`
  if (register < predicate.from) return `UR${register - uniform.from}`
  return register < uniformPredicate.from
    ? `P${register - predicate.from}`
    : `UP${register - uniformPredicate.from}`
}
const names = (registers: readonly number[]) => registers.map(nameOf).join(' ')

describe('a decoded instruction', () => {
  it.each([
    // The text is from ncu for a kernel that multiplies FP8 matrices with A in registers.
    [
      0xe0000c58387df3n,
      0xfe2000c7008ffn,
      'QGMMA.64x64x32.F32.E4M3.E4M3 R56, R88, gdesc[UR12], RZ, !UPT',
    ],
    [
      0xe0000864187df3n,
      0xfe60008000818n,
      'QGMMA.64x64x32.F32.E4M3.E4M3 R24, R100, gdesc[UR8], R24, gsb0',
    ],
    // The words of the following types and operands are from nvcc, not from ncu.
    [0x81879f3n, 0xfe60008003818n, 'QGMMA.64x8x32.F32.E5M2.E5M2 R24, gdesc[UR8], R24, gsb0'],
    [0x41c187df3n, 0xfe60008002818n, 'QGMMA.64x8x32.F32.E4M3.E5M2 R24, R28, gdesc[UR4], R24, gsb0'],
    [0x41c187df1n, 0xfe60008040018n, 'IGMMA.64x8x32.U8.S8 R24, R28, gdesc[UR4], R24, gsb0'],
  ])('with the words %s and %s is printed as %s', (low, high, text) => {
    const words = [low, low >> 32n, high, high >> 32n].map((word) => Number(word & 0xffffffffn))
    const [a, b, c, d] = words
    const instruction = decodeInstruction([a!, b!, c!, d!], 0, 90)
    expect(printInstruction(instruction as Instruction)).toBe(text)
  })
})

describe("an instruction's registers", () => {
  it.each([
    // The columns are the instruction text, the written registers, and the read registers.
    ['FFMA R3, R13, R18.reuse, -R3', 'R3', 'R13 R18 R3'],
    [
      '@!P1 LDG.E.128.CONSTANT R40, desc[UR12][R24.64+0x20]',
      'R40 R41 R42 R43',
      'P1 UR12 UR13 R24 R25',
    ],
    ['STG.E.128 desc[UR12][R50.64], R24', '', 'UR12 UR13 R50 R51 R24 R25 R26 R27'],
    ['LDS R4, [R9+UR5+0x210]', 'R4', 'R9 UR5'],
    ['STS.64 [R10], R44', '', 'R10 R44 R45'],
    ['LDGSTS.E.BYPASS.128 [R5+0x800], desc[UR4][R2.64], P0', '', 'R5 UR4 UR5 R2 R3 P0'],
    ['ISETP.GE.AND P0, PT, R8, R9, !P1', 'P0', 'R8 R9 P1'],
    ['PLOP3.LUT P0, PT, P1, P2, PT, 0x80, 0x8', 'P0', 'P1 P2'],
    ['LOP3.LUT P2, RZ, R6, 0x1f, RZ, 0xc0, !PT', 'P2', 'R6'],
    ['IADD3 R106, P1, P3, R24, 0x20, RZ', 'R106 P1 P3', 'R24'],
    ['LEA.HI.X R25, R2, UR5, R3, 0x2, P0', 'R25', 'R2 UR5 R3 P0'],
    ['IMAD.WIDE.U32 R4, R7, R11, R6', 'R4 R5', 'R7 R11 R6 R7'],
    ['SEL R5, R4, R3, P0', 'R5', 'R4 R3 P0'],
    ['DFMA R4, R2, R6, R8', 'R4 R5', 'R2 R3 R6 R7 R8 R9'],
    ['CS2R R4, SRZ', 'R4 R5', ''],
    ['F2F.F32.F64 R3, R4', 'R3', 'R4 R5'],
    ['MUFU.RCP R4, |R5|', 'R4', 'R5'],
    ['R2P PR, R4, 0x3', 'P0 P1 P2 P3 P4 P5 P6', 'R4'],
    ['ULDC.64 UR12, c[0x0][0x208]', 'UR12 UR13', ''],
    ['LDC R8, c[0x0][R3+0x10]', 'R8', 'R3'],
    ['SHFL.BFLY PT, R7, R2, 0x10, 0x1f', 'R7', 'R2'],
    ['ATOMG.E.ADD.STRONG.GPU P0, R5, desc[UR4][R2.64], R7', 'P0 R5', 'UR4 UR5 R2 R3 R7'],
    ['VOTE.ANY R0, PT, P0', 'R0', 'P0'],
    ['HMMA.16816.F32 R8, R4, R2, R8', 'R8 R9 R10 R11', 'R4 R5 R6 R7 R2 R3 R8 R9 R10 R11'],
    ['LDSM.16.M88.4 R4, [R3]', 'R4 R5 R6 R7', 'R3'],
    ['WARPSYNC R5', '', 'R5'],
    ['@P0 EXIT', '', 'P0'],
    ['BAR.SYNC.DEFER_BLOCKING 0x0', '', ''],
  ])('are determined for %s', (text, writes, reads) => {
    const use = registersOf(text)
    expect(names(use.writes)).toBe(writes)
    expect(names(use.reads)).toBe(reads)
    expect(use.guarded).toBe(text.startsWith('@'))
  })

  it('depend on the tile width for a warpgroup instruction', () => {
    const { writes, reads } = registersOf('HGMMA.64x256x16.F32 R24, gdesc[UR4], R24, gsb0')
    expect(writes).toHaveLength(128)
    expect(names(reads.slice(0, 5))).toBe('UR4 UR5 UR6 UR7 R24')
  })
})

const loop = code(
  'MOV R0, 0x8',
  'MOV R1, RZ',
  'LDS R2, [R0]', // 0x20
  'FADD R1, R1, R2',
  'IADD3 R0, R0, -0x1, RZ',
  'ISETP.GT.AND P0, PT, R0, RZ, PT',
  '@P0 BRA 0x20',
  'STS [0x0], R1',
  'EXIT',
)

describe('control flow', () => {
  it('follows jumps, and also continues after conditional jumps', () => {
    const flow = controlFlow(loop)
    expect(flow.branches).toEqual([{ from: 6, to: 2 }])
    expect(flow.successors[6]).toEqual([2, 7])
    expect(flow.successors[8]).toEqual([])
    expect(flow.whole).toBe(true)
  })

  it('returns from a function to the instruction after the call', () => {
    const flow = controlFlow(code('CALL.REL.NOINC 0x30', 'EXIT', 'NOP', 'RET.REL.NODEC R20 0x0'))
    expect(flow.successors[0]).toEqual([3, 1])
    expect(flow.successors[3]).toEqual([1])
  })

  it("is incomplete if a jump's target is in a register", () => {
    expect(controlFlow(code('BRX R4 -0x30', 'EXIT')).whole).toBe(false)
    expect(liveRegisters(code('BRX R4 -0x30', 'EXIT'))).toBeNull()
  })

  it('assigns different columns to overlapping arrows, with shorter arrows closer to the code', () => {
    const arrows = arrowLanes(
      [
        { from: 20, to: 1 },
        { from: 9, to: 5 },
        { from: 15, to: 12 },
      ],
      3,
    )
    expect(arrows.map(({ from, lane }) => [from, lane])).toEqual([
      [15, 0],
      [9, 0],
      [20, 1],
    ])
  })
})

describe('live registers', () => {
  it('stay live throughout a loop, but not after their last use', () => {
    const live = liveRegisters(loop)!
    expect(live.map(({ general }) => general)).toEqual([1, 2, 3, 3, 2, 2, 2, 1, 0])
    expect(live.map(({ predicate }) => predicate)).toEqual([0, 0, 0, 0, 0, 1, 1, 0, 0])
  })

  it('become live at the first write of a value, even if the write is predicated', () => {
    const live = liveRegisters(
      code(
        'MOV R1, RZ',
        'ISETP.GT.AND P0, PT, R1, RZ, PT',
        '@P0 LDS R2, [R1]',
        '@P0 STS [R1], R2',
        'EXIT',
      ),
    )!
    expect(live.map(({ general }) => general)).toEqual([1, 1, 2, 2, 0])
  })

  it('can be computed for twenty thousand instructions', () => {
    const body = Array.from(
      { length: 19_998 },
      (_, at) => `FFMA R${at % 200}, R1, R2, R${at % 200}`,
    )
    const long = code(...body, '@P0 BRA 0x0', 'EXIT')
    expect(Math.max(...liveRegisters(long)!.map(({ general }) => general))).toBe(200)
  })
})

// Compare a rung's cubin with ncu's listing in the deep recording, including source lines. The
// cubin and the recording contain the same machine code. 03_shared_tile.cubin was built from the
// recorded rung with the same flags: -DSTEPS=2 -DTILE=32.

const cubin = packedRow('cubins.jsonl', '03_shared_tile.cubin').bytes

const inRung = (places: readonly { file: string | null; line: number | null }[]): number[] =>
  places.filter(({ file }) => basename(file!).startsWith('03_shared_tile')).map(({ line }) => line!)

it('the listing has the same instructions and source lines as ncu’s listing', async () => {
  const { deep } = await openSession(setupIn(await tempDir()), 'recorded:gemm-fp32-h200-4096-deep')
  const recorded = (await deep('03_shared_tile'))!.kernels[0]!.instructions
  const { code, lines } = readCubin(cubin).kernels[0]!
  const words = new Uint32Array(code.slice().buffer)
  expect(recorded).toHaveLength(words.length / 4)

  for (const { offset, opcode, file, line, inlinedFrom = [] } of recorded) {
    const [a, b, c, d] = words.subarray(offset / 4, offset / 4 + 4)
    const instruction = decodeInstruction([a!, b!, c!, d!], offset, 90) as Instruction
    expect(`${offset}: ${printOpcode(instruction)}`).toBe(`${offset}: ${opcode}`)
    // ncu lists a call only if the call has its own row, but the line table lists the call for
    // every inlined row. Header lines have changed since the recording.
    const own = placesOf(lines, offset)
    const theirs = [{ file, line }, ...inlinedFrom]
    expect(own.length).toBeGreaterThanOrEqual(theirs.length)
    expect({ offset, lines: inRung(own) }).toEqual({
      offset,
      lines: expect.arrayContaining(inRung(theirs)),
    })
    if (theirs.length === 1 && own.length === 1)
      expect({ offset, lines: inRung(own) }).toEqual({ offset, lines: inRung(theirs) })
    if (theirs.length === 1 && own.length > 1) expect(inRung(theirs)).toEqual([])
  }
})
