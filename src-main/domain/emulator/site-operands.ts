/** Separates an instruction's operands into outputs and inputs. */
import {
  truePredicate,
  zeroRegister,
  zeroUniformRegister,
  type Operand,
  type PredicateOperand,
  type RegisterOperand,
  type UniformPredicateOperand,
  type UniformRegisterOperand,
} from '../sass/instruction'
import { predicateTrue, uniformPredicates } from './warp'

const isPredicate = (
  operand: Operand | undefined,
): operand is PredicateOperand | UniformPredicateOperand =>
  operand?.kind === 'predicate' || operand?.kind === 'uniform-predicate'

export const isRegister = (
  operand: Operand | undefined,
): operand is RegisterOperand | UniformRegisterOperand =>
  operand?.kind === 'register' || operand?.kind === 'uniform-register'

export interface Operands {
  /** Output predicates, which are printed before or right after the destination register. */
  outs: (PredicateOperand | UniformPredicateOperand)[]
  destination: RegisterOperand | UniformRegisterOperand | null
  sources: Operand[]
  /** Input predicates, which are printed last. */
  ins: (PredicateOperand | UniformPredicateOperand)[]
}

/**
 * Groups the operands of an arithmetic instruction by role. The printed order is [outs] [register
 * [outs]] sources [ins].
 */
export function sortOperands(all: readonly Operand[], writesRegister: boolean): Operands {
  const rest = [...all]
  const outs: Operands['outs'] = []
  const take = () => {
    while (isPredicate(rest[0])) outs.push(rest.shift() as PredicateOperand)
  }
  take()
  let destination: Operands['destination'] = null
  if (writesRegister && isRegister(rest[0])) {
    destination = rest.shift() as RegisterOperand
    take()
  }
  const ins: Operands['ins'] = []
  while (isPredicate(rest.at(-1))) ins.unshift(rest.pop() as PredicateOperand)
  return { outs, destination, sources: rest, ins }
}

export function predicateIndex(operand: PredicateOperand | UniformPredicateOperand): number {
  if (operand.index === truePredicate) return predicateTrue
  return operand.kind === 'predicate' ? operand.index : uniformPredicates + operand.index
}

export const isZero = (operand: RegisterOperand | UniformRegisterOperand): boolean =>
  operand.index === (operand.kind === 'register' ? zeroRegister : zeroUniformRegister)
