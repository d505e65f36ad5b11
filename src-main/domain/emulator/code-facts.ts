/** Properties of the code that must be known before a launch starts. */
import { zeroRegister, type Instruction } from '../sass/instruction'

/** Returns whether an instruction can access fewer than four bytes. */
export const isNarrow = ({ operands, modifiers }: Instruction): boolean =>
  operands.some(({ kind }) => kind === 'memory') &&
  modifiers.some((word) => /^[US](8|16)$|^B?F16/.test(word))

/**
 * Returns a number of registers per thread that is sufficient for all operands, including
 * multi-word operands.
 */
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
  // A multi-word operand names only its first register. An operand of a warpgroup MMA has up to 128
  // registers.
  const words = code.some(({ mnemonic }) => mnemonic === 'HGMMA' || mnemonic === 'QGMMA') ? 128 : 8
  return Math.min(highest + words, 256)
}

/** Index of the stack pointer, R1. */
const stackPointer = 1

/**
 * Returns whether the stack can grow beyond the size that the compiler computed. Calls can grow the
 * stack. `alloca` can also grow the stack, because it changes the stack pointer by a register's
 * value.
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

/** Returns whether the code reads clock64 or globaltimer. */
export const readsClock = (code: readonly Instruction[]): boolean =>
  code.some(({ operands }) =>
    operands.some(
      (operand) =>
        operand.kind === 'special-register' && /^SR_(CLOCK|GLOBALTIMER)/.test(operand.name),
    ),
  )
