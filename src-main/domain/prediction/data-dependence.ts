/**
 * Determines whether a kernel's control flow or addresses depend on the data that it reads. If
 * control flow or addresses depend on the data, the kernel's time does too.
 */
import { controlFlow } from '../sass/control-flow'
import type { Instruction } from '../sass/instruction'
import { registersOf } from '../sass/operands'
import { printInstruction, printOpcode } from '../sass/print'

const loads: ReadonlySet<string> = new Set(['LD', 'LDG'])
const atomics: ReadonlySet<string> = new Set(['ATOM', 'ATOMG'])

interface Dependence {
  /** Whether an address depends on loaded data or on the result of an atomic. */
  readonly addresses: boolean
  /** Whether a branch depends on loaded data or on the result of an atomic. */
  readonly branches: boolean
}

/** Returns whether addresses and branches depend on loaded data. */
export const dataDependence = (code: readonly Instruction[]): Dependence => follow(code, loads)

/**
 * Returns whether addresses and branches depend on results of atomics. Blocks use atomics to
 * distribute work or to detect the last block.
 */
export const atomicDependence = (code: readonly Instruction[]): Dependence =>
  follow(
    code,
    atomics,
    code.some(({ mnemonic }) => atomics.has(mnemonic)),
  )

const accesses = /^(LD|ST|ATOM|RED)/
const branches = new Set(['BRA', 'BRX', 'BREAK'])

/**
 * Tracks loaded values through registers and predicates along all paths of the code. With
 * `throughShared`, values loaded from shared memory also count as loaded data. A block passes the
 * result of an atomic to its warps through shared memory.
 */
function follow(
  code: readonly Instruction[],
  sources: ReadonlySet<string>,
  throughShared = false,
): Dependence {
  const printed = code.map((instruction) => ({
    offset: instruction.address,
    text: printInstruction(instruction),
    opcode: printOpcode(instruction),
  }))
  const uses = printed.map(({ text }) => registersOf(text))
  const { successors } = controlFlow(printed)
  /** For each instruction, the registers that may contain loaded data before it. */
  const before: Set<number>[] = code.map(() => new Set<number>())
  const pending = [0]
  const visited = new Set<number>()
  while (pending.length > 0) {
    const index = pending.pop()!
    visited.add(index)
    const { reads, writes } = uses[index]!
    const after = new Set(before[index])
    const own = code[index]!
    const loaded =
      sources.has(own.mnemonic) ||
      (isShared(own) ? throughShared : reads.some((each) => after.has(each)))
    for (const register of writes)
      if (loaded) after.add(register)
      // Assume that the register contains only the new value after a guarded write, because its
      // uses usually have the same guard.
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

/** Returns the registers inside the brackets of a memory operand. */
const addressRegisters = (text: string): readonly number[] => {
  const address = /\[(R\d+[^\]]*)\]/.exec(text)?.[0]
  return address ? registersOf(`LDS RZ, ${address}`).reads : []
}
