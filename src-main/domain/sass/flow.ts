/** Where execution goes after each instruction, and which registers hold a value that is still needed. */
import { opcodeFamily, type Instruction } from '../session/deep'
import { registerFiles, registersOf, type RegisterFile } from './operands'

// Where execution goes after each instruction, and the arrows that show it.

type Code = readonly Pick<Instruction, 'offset' | 'text' | 'opcode'>[]

const jumps = new Set(['BRA', 'JMP', 'CALL', 'WARPSYNC'])
const ends = new Set(['EXIT', 'RET', 'KILL'])

/** A jump's target, as the offset that ends its operands. */
const targetOffset = (text: string): number | undefined => {
  const found = /\b0x([0-9a-f]+)\s*;?$/.exec(text)
  return found ? parseInt(found[1]!, 16) : undefined
}

/** May fall through: a guard, or a condition among the operands. */
const conditional = (text: string): boolean =>
  /^\s*@/.test(text) || /^\s*BRA\S*\s+(?:!?U?P\d|~?U?R)/.test(text)

export interface Branch {
  /** Index of the instruction that jumps, and of the one that is jumped to. */
  from: number
  to: number
}

export interface ControlFlow {
  /** Indices that can follow each instruction. */
  successors: readonly (readonly number[])[]
  branches: readonly Branch[]
  /** False when a jump's target is in a register: then what follows it is unknown. */
  whole: boolean
}

export function controlFlow(code: Code): ControlFlow {
  const byOffset = new Map(code.map(({ offset }, index) => [offset, index]))
  const branches: Branch[] = []
  const afterCalls = code.flatMap(({ opcode }, index) =>
    opcodeFamily(opcode) === 'CALL' && index + 1 < code.length ? [index + 1] : [],
  )
  let whole = true
  const successors = code.map(({ text, opcode }, index) => {
    const family = opcodeFamily(opcode)
    const next = index + 1 < code.length ? [index + 1] : []
    // A function that is called returns behind any of its calls.
    if (family === 'RET') return conditional(text) ? [...afterCalls, ...next] : afterCalls
    if (ends.has(family)) return conditional(text) ? next : []
    if (/^(BRXU?|JMXU?)$/.test(family)) {
      whole = false
      return next
    }
    if (!jumps.has(family)) return next
    const to = byOffset.get(targetOffset(text) ?? -1)
    if (to === undefined) {
      // WARPSYNC has a target only when it is collective; a call may leave the kernel's own code.
      if (family === 'BRA' || family === 'JMP') whole = false
      return next
    }
    branches.push({ from: index, to })
    const falls = family === 'CALL' || family === 'WARPSYNC' || conditional(text)
    return falls ? [to, ...next] : [to]
  })
  return { successors, branches, whole }
}

export interface Arrow extends Branch {
  /** Column it is drawn in, from 0, the nearest to the code. */
  lane: number
}

/** Arrows that share rows get different lanes; the short ones, which are inside, the near ones. */
export function arrowLanes(branches: readonly Branch[], lanes: number): Arrow[] {
  const span = ({ from, to }: Branch) => Math.abs(to - from)
  const taken: { first: number; last: number }[][] = Array.from({ length: lanes }, () => [])
  return [...branches]
    .sort((a, b) => span(a) - span(b))
    .map((branch) => {
      const first = Math.min(branch.from, branch.to)
      const last = Math.max(branch.from, branch.to)
      const free = taken.findIndex((rows) =>
        rows.every((row) => row.last < first || row.first > last),
      )
      const lane = free < 0 ? lanes - 1 : free
      taken[lane]!.push({ first, last })
      return { ...branch, lane }
    })
}

// Registers that hold a value still needed at each instruction, by the usual data flow over the kernel's SASS.

export interface Live {
  /** General registers, R. */
  general: number
  /** Uniform registers, UR. */
  uniform: number
  /** Predicates, P and UP. */
  predicate: number
}

/** A set of bits per instruction: the registers that the kernel names, numbered without gaps. */
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
 * Per instruction, how many registers hold a value that it or a later one reads, what it writes included; null where a
 * jump's target is not in the code, since what is live there cannot be known.
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
    // Threads that the guard leaves out keep what was there.
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
        // Needed but never given: written under a guard, and read under the same one.
        const held = (needed.bits[at]! & given.bits[at]!) | writes.bits[at]!
        sum += ones(held & mask[word]!)
      }
      return sum
    }
    return { general: count(general), uniform: count(uniform), predicate: count(predicate) }
  })
}

/** What some path from each instruction on reads before it is overwritten. */
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

/** What some path to each instruction has written. */
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
