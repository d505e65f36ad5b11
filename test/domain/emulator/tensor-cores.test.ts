/**
 * Compares emulated sums for Hopper's tensor cores with warpgroup products from an H200
 * (`test/gpu/instructions/products.cu`).
 */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { floatOf } from '../../../src-main/domain/emulator/float'
import { alignedSums } from '../../../src-main/domain/emulator/fused/aligned-sums'
import { smallFloats, smallOf } from '../../../src-main/domain/emulator/small-floats'
import {
  leastFloat,
  readFragment,
  tensorFloatMask,
} from '../../../src-main/domain/emulator/matrix-layout'
import {
  cutFloat,
  kept,
  keptOfEights,
  maskOfEights,
  transpose,
} from '../../../src-main/domain/emulator/tensor-core-sums'

const [rows, columns, rowBytes] = [64, 8, 32]
const sizes = [8, rows * rowBytes, columns * rowBytes, 4 * rows * columns, 4 * rows * columns]
const recordBytes = sizes.reduce((sum, size) => sum + size, 0)
const data = new Uint8Array(
  brotliDecompressSync(
    readFileSync(new URL('../../captures/instructions/products-h200.bin.br', import.meta.url)),
  ),
)

const { f16, bf16, e4m3, e5m2 } = smallFloats
const types = [
  { name: 'F16', a: f16, b: f16 },
  { name: 'BF16', a: bf16, b: bf16 },
  { name: 'TF32', a: null, b: null },
  { name: 'E4M3', a: e4m3, b: e4m3 },
  { name: 'E5M2', a: e5m2, b: e5m2 },
  { name: 'E4M3 and E5M2', a: e4m3, b: e5m2 },
]

type Small = (typeof types)[number]['a']

function numbers(bytes: Uint8Array, type: Small): Float64Array {
  const view = new DataView(bytes.slice().buffer)
  const size = type === null ? 4 : type.bytes
  return Float64Array.from({ length: bytes.length / size }, (_, place) =>
    type === null
      ? floatOf(view.getUint32(4 * place, true) & tensorFloatMask)
      : smallOf(type.bytes === 1 ? view.getUint8(place) : view.getUint16(2 * place, true), type),
  )
}

describe('a warpgroup product', () => {
  it.each(types.map((type, index) => ({ ...type, index })))(
    'of $name matches an H200 bit for bit',
    ({ index, a, b }) => {
      let [elements, unequal] = [0, 0]
      for (let at = 0; at < data.length; at += recordBytes) {
        let from = at
        const [head, left, right, before, after] = sizes.map((size) => {
          from += size
          return data.slice(from - size, from)
        }) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array]
        if (head[0] !== index) continue
        const [A, B] = [numbers(left, a), numbers(right, b)]
        const eights = index >= 3
        const product = alignedSums({
          ...{ rows, columns, depth: A.length / rows },
          leastNormal: a === null ? leastFloat : 2 ** (1 - Math.max(a.excess, b.excess)),
          ...{ leastAddend: leastFloat, bits: eights ? keptOfEights : kept },
        })
        product.left.set(A)
        transpose(B, columns, product.right)
        product.sums.set(new Float32Array(before.buffer))
        product.add()
        const results = new Int32Array(after.buffer)
        for (const [place, sum] of product.sums.entries()) {
          elements++
          if (cutFloat(sum, eights ? maskOfEights : -1) !== results[place]) unequal++
        }
      }
      expect(elements).toBe(6 * rows * columns)
      expect(unequal).toBe(0)
    },
  )
})

describe('a matrix fragment in registers', () => {
  it('has four FP8 elements per register, adjacent along K', () => {
    const depth = 32
    const [lanes, registers] = [32, 4]
    const table = Float32Array.from({ length: 65536 }, (_, bits) => bits & 0xff)
    const rowOf = (register: number, lane: number) => (register % 2) * 8 + (lane >> 2)
    const columnOf = (register: number, lane: number) => (register >> 1) * 16 + 4 * (lane & 3)
    const valueOf = (row: number, column: number) => (row * depth + column) % 251
    const words = Int32Array.from({ length: registers * lanes }, (_, at) => {
      const [register, lane] = [Math.floor(at / lanes), at % lanes]
      return [0, 1, 2, 3].reduce(
        (bits, byte) =>
          bits | (valueOf(rowOf(register, lane), columnOf(register, lane) + byte) << (8 * byte)),
        0,
      )
    })
    const into = new Float64Array(16 * depth)
    const elements = { packed: 4, table, leastNormal: 1 } as const
    readFragment(words, 0, [0, 32, 64, 96], elements, depth, 2, into)
    expect([...into]).toEqual(
      [...into.keys()].map((at) => valueOf(Math.floor(at / depth), at % depth)),
    )
  })
})
