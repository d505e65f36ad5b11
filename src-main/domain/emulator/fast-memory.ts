/**
 * Runs full-warp loads, stores, and copies as WebAssembly for known address patterns.
 *
 * The compiled function requires that all addresses are within bounds and match a cached pattern of
 * distances from the first lane. If a pattern matches, the cost is known. If no pattern matches,
 * the function returns 0, the access is interpreted, and its pattern is cached for later accesses.
 */
import {
  type Instruction,
  type MemoryOperand,
  truePredicate,
  zeroRegister,
} from '../sass/instruction'
import { Code } from './wasm'
import { periodOf } from './access-patterns'
import { type FastPattern } from './fast-patterns'
import { Writer, type FastSetting } from './fast-memory-writer'

interface FastAccess {
  /**
   * The compiled function. The function's parameters are the byte address of the warp's registers,
   * the lane mask, and the byte address of shared memory.
   */
  code: Code
  pattern: FastPattern
}

const widths: Record<string, number> = { '64': 8, '128': 16 }

/**
 * Returns the compiled access, or null if the instruction must be interpreted. `site` is the byte
 * offset of the instruction's patterns in the launch's tables.
 */
export function fastAccess(
  instruction: Instruction,
  site: number,
  setting: FastSetting,
): FastAccess | null {
  const { mnemonic, modifiers, operands } = instruction
  if (['U8', 'S8', 'U16', 'S16'].some((word) => modifiers.includes(word))) return null
  const bytes = widths[modifiers.find((word) => word in widths) ?? ''] ?? 4
  const memory = operands.filter((operand) => operand.kind === 'memory')
  const kinds: Record<string, FastPattern['spaces']> = {
    LDS: ['shared'],
    STS: ['shared'],
    LDG: ['global'],
    STG: ['global'],
    LDGSTS: ['shared', 'global'],
  }
  const spaces = kinds[mnemonic]
  if (!spaces || memory.length !== spaces.length) return null
  const addresses = spaces.map((space) =>
    spaces.length === 1
      ? memory[0]!
      : memory.find(({ descriptor }) => (descriptor !== null) === (space === 'global')),
  )
  if (addresses.some((each) => each === undefined)) return null
  const simple = addresses.every((operand, place) => isSimple(operand!, spaces[place]!))
  if (!simple) return null
  const code = new Code(3)
  const writer = new Writer(
    code,
    site,
    setting,
    bytes,
    addresses.map((operand) => operand!),
    spaces,
  )
  writer.wholeWarp()
  if (mnemonic === 'LDGSTS') {
    const condition = operands.find((operand) => operand.kind === 'predicate')
    if (condition) {
      if (condition.index !== truePredicate) writer.predicateHolds(condition)
      else if (condition.negated) return null
    }
  }
  writer.begin()
  const periods = spaces.map((space) => periodOf(space, modifiers.includes('BYPASS')))
  writer.compare(periods)
  if (mnemonic === 'LDGSTS') writer.copy()
  else {
    const stores = mnemonic.startsWith('ST')
    const value = stores
      ? operands.filter(({ kind }) => kind === 'register').at(-1)
      : operands.find(({ kind }) => kind === 'register')
    if (value?.kind !== 'register') return null
    if (stores) writer.store(value)
    else if (value.index === zeroRegister) return null
    else writer.load(value)
  }
  code.constant(1)
  return { code, pattern: { spaces, periods, bytes } }
}

const isSimple = (operand: MemoryOperand, space: 'global' | 'shared'): boolean =>
  space === 'global'
    ? operand.uniform === null &&
      operand.width === 64 &&
      operand.register !== null &&
      operand.register !== zeroRegister
    : operand.scale === 1
