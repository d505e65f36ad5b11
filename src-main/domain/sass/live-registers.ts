/** Computes the live registers at each instruction by data-flow analysis of a kernel's SASS. */
import type { Instruction } from '../session/deep'
import { registerFiles, registersOf, type RegisterFile } from './operands'
import { controlFlow, type ControlFlow } from './control-flow'

export interface Live {
  /** Number of live general registers, R. */
  general: number
  /** Number of live uniform registers, UR. */
  uniform: number
  /** Number of live predicates, P and UP. */
  predicate: number
}

/**
 * A set of registers for each instruction. Each bit represents one register that the kernel uses.
 * The bits are numbered without gaps.
 */
interface Sets {
  words: number
  bits: Uint32Array
}

const bitOf = (at: number) => 1 << (at & 31)

function ones(word: number): number {
  let left = word - ((word >>> 1) & 0x55555555)
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333)
  return (((left + (left >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24
}

/**
 * Returns the number of live registers at each instruction. A live register contains a result of
 * the instruction, or a value that this or a later instruction reads. Returns null if a jump's
 * target is not in the code, because liveness is then unknown.
 */
export function liveRegisters(
  code: readonly Pick<Instruction, 'offset' | 'text' | 'opcode'>[],
): readonly Live[] | null {
  const flow = controlFlow(code)
  if (!flow.whole) return null
  const uses = code.map(({ text }) => registersOf(text))
  const named = [...new Set(uses.flatMap(({ reads, writes }) => [...reads, ...writes]))].sort(
    (a, b) => a - b,
  )
  const place = new Map(named.map((register, at) => [register, at]))
  const words = Math.ceil(named.length / 32)
  const empty = (): Sets => ({ words, bits: new Uint32Array(code.length * words) })
  const [reads, writes, kills] = [empty(), empty(), empty()]
  const add = ({ bits }: Sets, index: number, registers: readonly number[]) => {
    for (const register of registers) {
      const at = place.get(register)!
      bits[index * words + (at >> 5)]! |= bitOf(at)
    }
  }
  for (const [index, use] of uses.entries()) {
    add(reads, index, use.reads)
    add(writes, index, use.writes)
    // Threads for which the guard is false keep the old value.
    if (!use.guarded) add(kills, index, use.writes)
  }
  const needed = neededBefore(flow, reads, kills)
  const given = givenBefore(flow, writes)

  const masks = (files: readonly RegisterFile[]): Uint32Array => {
    const mask = new Uint32Array(words)
    for (const [at, register] of named.entries())
      if (
        files.some((file) => {
          const { from, count } = registerFiles[file]
          return register >= from && register < from + count
        })
      )
        mask[at >> 5]! |= bitOf(at)
    return mask
  }
  const [general, uniform] = [masks(['general']), masks(['uniform'])]
  const predicate = masks(['predicate', 'uniformPredicate'])
  return code.map((_, index) => {
    const count = (mask: Uint32Array) => {
      let sum = 0
      for (let word = 0; word < words; word += 1) {
        const at = index * words + word
        // If a register is written and read under the same guard, it appears to be needed before
        // its first write. The check for a write on some earlier path (`given`) excludes this case.
        const liveBits = (needed.bits[at]! & given.bits[at]!) | writes.bits[at]!
        sum += ones(liveBits & mask[word]!)
      }
      return sum
    }
    return { general: count(general), uniform: count(uniform), predicate: count(predicate) }
  })
}

/**
 * Returns, for each instruction, the registers that some path from the instruction reads before
 * overwriting.
 */
function neededBefore({ successors }: ControlFlow, reads: Sets, kills: Sets): Sets {
  const { words } = reads
  const bits = reads.bits.slice()
  for (let changed = true; changed;) {
    changed = false
    for (let index = successors.length - 1; index >= 0; index -= 1)
      for (let word = 0; word < words; word += 1) {
        const at = index * words + word
        let after = 0
        for (const next of successors[index]!) after |= bits[next * words + word]!
        const found = (bits[at]! | (after & ~kills.bits[at]!)) >>> 0
        if (found === bits[at]) continue
        bits[at] = found
        changed = true
      }
  }
  return { words, bits }
}

/** Returns, for each instruction, the registers that some path to the instruction writes. */
function givenBefore({ successors }: ControlFlow, writes: Sets): Sets {
  const { words } = writes
  const bits = new Uint32Array(writes.bits.length)
  for (let changed = true; changed;) {
    changed = false
    for (const [index, following] of successors.entries())
      for (const next of following)
        for (let word = 0; word < words; word += 1) {
          const at = index * words + word
          const into = next * words + word
          const found = (bits[into]! | bits[at]! | writes.bits[at]!) >>> 0
          if (found === bits[into]) continue
          bits[into] = found
          changed = true
        }
  }
  return { words, bits }
}
