/** Writes a WebAssembly module: as much of its format as the emulator needs. */

export const i32 = 0x7f
export const i64 = 0x7e
export const v128 = 0x7b

/** Opcodes; those of vectors stand behind the prefix 0xfd. */
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
  doubleAdd: 0xf0,
  doubleMul: 0xf2,
  /** Of relaxed SIMD: rounds once where the CPU can, else twice. */
  relaxedMultiplyAdd: 0x105,
} as const

function pushUnsigned(bytes: number[], value: number): void {
  let rest = value >>> 0
  do {
    const low = rest & 0x7f
    rest >>>= 7
    bytes.push(rest === 0 ? low : low | 0x80)
  } while (rest !== 0)
}

function pushSigned(bytes: number[], value: number): void {
  let rest = value | 0
  for (;;) {
    const low = rest & 0x7f
    rest >>= 7
    if ((rest === 0 && !(low & 0x40)) || (rest === -1 && low & 0x40)) {
      bytes.push(low)
      return
    }
    bytes.push(low | 0x80)
  }
}

/** The body of a function, written instruction by instruction. */
export class Code {
  readonly bytes: number[] = []
  private readonly locals: number[] = []

  constructor(private readonly parameters: number) {}

  /** A new local of that type. */
  local(type: number): number {
    this.locals.push(type)
    return this.parameters + this.locals.length - 1
  }

  op(...codes: number[]): void {
    this.bytes.push(...codes)
  }

  get(local: number): void {
    this.bytes.push(scalar.get)
    pushUnsigned(this.bytes, local)
  }

  set(local: number): void {
    this.bytes.push(scalar.set)
    pushUnsigned(this.bytes, local)
  }

  tee(local: number): void {
    this.bytes.push(scalar.tee)
    pushUnsigned(this.bytes, local)
  }

  constant(value: number): void {
    this.bytes.push(scalar.constant)
    pushSigned(this.bytes, value)
  }

  /** A scalar load or store at the address on the stack plus `offset`. */
  memory(code: number, offset: number): void {
    this.bytes.push(code, 2)
    pushUnsigned(this.bytes, offset)
  }

  call(index: number): void {
    this.bytes.push(scalar.call)
    pushUnsigned(this.bytes, index)
  }

  vector(code: number): void {
    this.bytes.push(0xfd)
    pushUnsigned(this.bytes, code)
  }

  vectorMemory(code: number, offset: number): void {
    this.vector(code)
    this.bytes.push(2)
    pushUnsigned(this.bytes, offset)
  }

  /** Loads or stores one lane of a vector. */
  laneMemory(code: number, offset: number, lane: number): void {
    this.vectorMemory(code, offset)
    this.bytes.push(lane)
  }

  words(...values: readonly [number, number, number, number]): void {
    this.vector(vector.constant)
    for (const value of values)
      this.bytes.push(value & 255, (value >>> 8) & 255, (value >>> 16) & 255, value >>> 24)
  }

  splat(value: number): void {
    this.words(value, value, value, value)
  }

  shuffle(lanes: readonly number[]): void {
    this.vector(vector.shuffle)
    this.bytes.push(...lanes)
  }

  /** With its locals and length, as the code section holds it. */
  encoded(): number[] {
    const body: number[] = []
    pushUnsigned(body, this.locals.length)
    for (const type of this.locals) body.push(1, type)
    for (const byte of this.bytes) body.push(byte)
    body.push(scalar.end)
    const whole: number[] = []
    pushUnsigned(whole, body.length)
    return whole.concat(body)
  }
}

export interface Signature {
  parameters: readonly number[]
  results: readonly number[]
}

/** Imports a memory and functions; exports every function of its own as `f0`, `f1`, …. */
export function encodeModule(
  memoryPages: number,
  imports: readonly { name: string; signature: Signature }[],
  functions: readonly { signature: Signature; code: Code }[],
): Uint8Array<ArrayBuffer> {
  const signatures = [...imports, ...functions].map(({ signature }) => signature)
  const section = (id: number, content: number[]): number[] => {
    const size: number[] = []
    pushUnsigned(size, content.length)
    return [id, ...size, ...[]].concat(content)
  }
  const list = (items: readonly number[][]): number[] => {
    const bytes: number[] = []
    pushUnsigned(bytes, items.length)
    for (const item of items) for (const byte of item) bytes.push(byte)
    return bytes
  }
  const text = (value: string): number[] => [
    value.length,
    ...[...value].map((letter) => letter.charCodeAt(0)),
  ]
  const number = (value: number): number[] => {
    const bytes: number[] = []
    pushUnsigned(bytes, value)
    return bytes
  }
  const types = signatures.map(({ parameters, results }) => [
    0x60,
    ...number(parameters.length),
    ...parameters,
    ...number(results.length),
    ...results,
  ])
  const module = [
    [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    section(1, list(types)),
    section(
      2,
      list([
        [...text('e'), ...text('memory'), 2, 1, ...number(memoryPages), ...number(65536)],
        ...imports.map(({ name }, index) => [...text('e'), ...text(name), 0, ...number(index)]),
      ]),
    ),
    section(3, list(functions.map((_, index) => number(imports.length + index)))),
    section(
      7,
      list(
        functions.map((_, index) => [...text(`f${index}`), 0, ...number(imports.length + index)]),
      ),
    ),
    section(10, list(functions.map(({ code }) => code.encoded()))),
  ]
  const bytes = new Uint8Array(module.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of module) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
