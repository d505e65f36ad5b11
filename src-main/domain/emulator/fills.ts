/**
 * Computes the initial buffer contents for a rung. The contents match the runner's buffers, because
 * the values are the same function of seed, stream and index as in `cuda-kernels/runner/fill.hpp`.
 */
import { brainBits, halfBits, multiplyHigh } from './float'
import { eightBits, smallFloats } from './small-floats'

export type FillRule =
  | { kind: 'uniform'; low: number; high: number; special?: Special }
  | { kind: 'normal'; mean: number; deviation: number; special?: Special }
  | { kind: 'constant'; value: number }
  | { kind: 'iota' }
  | { kind: 'permutation' }

/**
 * Placement of special values. A line consists of `length` elements. One out of `every` lines
 * contains special values. The kinds in `specialKinds` alternate.
 */
interface Special {
  every: number
  length: number
}

/**
 * Special values that a line can contain. With `everywhere`, a value fills the whole line. Without
 * `everywhere`, a value replaces one randomly chosen element.
 */
const specialKinds = [
  { value: -Infinity, everywhere: true },
  { value: -Infinity, everywhere: false },
  { value: Infinity, everywhere: false },
  { value: NaN, everywhere: false },
] as const

/** A 64-bit value, stored as two 32-bit words. */
interface Long {
  high: number
  low: number
}

const longOf = (value: bigint): Long => ({
  high: Number(BigInt.asIntN(32, value >> 32n)),
  low: Number(BigInt.asIntN(32, value)),
})

const seedFactor = 0xd1342543de82ef95n
const streamFactor = 0xa0761d6478bd642fn
const indexFactor = 0x9e3779b97f4a7c15n
const firstFactor = longOf(0xbf58476d1ce4e5b9n)
const secondFactor = longOf(0x94d049bb133111ebn)

function multiply(value: Long, by: Long): void {
  const high =
    (multiplyHigh(value.low >>> 0, by.low >>> 0) +
      Math.imul(value.high, by.low) +
      Math.imul(value.low, by.high)) |
    0
  value.low = Math.imul(value.low, by.low)
  value.high = high
}

function foldRight(value: Long, by: number): void {
  value.low ^= (value.low >>> by) | (value.high << (32 - by))
  value.high ^= value.high >>> by
}

/** Applies the finalizer of SplitMix64. */
function mix(value: Long): void {
  foldRight(value, 30)
  multiply(value, firstFactor)
  foldRight(value, 27)
  multiply(value, secondFactor)
  foldRight(value, 31)
}

function randomStream(seed: number, stream: number): (index: number, into: Long) => void {
  const start = BigInt(seed) * seedFactor + BigInt(stream) * streamFactor
  const factor = longOf(indexFactor)
  const base = longOf(start)
  return (index, into) => {
    into.low = index + 1
    into.high = Math.floor((index + 1) / 2 ** 32)
    multiply(into, factor)
    const low = (into.low >>> 0) + (base.low >>> 0)
    into.low = low | 0
    into.high = (into.high + base.high + (low >= 2 ** 32 ? 1 : 0)) | 0
    mix(into)
  }
}

type Write = (index: number, value: number) => void

/** Returns the size of an element type and a function that writes one element. */
function writer(
  dtype: string,
  bytes: Uint8Array,
): { size: number; integer: boolean; write: Write } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  switch (dtype) {
    case 'f32':
      return {
        size: 4,
        integer: false,
        write: (i, value) => view.setFloat32(4 * i, value, true),
      }
    case 'f64':
      return {
        size: 8,
        integer: false,
        write: (i, value) => view.setFloat64(8 * i, value, true),
      }
    case 'f16':
      return {
        size: 2,
        integer: false,
        write: (i, value) => view.setUint16(2 * i, halfBits(value), true),
      }
    case 'bf16':
      return {
        size: 2,
        integer: false,
        write: (i, value) => view.setUint16(2 * i, brainBits(Math.fround(value)), true),
      }
    case 'e4m3':
    case 'e5m2':
      return {
        size: 1,
        integer: false,
        write: (i, value) => view.setUint8(i, eightBits(value, smallFloats[dtype])),
      }
    case 'i8':
    case 'u8':
      return {
        size: 1,
        integer: true,
        write: (i, value) => view.setUint8(i, value),
      }
    case 'i16':
    case 'u16':
      return {
        size: 2,
        integer: true,
        write: (i, value) => view.setUint16(2 * i, value, true),
      }
    case 'i32':
    case 'u32':
      return {
        size: 4,
        integer: true,
        write: (i, value) => view.setUint32(4 * i, value, true),
      }
    case 'i64':
    case 'u64':
      return {
        size: 8,
        integer: true,
        write: (i, value) => view.setBigUint64(8 * i, BigInt.asUintN(64, BigInt(value)), true),
      }
    default:
      throw new Error(`The emulator has no element type ${dtype}.`)
  }
}

/**
 * Returns an odd multiple of 2^-23 in (-1, 1), which is exact in a float. For f64, the result is an
 * odd multiple of 2^-52. A rung that processes an f64 task in float therefore fails an exact check.
 */
function uniformOf({ high, low }: Long, dtype: string): number {
  // Use constant powers of two, because computing a power for each element would dominate the fill
  // time.
  return dtype === 'f64'
    ? (2 * ((high >>> 0) * 2 ** 20 + (low >>> 12)) + 1 - 2 ** 52) * 2 ** -52
    : (2 * (high >>> 9) + 1 - 2 ** 23) * 2 ** -23
}

/**
 * Returns a random permutation of the numbers below `count`. The function applies a four-round
 * Feistel network until the result is below `count`.
 */
function permutation(count: number, random: ReturnType<typeof randomStream>) {
  let half = 1
  while (2 ** (2 * half) < count) half++
  const mask = 2 ** half - 1
  const bits: Long = { high: 0, low: 0 }
  return (start: number): number => {
    let index = start
    do {
      let left = Math.floor(index / 2 ** half)
      let right = index & mask
      for (let round = 0; round < 4; round++) {
        random(right * 4 + round, bits)
        const next = left ^ (bits.low & mask)
        left = right
        right = next
      }
      index = left * 2 ** half + right
    } while (index >= count)
    return index
  }
}

function writeSpecials(
  { every, length }: Special,
  count: number,
  random: ReturnType<typeof randomStream>,
  write: Write,
): void {
  const bits: Long = { high: 0, low: 0 }
  for (let line = every - 1; line < count / length; line += every) {
    const { value, everywhere } = specialKinds[((line + 1) / every - 1) % specialKinds.length]!
    // Stream indices from `count` up are unused, because all element indices are below `count`.
    random(count + line, bits)
    const start = line * length
    if (everywhere) for (let i = start; i < start + length; i++) write(i, value)
    else write(start + ((bits.high >>> 0) % length), value)
  }
}

export function fillBuffer(
  bytes: Uint8Array,
  dtype: string,
  rule: FillRule,
  seed: number,
  stream: number,
): void {
  const { size, integer, write } = writer(dtype, bytes)
  const count = bytes.length / size
  const random = randomStream(seed, stream)
  const bits: Long = { high: 0, low: 0 }
  switch (rule.kind) {
    case 'uniform': {
      const middle = (rule.low + rule.high) / 2
      const half = (rule.high - rule.low) / 2
      const span = BigInt(Math.trunc(rule.high - rule.low)) + 1n
      for (let i = 0; i < count; i++) {
        random(i, bits)
        if (integer) {
          const whole = (BigInt(bits.high >>> 0) << 32n) | BigInt(bits.low >>> 0)
          write(i, rule.low + Number((whole * span) >> 64n))
        } else write(i, middle + half * uniformOf(bits, dtype))
      }
      if (rule.special) writeSpecials(rule.special, count, random, write)
      return
    }
    case 'normal':
      for (let i = 0; i < count; i++) {
        random(i, bits)
        const length = ((bits.high >>> 0) + 1) * 2 ** -32
        const angle = (bits.low >>> 0) * 2 ** -32
        const value = Math.sqrt(-2 * Math.log(length)) * Math.cos(2 * Math.PI * angle)
        write(i, rule.mean + rule.deviation * value)
      }
      if (rule.special) writeSpecials(rule.special, count, random, write)
      return
    case 'constant':
      for (let i = 0; i < count; i++) write(i, rule.value)
      return
    case 'iota':
      for (let i = 0; i < count; i++) write(i, i)
      return
    case 'permutation': {
      const at = permutation(count, random)
      for (let i = 0; i < count; i++) write(i, at(i))
    }
  }
}
