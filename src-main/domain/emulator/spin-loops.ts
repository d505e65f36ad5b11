/**
 * Finds spin loops, whose instruction counts depend on timing.
 *
 * On a GPU the count depends on how long other warps take; here it depends on the order in which warps take turns.
 */
import type { Instruction } from '../sass/instruction'

/** A loop that does nothing but wait is a few instructions long. */
const longest = 6

const asks = ({ mnemonic, modifiers }: Instruction): boolean =>
  (mnemonic === 'SYNCS' && modifiers.includes('PHASECHK')) ||
  (mnemonic === 'USETMAXREG' && modifiers.includes('TRY_ALLOC'))

/** A loop that looks again and again at what other blocks have written, and how long it may be with what it does of it. */
const longestLook = 128

const looks = ({ mnemonic, modifiers }: Instruction): boolean =>
  mnemonic === 'LDG' && modifiers.some((word) => word.startsWith('STRONG'))

const yields = ({ mnemonic }: Instruction): boolean => mnemonic === 'YIELD'

function targetOf({ mnemonic, operands }: Instruction): number | null {
  const operand = mnemonic === 'BRA' ? operands.find(({ kind }) => kind === 'target') : undefined
  return operand?.kind === 'target' ? operand.address / 16 : null
}

/**
 * Indices of the instructions in loops that ask again and again for a barrier's phase or for registers, and of the
 * branch behind such a loop. The first question, before the loop, is asked once whatever comes of it. So are loops with
 * YIELD that read what other blocks write: how far the others have got decides how often they go round.
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

/** Indices of the instructions in loops with YIELD that read what other blocks write. */
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
