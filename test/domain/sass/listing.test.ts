/**
 * Compares our disassembler with NVIDIA's. The encodings are from `cuobjdump -sass` of CUDA 13.0 on
 * five architectures. The encodings cover every rung, lab, and template, and kernels that use most
 * of CUDA C++. test/gpu/sass-pairs.mjs collects the encodings.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeInstruction, type UnknownInstruction } from '../../../src-main/domain/sass/decode'
import type { Instruction } from '../../../src-main/domain/sass/instruction'
import { printInstruction } from '../../../src-main/domain/sass/print'

type Words = Instruction['words']

interface Pair {
  architecture: number
  address: number
  words: Words
  /** Number of encodings of the same kind, set only for the first pair of each kind. */
  count: number
  text: string
}

const file = join(import.meta.dirname, '../../captures/sass/pairs.tsv.br')
const pairs = brotliDecompressSync(readFileSync(file))
  .toString('utf8')
  .trimEnd()
  .split('\n')
  .map((line): Pair => {
    const [architecture, address, encoding, count, text] = line.split('\t') as string[]
    const words = [24, 16, 8, 0].map((at) => parseInt(encoding!.slice(at, at + 8), 16))
    return {
      architecture: Number(architecture),
      address: parseInt(address!, 16),
      words: words as [number, number, number, number],
      count: Number(count),
      text: text!,
    }
  })

const decode = ({ words, address, architecture }: Pair): Instruction | UnknownInstruction =>
  decodeInstruction(words, address, architecture)

/**
 * Matches instructions that no kernel in this project needs. The unsupported instructions are
 * sparse, 1-bit, 4-bit, and FP8 warp matrix products, and rare cluster operations.
 */
const unsupported = /^(@\S+ )?(BMMA|HMMA\.SP|IMMA\.\d+\.S4|QMMA|REDAS|STAS)\b/

describe.each([90, 89, 86, 80, 75])('sm_%i', (architecture) => {
  const own = pairs.filter((pair) => pair.architecture === architecture)

  it("matches NVIDIA's text exactly", () => {
    expect(own.length).toBeGreaterThan(500)
    const wrong = own
      .filter(({ text }) => !unsupported.test(text))
      .map((pair) => {
        const instruction = decode(pair)
        const printed = 'unknown' in instruction ? 'unknown' : printInstruction(instruction)
        return printed === pair.text.trimEnd() ? null : `${pair.text} is ${printed}`
      })
      .filter((fault) => fault !== null)
    expect(wrong).toEqual([])
  })

  it('returns unsupported instructions as unknown, with their address and bits', () => {
    for (const pair of own.filter(({ text }) => unsupported.test(text)))
      expect(decode(pair)).toEqual({ unknown: true, address: pair.address, words: pair.words })
  })
})

describe('a flipped bit', () => {
  /** The first pair of encoding and text for each combination of opcode and architecture. */
  const samples = [
    ...new Map(
      pairs.map((pair) => [`${pair.architecture} ${pair.words[0] & 0xfff}`, pair] as const),
    ).values(),
  ].filter((pair) => !('unknown' in decode(pair)))

  /**
   * Returns whether the printed text omits some bits of the encoding. On sm_80 to sm_89, every
   * access encodes the register of a memory descriptor that is not printed.
   */
  const hasSilentBits = ({ architecture, text }: Pair): boolean =>
    architecture >= 80 && architecture < 90 && /\[R\d+(\.64)?[\]+]/.test(text)

  it('changes the decoded instruction or makes it unknown', () => {
    expect(samples.length).toBeGreaterThan(400)
    const same: string[] = []
    for (const pair of samples.filter((pair) => !hasSilentBits(pair))) {
      const before = JSON.stringify({ ...(decode(pair) as Instruction), words: null })
      for (let bit = 0; bit < 125; bit += 1) {
        const words = [...pair.words] as [number, number, number, number]
        words[bit >> 5] = (words[bit >> 5]! ^ (1 << (bit & 31))) >>> 0
        const after = JSON.stringify({ ...decode({ ...pair, words }), words: null })
        if (after === before) same.push(`${pair.text}: bit ${bit}`)
      }
    }
    expect(same).toEqual([])
  })

  it('does not add a third source to an LEA with two sources', () => {
    const words = [0x03037411, 0, 0x078fcaff, 0x000fc600] as const
    expect(decodeInstruction(words, 0, 90)).toMatchObject({ unknown: true })
    const own = [0x03037211, 0, 0x078fcaff, 0x000fc600] as const
    expect(decodeInstruction(own, 0, 90)).toMatchObject({ mnemonic: 'LEA' })
  })
})

describe('an instruction', () => {
  const of = (...words: Words): Instruction | UnknownInstruction =>
    decodeInstruction(words, 0x20, 90)
  const plain = { negated: false, absolute: false, inverted: false, suffixes: [] }

  it('has an operand list with the kind of each operand', () => {
    // @!P1 LDG.E.128 R12, desc[UR6][R4.64+0x10]
    expect(of(0x040c9981, 0x00001006, 0x0c1e1d00, 0x001e2200)).toEqual({
      address: 0x20,
      words: [0x040c9981, 0x00001006, 0x0c1e1d00, 0x001e2200],
      guard: { kind: 'predicate', index: 1, negated: true },
      mnemonic: 'LDG',
      modifiers: ['E', '128'],
      operands: [
        { kind: 'register', index: 12, reuse: false, ...plain },
        {
          kind: 'memory',
          register: 4,
          width: 64,
          scale: 1,
          uniform: null,
          descriptor: 6,
          offset: 16,
        },
      ],
      control: { stall: 1, yield: false, writeBarrier: 0, readBarrier: null, waitMask: 1 },
    })
  })

  it('can have a float or a negative integer as its immediate', () => {
    // FFMA R4, -R3, R5, 1 and IADD3 R4, R5, -0x1, RZ
    expect(of(0x03047423, 0x3f800000, 0x00000105, 0x000fc800)).toMatchObject({
      operands: [
        { index: 4 },
        { index: 3, negated: true },
        { index: 5 },
        { kind: 'immediate', type: 'f32', bits: 0x3f800000 },
      ],
    })
    expect(of(0x05047810, 0xffffffff, 0x07ffe0ff, 0x000fc800)).toMatchObject({
      operands: [{ index: 4 }, { index: 5 }, { kind: 'immediate', bits: -1, signed: true }, {}],
    })
  })
})
