/** Whether what a kernel does depends on the data that it reads: then its time does too. */
import { controlFlow } from '../sass/control-flow'
import type { Instruction } from '../sass/instruction'
import { registersOf } from '../sass/operands'
import { printInstruction, printOpcode } from '../sass/print'

/** Loads of data. Results of atomics count: which block is the last one is chance, but not what it reads. */
const loads = new Set(['LD', 'LDG'])

export interface DataDependence {
  /** An address depends on a loaded value. */
  readonly addresses: boolean
  /** A branch does. */
  readonly branches: boolean
}

const accesses = /^(LD|ST|ATOM|RED)/
const branches = new Set(['BRA', 'BRX', 'BREAK'])

/**
 * Follows loaded values through registers and predicates, along all paths of the code. Values that pass through shared
 * memory are not followed.
 */
export function dataDependence(code: readonly Instruction[]): DataDependence {
  const printed = code.map((instruction) => ({
    offset: instruction.address,
    text: printInstruction(instruction),
    opcode: printOpcode(instruction),
  }))
  const uses = printed.map(({ text }) => registersOf(text))
  const { successors } = controlFlow(printed)
  /** Registers that may hold loaded data before each instruction. */
  const before: Set<number>[] = code.map(() => new Set<number>())
  const pending = [0]
  const visited = new Set<number>()
  while (pending.length > 0) {
    const index = pending.pop()!
    visited.add(index)
    const { reads, writes } = uses[index]!
    const after = new Set(before[index])
    const loaded = loads.has(code[index]!.mnemonic) || reads.some((each) => after.has(each))
    for (const register of writes)
      if (loaded && !isShared(code[index]!)) after.add(register)
      // A guarded write often has its guarded use behind it.
      else after.delete(register)
    for (const next of successors[index]!) {
      const known = before[next]!
      const size = known.size
      for (const register of after) known.add(register)
      if (known.size > size || !visited.has(next)) pending.push(next)
    }
  }
  const holds = (index: number, registers: readonly number[]): boolean =>
    registers.some((register) => before[index]!.has(register))
  return {
    addresses: code.some(
      (instruction, index) =>
        accesses.test(instruction.mnemonic) && holds(index, addressRegisters(printed[index]!.text)),
    ),
    branches: code.some(
      ({ mnemonic }, index) => branches.has(mnemonic) && holds(index, uses[index]!.reads),
    ),
  }
}

const isShared = ({ mnemonic }: Instruction): boolean => mnemonic === 'LDS' || mnemonic === 'LDSM'

/** Registers within the brackets of an address. */
const addressRegisters = (text: string): readonly number[] => {
  const address = /\[(R\d+[^\]]*)\]/.exec(text)?.[0]
  return address ? registersOf(`LDS RZ, ${address}`).reads : []
}
