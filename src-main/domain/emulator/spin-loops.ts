/**
 * Finds spin loops. A spin loop's instruction counts depend on timing.
 *
 * On a GPU, the counts depend on how long other warps take. In the emulator, the counts depend on
 * the order in which the warps take turns.
 */
import type { Instruction } from '../sass/instruction'

/** Maximum number of instructions in a loop that only waits. */
const longest = 6

const asks = ({ mnemonic, modifiers }: Instruction): boolean =>
  (mnemonic === 'SYNCS' && modifiers.includes('PHASECHK')) ||
  (mnemonic === 'USETMAXREG' && modifiers.includes('TRY_ALLOC'))

/**
 * Maximum number of instructions in a loop that polls data from other blocks. The loop also
 * contains the code that uses the data.
 */
const longestLook = 128

const looks = ({ mnemonic, modifiers }: Instruction): boolean =>
  mnemonic === 'LDG' && modifiers.some((word) => word.startsWith('STRONG'))

const yields = ({ mnemonic }: Instruction): boolean => mnemonic === 'YIELD'

function targetOf({ mnemonic, operands }: Instruction): number | null {
  const operand = mnemonic === 'BRA' ? operands.find(({ kind }) => kind === 'target') : undefined
  return operand?.kind === 'target' ? operand.address / 16 : null
}

/**
 * Returns the indices of the instructions in waiting loops. The indices include the branch after a
 * waiting loop.
 *
 * The result includes loops that poll a barrier's phase or wait for registers. The result excludes
 * the first poll before a loop, because that poll always runs exactly once. The result also
 * includes loops that contain YIELD and read data from other blocks. The iteration count of such a
 * loop depends on the other blocks' progress.
 */
export function waitingLoops(code: readonly Instruction[]): ReadonlySet<number> {
  const found = new Set<number>()
  for (const [index, instruction] of code.entries()) {
    if (!asks(instruction)) continue
    for (let end = index + 1; end < Math.min(code.length, index + longest); end++) {
      const target = targetOf(code[end]!)
      if (target === null) continue
      if (target > index || target < index - longest) break
      for (let at = target; at <= end; at++) found.add(at)
      if (code[end + 1]?.mnemonic === 'BRA') found.add(end + 1)
      break
    }
  }
  for (const at of pollingLoops(code)) found.add(at)
  return found
}

/**
 * Returns the indices of the instructions in loops that contain YIELD and read data from other
 * blocks.
 */
export function pollingLoops(code: readonly Instruction[]): ReadonlySet<number> {
  const found = new Set<number>()
  for (const [end, instruction] of code.entries()) {
    const begin = targetOf(instruction)
    if (begin === null || begin >= end || end - begin > longestLook) continue
    const loop = code.slice(begin, end)
    if (loop.some(yields) && loop.some(looks)) for (let at = begin; at <= end; at++) found.add(at)
  }
  return found
}
