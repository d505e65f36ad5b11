/** The predicate that guards an instruction. */
import { truePredicate, type Instruction } from '../sass/instruction'
import { predicateTrue, uniformPredicates } from './warp'

interface Guard {
  /** Index among the warp's predicates. */
  readonly index: number
  /** Value to XOR the mask with: -1 if the predicate is negated. */
  readonly flip: number
}

/** Returns the guard, or null if the instruction is unconditional. */
export function guardOf({ guard }: Instruction): Guard | null {
  const flip = guard.negated ? -1 : 0
  if (guard.index === truePredicate) return guard.negated ? { index: predicateTrue, flip } : null
  return { index: guard.kind === 'predicate' ? guard.index : uniformPredicates + guard.index, flip }
}
