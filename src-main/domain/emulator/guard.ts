/** The predicate that guards an instruction. */
import { truePredicate, type Instruction } from '../sass/instruction'
import { predicateTrue, uniformPredicates } from './warp'

interface Guard {
  /** Index into the warp's predicates. */
  readonly index: number
  /** Mask to XOR with the predicate: -1 if the guard is negated, and 0 otherwise. */
  readonly flip: number
}

/** Returns the guard, or null if the instruction is unconditional. */
export function guardOf({ guard }: Instruction): Guard | null {
  const flip = guard.negated ? -1 : 0
  if (guard.index === truePredicate) return guard.negated ? { index: predicateTrue, flip } : null
  return { index: guard.kind === 'predicate' ? guard.index : uniformPredicates + guard.index, flip }
}
