/** The predicate that guards an instruction. */
import { truePredicate, type Instruction } from '../sass/instruction'
import { predicateTrue, uniformPredicates } from './warp'

interface Guard {
  /** Of the warp's predicates. */
  readonly index: number
  /** What its mask is to be joined with by exclusive or: -1 where it is negated. */
  readonly flip: number
}

/** null where an instruction is for all lanes. */
export function guardOf({ guard }: Instruction): Guard | null {
  const flip = guard.negated ? -1 : 0
  if (guard.index === truePredicate) return guard.negated ? { index: predicateTrue, flip } : null
  return { index: guard.kind === 'predicate' ? guard.index : uniformPredicates + guard.index, flip }
}
