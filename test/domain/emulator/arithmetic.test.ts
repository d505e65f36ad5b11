import { describe, expect, it } from 'vitest'
import {
  brainBits,
  bfloatBitsOf,
  bfloatOf,
  floatOf,
  fusedMultiplyAdd,
  halfBits,
  halfOf,
  multiplyHigh,
  multiplyHighSigned,
} from '../../../src-main/domain/emulator/float'
import { verify } from '../../../src-main/domain/emulation/check'
import { fillBuffer } from '../../../src-main/domain/emulator/fills'
import { eightBits, smallFloats, smallOf } from '../../../src-main/domain/emulator/small-floats'

/** Returns the exact integer mantissa and the exponent of a float. */
function exact(value: number): [bigint, number] {
  const bits = new Uint32Array(new Float32Array([value]).buffer)[0]!
  const exponent = (bits >>> 23) & 255
  const mantissa = BigInt(bits & 0x7fffff) | (exponent === 0 ? 0n : 0x800000n)
  return [bits >>> 31 ? -mantissa : mantissa, Math.max(exponent, 1) - 150]
}

/** Computes a * b + c with integers and rounds the result once, to nearest with ties to even. */
function reference(a: number, b: number, c: number): number {
  const [ma, ea] = exact(a)
  const [mb, eb] = exact(b)
  const [mc, ec] = exact(c)
  const exponent = Math.min(ea + eb, ec)
  const sum = ((ma * mb) << BigInt(ea + eb - exponent)) + (mc << BigInt(ec - exponent))
  if (sum === 0n) return a * b + c
  const size = sum < 0n ? -sum : sum
  const drop = Math.max(size.toString(2).length - 24, -149 - exponent)
  let kept = size
  if (drop > 0) {
    const unit = 1n << BigInt(drop)
    const rest = size % unit
    kept = size / unit
    if (2n * rest > unit || (2n * rest === unit && kept % 2n === 1n)) kept++
  } else kept = size << BigInt(-drop)
  return Math.fround((sum < 0n ? -1 : 1) * Number(kept) * 2 ** (exponent + drop))
}

/**
 * Returns a generator of 32-bit numbers that uses MurmurHash3's finalizer. All test runs use the
 * same numbers.
 */
function randomBits(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x9e3779b9) | 0
    let bits = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
    return bits ^ (bits >>> 16)
  }
}

describe('a * b + c for floats', () => {
  it('is rounded once', () => {
    const next = randomBits(1)
    // The operands have similar magnitudes, so that the test detects double rounding.
    const near = () => floatOf((next() & 0x80ffffff) | 0x3f000000)
    const short = () => floatOf((next() & 0x80fff000) | 0x3f000000)
    const tiny = () => Math.fround(near() * 2 ** (-20 - (next() & 15)))
    for (let round = 0; round < 20000; round++) {
      const [a, b, c] = round % 3 === 0 ? [near(), near(), near()] : [short(), short(), tiny()]
      expect(fusedMultiplyAdd(a, b, c)).toBe(reference(a, b, c))
    }
  })

  it('differs from rounding twice if the rounded double is halfway between two floats', () => {
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24 is halfway between two floats, so the addend decides the
    // rounding.
    const a = 1 + 2 ** -12
    const c = 2 ** -80
    expect(Math.fround(a * a + c)).toBe(1 + 2 ** -11)
    expect(fusedMultiplyAdd(a, a, c)).toBe(1 + 2 ** -11 + 2 ** -23)
    expect(fusedMultiplyAdd(a, a, -c)).toBe(1 + 2 ** -11)
    expect(fusedMultiplyAdd(a, a, 0)).toBe(1 + 2 ** -11)
  })

  it('keeps the signs of zero, infinity, and NaN', () => {
    expect(fusedMultiplyAdd(-0, 1, -0)).toBe(-0)
    expect(fusedMultiplyAdd(1, 1, -1)).toBe(0)
    expect(fusedMultiplyAdd(Infinity, 1, -Infinity)).toBeNaN()
    expect(fusedMultiplyAdd(2 ** 100, 2 ** 100, -1)).toBe(Infinity)
    // The values are the midpoint above the largest float, and a value slightly below the midpoint.
    const largest = 2 ** 128 - 2 ** 104
    expect(fusedMultiplyAdd(1, largest, 2 ** 103)).toBe(Infinity)
    expect(fusedMultiplyAdd(2 ** 64 - 2 ** 40, 2 ** 64, 2 ** 103)).toBe(Infinity)
  })
})

describe('halves', () => {
  it('are unchanged after a conversion to a number and back', () => {
    for (let bits = 0; bits < 0x10000; bits++) {
      const value = halfOf(bits)
      expect(halfBits(value)).toBe(Number.isNaN(value) ? 0x7fff : bits)
    }
  })

  it('are rounded to nearest with ties to even', () => {
    expect(halfBits(1 + 2 ** -11)).toBe(0x3c00)
    expect(halfBits(1 + 3 * 2 ** -11)).toBe(0x3c02)
    expect(halfBits(65519)).toBe(0x7bff)
    expect(halfBits(65520)).toBe(0x7c00)
    expect(halfBits(2 ** -25)).toBe(0)
    expect(halfBits(1.0001 * 2 ** -25)).toBe(1)
    expect(brainBits(1 + 2 ** -8)).toBe(0x3f80)
    expect(brainBits(1 + 3 * 2 ** -8)).toBe(0x3f82)
  })
})

describe.each(['e4m3', 'e5m2'] as const)('%s', (name) => {
  const type = smallFloats[name]
  const codes = Array.from({ length: type.finite + 1 }, (_, code) => code)

  it('is decoded and then encoded to the same bits', () => {
    for (const code of codes) {
      expect(eightBits(smallOf(code, type), type)).toBe(code)
      expect(eightBits(smallOf(code | 0x80, type), type)).toBe(code | 0x80)
    }
    expect(smallOf(0x38 + (name === 'e5m2' ? 4 : 0), type)).toBe(1)
    expect(smallOf(type.finite, type)).toBe(name === 'e4m3' ? 448 : 57344)
  })

  it('is rounded to nearest with ties to even, and stays finite', () => {
    for (const code of codes.slice(1)) {
      const [low, high] = [smallOf(code - 1, type), smallOf(code, type)]
      const middle = (low + high) / 2
      expect(eightBits(middle, type)).toBe(code % 2 === 0 ? code : code - 1)
      expect(eightBits(middle * (1 + 2 ** -40), type)).toBe(code)
      expect(eightBits(middle * (1 - 2 ** -40), type)).toBe(code - 1)
    }
    expect(eightBits(1e9, type)).toBe(type.finite)
    expect(eightBits(-Infinity, type)).toBe(type.finite | 0x80)
  })

  it('fills a buffer with the rounded FP32 numbers', () => {
    const bytes = new Uint8Array(64)
    const floats = new Float32Array(64)
    const rule = { kind: 'uniform', low: -1, high: 1 } as const
    fillBuffer(bytes, name, rule, 1, 0)
    fillBuffer(new Uint8Array(floats.buffer), 'f32', rule, 1, 0)
    expect([...bytes]).toEqual([...floats].map((value) => eightBits(value, type)))
  })
})

describe('a uniform f64', () => {
  const filled = new BigUint64Array(4)
  fillBuffer(new Uint8Array(filled.buffer), 'f64', { kind: 'uniform', low: -1, high: 1 }, 1, 2)
  const doubles = [...new Float64Array(filled.buffer)]

  it('has the same bits as in the runner', () => {
    // test/gpu/runner-cases/pure.cu contains the same expected values.
    expect([...filled].map((bits) => bits.toString(16))).toEqual([
      ...['3fe1610801a55156', 'bfed28210dce1852', 'bfe4dae7c35ad4da', 'bfccacc219df00a8'],
    ])
  })

  it('cannot be represented exactly as a float, so a copy through float fails an exact check', () => {
    expect(doubles.filter((value) => Math.fround(value) === value)).toEqual([])
    const bytesOf = (values: number[]) => new Uint8Array(new Float64Array(values).buffer)
    const throughFloat = { actual: bytesOf(doubles.map(Math.fround)), expected: bytesOf(doubles) }
    const output = {
      name: 'y',
      dtype: 'f64',
      shape: [4],
      scale: null,
      mask: null,
      special: false,
    } as const
    const none = { outOfBounds: [], changedInputs: [] }
    expect(verify([{ ...output, ...throughFloat, rule: { kind: 'exact' } }], none).mismatches).toBe(
      4,
    )
  })
})

describe('infinities and NaNs among the inputs', () => {
  const length = 5
  const lines = (dtype: string, bytes: number, read: (view: DataView, at: number) => number) => {
    const filled = new Uint8Array(9 * length * bytes)
    const rule = { kind: 'uniform', low: -1, high: 1, special: { every: 2, length } } as const
    fillBuffer(filled, dtype, rule, 1, 0)
    const values = Array.from(filled.subarray(0, filled.length / bytes), (_, i) =>
      read(new DataView(filled.buffer), bytes * i),
    )
    return Array.from({ length: 9 }, (_, line) => values.slice(line * length, (line + 1) * length))
  }
  const odd = (line: readonly number[]) => line.filter((value) => !Number.isFinite(value))

  it.each([
    ['f32', 4, (view: DataView, at: number) => view.getFloat32(at, true)],
    [
      'bf16',
      2,
      (view: DataView, at: number) => smallOf(view.getUint16(at, true), smallFloats.bf16),
    ],
    ['f16', 2, (view: DataView, at: number) => smallOf(view.getUint16(at, true), smallFloats.f16)],
  ] as const)('appear in every second line of %s, in alternating order', (dtype, bytes, read) => {
    expect(lines(dtype, bytes, read).map(odd)).toEqual([
      ...[[], Array(length).fill(-Infinity), [], [-Infinity], [], [Infinity], [], [NaN], []],
    ])
  })

  it('become the largest numbers in a type without infinity, and NaN stays NaN', () => {
    const small = (view: DataView, at: number) => smallOf(view.getUint8(at), smallFloats.e4m3)
    const found = lines('e4m3', 1, small)
    expect(found[1]).toEqual(Array(length).fill(-448))
    expect(odd(found[7]!)).toEqual([NaN])
  })
})

describe('the high word of a product', () => {
  it('matches integer arithmetic', () => {
    const next = randomBits(2)
    for (let round = 0; round < 2000; round++) {
      const [a, b] = round === 0 ? [-1, -1] : [next(), next()]
      expect(multiplyHighSigned(a, b)).toBe(Number((BigInt(a) * BigInt(b)) >> 32n))
      const unsigned = (BigInt(a >>> 0) * BigInt(b >>> 0)) >> 32n
      expect(multiplyHigh(a >>> 0, b >>> 0) >>> 0).toBe(Number(unsigned))
    }
  })
})

describe('a sum of bfloat16 values', () => {
  it('is rounded once, regardless of how small an addend is', () => {
    for (const [tie, below, even, above] of [
      [1 + 2 ** -8, 0x3f80, 0x3f80, 0x3f81],
      [1 + 3 * 2 ** -8, 0x3f81, 0x3f82, 0x3f82],
      [-1 - 2 ** -8, 0xbf81, 0xbf80, 0xbf80],
      // This tie is between two denormal bfloat16 values.
      [3 * 2 ** -134, 0x0001, 0x0002, 0x0002],
    ] as const)
      for (const error of [2 ** -100 * Math.abs(tie), 2 ** -60 * Math.abs(tie)])
        expect([bfloatBitsOf(tie, -error), bfloatBitsOf(tie), bfloatBitsOf(tie, error)]).toEqual([
          below,
          even,
          above,
        ])
    expect(bfloatBitsOf(bfloatOf(0x4049))).toBe(0x4049)
    expect(bfloatBitsOf(2 ** 128 - 2 ** 119, -1)).toBe(0x7f7f)
    expect(bfloatBitsOf(2 ** 128 - 2 ** 119)).toBe(0x7f80)
  })
})
