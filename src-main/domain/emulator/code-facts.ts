/** What a launch needs to know of its code before it runs. */
import { zeroRegister, type Instruction } from '../sass/instruction'

/** Whether an access may be of less than a word. */
export const isNarrow = ({ operands, modifiers }: Instruction): boolean =>
  operands.some(({ kind }) => kind === 'memory') &&
  modifiers.some((word) => /^[US](8|16)$|^B?F16/.test(word))

/** How many registers a thread has at the least, with those that operands of several words take. */
export function registersOf(code: readonly Instruction[]): number {
  let highest = 0
  for (const { operands } of code)
    for (const operand of operands) {
      const index =
        operand.kind === 'register' || operand.kind === 'memory'
          ? operand.kind === 'register'
            ? operand.index
            : (operand.register ?? 0)
          : 0
      if (index !== zeroRegister) highest = Math.max(highest, index)
    }
  // Operands of several words name the first one; those of a warpgroup's product have up to 128.
  const words = code.some(({ mnemonic }) => mnemonic === 'HGMMA' || mnemonic === 'QGMMA') ? 128 : 8
  return Math.min(highest + words, 256)
}

/** R1 is the stack pointer of a thread. */
const stackPointer = 1

/**
 * Whether the stack grows beyond what the compiler counted: by calls, or by an `alloca`, which moves the stack pointer
 * by a register.
 */
export const growsStack = (code: readonly Instruction[]): boolean =>
  code.some(({ mnemonic, operands }) => {
    if (mnemonic === 'CALL') return true
    const [to, ...from] = operands.filter(({ kind }) => !kind.endsWith('predicate'))
    return (
      to?.kind === 'register' &&
      to.index === stackPointer &&
      from.some(
        (operand) =>
          operand.kind === 'uniform-register' ||
          (operand.kind === 'register' && ![stackPointer, zeroRegister].includes(operand.index)),
      )
    )
  })

/** Whether the code reads clock64 or globaltimer. */
export const readsClock = (code: readonly Instruction[]): boolean =>
  code.some(({ operands }) =>
    operands.some(
      (operand) =>
        operand.kind === 'special-register' && /^SR_(CLOCK|GLOBALTIMER)/.test(operand.name),
    ),
  )
