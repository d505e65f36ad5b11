/**
 * Encodes WebAssembly modules. The encoder supports only the parts of the WebAssembly format that
 * the emulator needs.
 */

import { wordsOf } from './float'

export const i32 = 0x7f
export const v128 = 0x7b

/** WebAssembly opcodes. Opcodes of vector instructions follow the prefix 0xfd. */
export const scalar = {
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  branchIf: 0x0d,
  return: 0x0f,
  call: 0x10,
  drop: 0x1a,
  get: 0x20,
  set: 0x21,
  tee: 0x22,
  global: 0x23,
  load: 0x28,
  store: 0x36,
  load64: 0x29,
  store64: 0x37,
  constant: 0x41,
  eqz: 0x45,
  eq: 0x46,
  ne: 0x47,
  lessUnsigned: 0x49,
  greaterUnsigned: 0x4b,
  popcount: 0x69,
  add: 0x6a,
  sub: 0x6b,
  mul: 0x6c,
  and: 0x71,
  or: 0x72,
  xor: 0x73,
  shl: 0x74,
  shrUnsigned: 0x76,
  extendUnsigned: 0xad,
  add64: 0x7c,
} as const

export const vector = {
  load: 0x00,
  store: 0x0b,
  constant: 0x0c,
  shuffle: 0x0d,
  splat: 0x11,
  extractLane: 0x1b,
  intEq: 0x37,
  intNe: 0x38,
  intLtS: 0x39,
  intLtU: 0x3a,
  intGtS: 0x3b,
  intGtU: 0x3c,
  intLeS: 0x3d,
  intLeU: 0x3e,
  intGeS: 0x3f,
  intGeU: 0x40,
  floatEq: 0x41,
  floatNe: 0x42,
  floatLt: 0x43,
  floatGt: 0x44,
  floatLe: 0x45,
  floatGe: 0x46,
  not: 0x4d,
  and: 0x4e,
  or: 0x50,
  xor: 0x51,
  select: 0x52,
  any: 0x53,
  load32Lane: 0x56,
  load64Lane: 0x57,
  load32Splat: 0x09,
  store32Lane: 0x5a,
  demote: 0x5e,
  promote: 0x5f,
  intAbs: 0xa0,
  intNeg: 0xa1,
  bitmask: 0xa4,
  shl: 0xab,
  shrS: 0xac,
  shrU: 0xad,
  intAdd: 0xae,
  intSub: 0xb1,
  intMul: 0xb5,
  intMinS: 0xb6,
  intMinU: 0xb7,
  intMaxS: 0xb8,
  intMaxU: 0xb9,
  longAdd: 0xce,
  longSub: 0xd1,
  longEq: 0xd6,
  mulLowS: 0xdc,
  mulHighS: 0xdd,
  mulLowU: 0xde,
  mulHighU: 0xdf,
  floatAbs: 0xe0,
  floatNeg: 0xe1,
  floatAdd: 0xe4,
  floatMul: 0xe6,
  floatMin: 0xe8,
  floatMax: 0xe9,
  doubleEq: 0x47,
  doubleNe: 0x48,
  doubleTrunc: 0x7a,
  doubleAdd: 0xf0,
  doubleMul: 0xf2,
  /**
   * Returns the second operand if it is larger, and the first operand otherwise. The operation
   * never returns a NaN from the second operand.
   */
  doubleLarger: 0xf7,
  /** Relaxed SIMD: rounds once if the CPU supports fused multiply-add, and twice otherwise. */
  relaxedMultiplyAdd: 0x105,
} as const

/** A byte buffer that grows on demand. */
class Bytes {
  private room = new Uint8Array(256)
  /** Number of bytes written. Assigning a smaller number discards the last bytes. */
  length = 0

  push(byte: number): void {
    if (this.length === this.room.length) this.grow(1)
    this.room[this.length++] = byte
  }

  append(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.room.length) this.grow(bytes.length)
    this.room.set(bytes, this.length)
    this.length += bytes.length
  }

  private grow(by: number): void {
    const room = new Uint8Array(2 * (this.room.length + by))
    room.set(this.room)
    this.room = room
  }

  unsigned(value: number): void {
    let rest = value >>> 0
    while (rest > 0x7f) {
      this.push((rest & 0x7f) | 0x80)
      rest >>>= 7
    }
    this.push(rest)
  }

  signed(value: number): void {
    let rest = value | 0
    while (rest > 0x3f || rest < -0x40) {
      this.push((rest & 0x7f) | 0x80)
      rest >>= 7
    }
    this.push(rest & 0x7f)
  }

  /** Writes the length of `bytes`, followed by the bytes. */
  sized(bytes: Uint8Array): void {
    this.unsigned(bytes.length)
    this.append(bytes)
  }

  text(value: string): void {
    this.sized(new TextEncoder().encode(value))
  }

  /** Returns a view of the bytes written so far. The next write may change the view's contents. */
  view(): Uint8Array<ArrayBuffer> {
    return this.room.subarray(0, this.length)
  }
}

/** The body of a function. Methods append instructions to the body. */
export class Code {
  private readonly bytes = new Bytes()
  private readonly locals: number[] = []

  constructor(private readonly parameters: number) {}

  get length(): number {
    return this.bytes.length
  }

  /** Discards all code after the given length. */
  set length(length: number) {
    this.bytes.length = length
  }

  /** Removes and returns all code written so far. `append` restores it. */
  take(): Uint8Array {
    const taken = this.bytes.view().slice()
    this.bytes.length = 0
    return taken
  }

  append(bytes: Uint8Array): void {
    this.bytes.append(bytes)
  }

  /** Adds a local variable of the given type. */
  local(type: number): number {
    this.locals.push(type)
    return this.parameters + this.locals.length - 1
  }

  op(...codes: number[]): void {
    for (const code of codes) this.bytes.push(code)
  }

  get(local: number): void {
    this.bytes.push(scalar.get)
    this.bytes.unsigned(local)
  }

  set(local: number): void {
    this.bytes.push(scalar.set)
    this.bytes.unsigned(local)
  }

  tee(local: number): void {
    this.bytes.push(scalar.tee)
    this.bytes.unsigned(local)
  }

  constant(value: number): void {
    this.bytes.push(scalar.constant)
    this.bytes.signed(value)
  }

  /** Appends a scalar load or store. The address is the stack value plus `offset`. */
  memory(code: number, offset: number): void {
    this.op(code, 2)
    this.bytes.unsigned(offset)
  }

  /** Pushes the start of the launch's tables in memory, which is the module's first global. */
  tables(): void {
    this.op(scalar.global, 0)
  }

  /** Appends code that adds the number of lanes in a mask to an 8-byte counter in the tables. */
  countLanes(place: number, mask: number): void {
    this.tables()
    this.tables()
    this.memory(scalar.load64, place)
    this.get(mask)
    this.op(scalar.popcount, scalar.extendUnsigned, scalar.add64)
    this.memory(scalar.store64, place)
  }

  call(index: number): void {
    this.bytes.push(scalar.call)
    this.bytes.unsigned(index)
  }

  vector(code: number): void {
    this.bytes.push(0xfd)
    this.bytes.unsigned(code)
  }

  vectorMemory(code: number, offset: number): void {
    this.vector(code)
    this.bytes.push(2)
    this.bytes.unsigned(offset)
  }

  /** Appends a load or store of a single vector lane. */
  laneMemory(code: number, offset: number, lane: number): void {
    this.vectorMemory(code, offset)
    this.bytes.push(lane)
  }

  words(...values: readonly [number, number, number, number]): void {
    this.vector(vector.constant)
    for (const value of values)
      this.op(value & 255, (value >>> 8) & 255, (value >>> 16) & 255, value >>> 24)
  }

  splat(value: number): void {
    this.words(value, value, value, value)
  }

  splatDouble(value: number): void {
    const [low, high] = wordsOf(value)
    this.words(low, high, low, high)
  }

  shuffle(lanes: readonly number[]): void {
    this.vector(vector.shuffle)
    this.op(...lanes)
  }

  /**
   * Returns the body and its local declarations, encoded for the code section but without the
   * length.
   */
  encoded(): Uint8Array {
    const whole = new Bytes()
    whole.unsigned(this.locals.length)
    for (const type of this.locals) {
      whole.push(1)
      whole.push(type)
    }
    whole.append(this.bytes.view())
    whole.push(scalar.end)
    return whole.view()
  }
}

interface Signature {
  parameters: readonly number[]
  results: readonly number[]
}

export interface WasmFunction {
  signature: Signature
  code: Code
}

/**
 * Returns a module that imports a memory, functions and immutable globals. The module exports the
 * functions whose indices are in `exported`. The n-th function after the imports is exported as
 * `f<n>`, starting with `f0`.
 */
export function encodeModule(
  memoryPages: number,
  imports: readonly { name: string; signature: Signature }[],
  functions: readonly WasmFunction[],
  exported = functions.map((_, index) => imports.length + index),
  globals: readonly string[] = [],
): Uint8Array<ArrayBuffer> {
  const module = new Bytes()
  for (const byte of [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]) module.push(byte)
  const section = <Item>(
    id: number,
    items: readonly Item[],
    write: (into: Bytes, item: Item, index: number) => void,
  ): void => {
    const content = new Bytes()
    content.unsigned(items.length)
    for (const [index, item] of items.entries()) write(content, item, index)
    module.push(id)
    module.sized(content.view())
  }
  section(1, [...imports, ...functions], (type, { signature: { parameters, results } }) => {
    type.push(0x60)
    for (const each of [parameters, results]) {
      type.unsigned(each.length)
      for (const one of each) type.push(one)
    }
  })
  const [aFunction, aMemory, aGlobal] = [0, 2, 3]
  const imported = [
    { name: 'memory', is: [aMemory, 1] },
    ...imports.map(({ name }) => ({ name, is: [aFunction] })),
    ...globals.map((name) => ({ name, is: [aGlobal, i32, 0] })),
  ]
  section(2, imported, (entry, { name, is }, index) => {
    entry.text('e')
    entry.text(name)
    for (const byte of is) entry.push(byte)
    if (is[0] === aFunction) entry.unsigned(index - 1)
    if (is[0] === aMemory) {
      entry.unsigned(memoryPages)
      entry.unsigned(65536)
    }
  })
  section(3, functions, (list, _, index) => list.unsigned(imports.length + index))
  section(7, exported, (entry, index) => {
    entry.text(`f${index - imports.length}`)
    entry.push(0)
    entry.unsigned(index)
  })
  section(10, functions, (list, { code }) => list.sized(code.encoded()))
  return module.view()
}

/** Byte order for a WebAssembly shuffle of two four-word vectors. */
export const highPart = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15]
export const lowHalves = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]
export const highHalves = [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31]
export const evenWords = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]
export const oddWords = [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31]
export const zipLow = [0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23]
export const zipHigh = [8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31]
