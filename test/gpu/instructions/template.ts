/**
 * Creates machine code for sm_90 that loads the state, executes one instruction, and stores the
 * state.
 */
import {
  firstRegister,
  firstUniform,
  registerCount,
  rows,
  sharedStart,
  uniformCount,
} from './state'

export type Words = [number, number, number, number]

export const wordsOf = (hex: string): Words =>
  [24, 16, 8, 0].map((at) => Number.parseInt(hex.slice(at, at + 8), 16)) as Words

/** Sets a field in an encoding. */
export function put(words: Words, at: number, width: number, value: number): Words {
  const changed: Words = [...words]
  for (let bit = 0; bit < width; bit++) {
    const [word, shift] = [(at + bit) >> 5, (at + bit) & 31]
    const one = Math.floor(value / 2 ** bit) % 2
    changed[word] = ((changed[word]! & ~(1 << shift)) | (one << shift)) >>> 0
  }
  return changed
}

export function bitsAt(words: Words, at: number, width: number): number {
  let value = 0
  for (let bit = 0; bit < width; bit++)
    value += ((words[(at + bit) >> 5]! >>> ((at + bit) & 31)) & 1) * 2 ** bit
  return value
}

const none = 7

/**
 * Returns an instruction that waits for every scoreboard and for 15 cycles. `writes` and `reads`
 * are the scoreboards that the instruction releases.
 */
export const scheduled = (words: Words, writes = none, reads = none): Words =>
  put(words, 105, 21, 15 | (writes << 5) | (reads << 8) | (0x3f << 11))

const base = {
  thread: '000e2200000021000000000000007919', // S2R R0, SR_TID.X
  descriptor: '008fcc0000000a000000820000067ab9', // ULDC.64 UR6, c[0x0][0x208]
  pointer: '000e620000000a0000008400ff087b82', // LDC.64 R8, c[0x0][0x210]
  times4: '000fc800078e0204000000040b0a7825', // IMAD.WIDE R10, R11, 0x4, R4
  load: '000f28000c1e190000000004040b7981', // LDG.E R11, desc[UR4][R4.64]
  store: '0003e8000c101906000000a50e007986', // STG.E desc[UR6][R14.64], R165
  toUniform: '000fe200000e000000000000051172ca', // R2UR UR17, R5
  test: '000fe2000bf050700000003f0400728c', // UISETP.NE.U32.AND UP0, UPT, UR4, URZ, UPT
  toPredicates: '001fca00000000000000000310007804', // R2P PR, R16, 0x3
  fromPredicates: '000fca000000000000000040ff0c7803', // P2R R12, PR, RZ, 0x40
  fromUniform: '000fe40008000f000000000500097c02', // MOV R9, UR5
  select: '000fe400080000000000000608107287', // USEL UR16, UR8, UR6, UP0
  loadShared: '000e2200000008000000000009097984', // LDS R9, [R9]
  storeShared: '004fe200000008000000000003007388', // STS [R3], R0
  nop: '000fc200000000000000000000007918', // NOP
  commit: '000e26000000000000000000000079af', // LDGDEPBAR
  arrived: '000fc80000000000000080000000791a', // DEPBAR.LE SB0, 0x0
  exit: '000fea0003800000000000000000794d', // EXIT
} as const

type Field = readonly [at: number, width: number, value: number]

const made = (hex: string, ...fields: Field[]): Words =>
  fields.reduce((words, [at, width, value]) => put(words, at, width, value), wordsOf(hex))

/**
 * Registers that no trial uses. The reserved registers contain the lane, the state's source and
 * destination, the moved value, and four times the lane.
 */
const [lane, from, to, moved, times4] = [0, 2, 4, 48, 50]
/**
 * Uniform registers that no trial uses. The reserved uniform registers contain the memory
 * descriptor and the moved value.
 */
const [descriptor, movedUniform] = [4, 7]
const rowBytes = 128

export const nop = scheduled(wordsOf(base.nop))
const load = (register: number, row: number): Words =>
  scheduled(
    made(
      base.load,
      [16, 8, register],
      [24, 8, from],
      [32, 6, descriptor],
      [40, 24, row * rowBytes],
    ),
    0,
  )
const store = (register: number, row: number): Words =>
  scheduled(
    made(base.store, [32, 8, register], [24, 8, to], [64, 6, descriptor], [40, 24, row * rowBytes]),
    none,
    1,
  )
const uniform = (words: Words): Words[] => [scheduled(words), nop]

/** Returns the code before and after the tested instruction. */
export function template(): { before: Words[]; after: Words[] } {
  const address = (register: number, offset: number): Words[] => [
    scheduled(made(base.pointer, [16, 8, register], [38, 16, offset]), 0),
    nop,
    scheduled(made(base.times4, [16, 8, register], [24, 8, lane], [64, 8, register])),
    nop,
  ]
  const loadUniform = (index: number, row: number): Words[] => [
    load(moved, row),
    nop,
    ...uniform(made(base.toUniform, [16, 6, index], [24, 8, moved])),
  ]
  const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
  const before = [
    scheduled(wordsOf(base.thread), 0),
    ...uniform(made(base.descriptor, [16, 6, descriptor])),
    nop,
    ...address(from, 0x210),
    ...address(to, 0x218),
    scheduled(made(base.times4, [16, 8, times4], [24, 8, lane], [64, 8, 255])),
    nop,
    ...range(rows.end - rows.shared).flatMap((row) => [
      load(moved, rows.shared + row),
      nop,
      scheduled(
        made(
          base.storeShared,
          [24, 8, times4],
          [32, 8, moved],
          [40, 24, sharedStart + row * rowBytes],
        ),
        none,
        1,
      ),
      nop,
    ]),
    ...range(7).flatMap((index) => [
      ...loadUniform(movedUniform, rows.uniformPredicates + index),
      ...uniform(made(base.test, [24, 6, movedUniform], [81, 3, index])),
    ]),
    ...range(uniformCount).flatMap((index) =>
      loadUniform(firstUniform + index, rows.uniform + index),
    ),
    load(moved, rows.predicates),
    nop,
    scheduled(made(base.toPredicates, [24, 8, moved], [32, 8, 0x7f])),
    nop,
    ...range(registerCount).map((index) => load(firstRegister + index, rows.general + index)),
    nop,
    nop,
  ]
  const fromUniform = (row: number, index: number): Words[] => [
    scheduled(made(base.fromUniform, [16, 8, moved], [32, 6, index])),
    nop,
    store(moved, row),
    nop,
  ]
  const after = [
    ...[nop, nop, nop, nop],
    scheduled(wordsOf(base.commit), 0),
    nop,
    scheduled(wordsOf(base.arrived)),
    nop,
    scheduled(made(base.fromPredicates, [16, 8, moved], [32, 8, 0x7f])),
    nop,
    store(moved, rows.predicates),
    ...range(registerCount).map((index) => store(firstRegister + index, rows.general + index)),
    nop,
    ...range(uniformCount).flatMap((index) =>
      fromUniform(rows.uniform + index, firstUniform + index),
    ),
    ...range(7).flatMap((index) => [
      // USEL UR7, URZ, 0x1, !UP0 stores 1 if the predicate is true.
      ...uniform(
        put(
          made(base.select, [16, 6, movedUniform], [24, 6, 63], [32, 6, 63], [87, 4, index | 8]),
          9,
          3,
          4,
        ),
      ).map((words, place) => (place === 0 ? put(words, 32, 32, 1) : words)),
      ...fromUniform(rows.uniformPredicates + index, movedUniform),
    ]),
    ...range(rows.end - rows.shared).flatMap((row) => [
      scheduled(
        made(
          base.loadShared,
          [16, 8, moved],
          [24, 8, times4],
          [40, 24, sharedStart + row * rowBytes],
        ),
        0,
      ),
      nop,
      store(moved, rows.shared + row),
      nop,
    ]),
    scheduled(wordsOf(base.exit)),
  ]
  return { before, after }
}
