/** Computes the successors of each instruction, and the arrows that show jumps. */
import { opcodeFamily, type Instruction } from '../session/deep'

type Code = readonly Pick<Instruction, 'offset' | 'text' | 'opcode'>[]

const jumps = new Set(['BRA', 'JMP', 'CALL', 'WARPSYNC'])
const ends = new Set(['EXIT', 'RET', 'KILL'])

/** Returns the offset of a jump's target, which is the last operand. */
const targetOffset = (text: string): number | undefined => {
  const found = /\b0x([0-9a-f]+)\s*;?$/.exec(text)
  return found ? parseInt(found[1]!, 16) : undefined
}

/**
 * Returns whether execution may continue after the jump. Execution may continue if the jump has a
 * guard or a condition operand.
 */
const conditional = (text: string): boolean =>
  /^\s*@/.test(text) || /^\s*BRA\S*\s+(?:!?U?P\d|~?U?R)/.test(text)

interface Branch {
  /** Instruction indices of the jump and its target. */
  from: number
  to: number
}

export interface ControlFlow {
  /** Indices of the instructions that can follow each instruction. */
  successors: readonly (readonly number[])[]
  branches: readonly Branch[]
  /**
   * Whether all successors are known, which is not the case if a jump's target is in a register.
   */
  whole: boolean
}

export function controlFlow(code: Code): ControlFlow {
  const byOffset = new Map(code.map(({ offset }, index) => [offset, index]))
  const branches: Branch[] = []
  const afterCalls = code.flatMap(({ opcode }, index) =>
    opcodeFamily(opcode) === 'CALL' && index + 1 < code.length ? [index + 1] : [],
  )
  let whole = true
  const successors = code.map(({ text, opcode }, index) => {
    const family = opcodeFamily(opcode)
    const next = index + 1 < code.length ? [index + 1] : []
    // A called function may return to the instruction after any call.
    if (family === 'RET') return conditional(text) ? [...afterCalls, ...next] : afterCalls
    if (ends.has(family)) return conditional(text) ? next : []
    if (/^(BRXU?|JMXU?)$/.test(family)) {
      whole = false
      return next
    }
    if (!jumps.has(family)) return next
    const to = byOffset.get(targetOffset(text) ?? -1)
    if (to === undefined) {
      // WARPSYNC has a target only in its collective form. The target of a call may be outside the
      // kernel's code.
      if (family === 'BRA' || family === 'JMP') whole = false
      return next
    }
    branches.push({ from: index, to })
    const falls = family === 'CALL' || family === 'WARPSYNC' || conditional(text)
    return falls ? [to, ...next] : [to]
  })
  return { successors, branches, whole }
}

export interface Arrow extends Branch {
  /** Column of the arrow, counted from 0 next to the code. */
  lane: number
}

/** Assigns different columns to arrows that share rows. Shorter arrows are closer to the code. */
export function arrowLanes(branches: readonly Branch[], lanes: number): Arrow[] {
  const span = ({ from, to }: Branch) => Math.abs(to - from)
  const taken: { first: number; last: number }[][] = Array.from({ length: lanes }, () => [])
  return [...branches]
    .sort((a, b) => span(a) - span(b))
    .map((branch) => {
      const first = Math.min(branch.from, branch.to)
      const last = Math.max(branch.from, branch.to)
      const free = taken.findIndex((rows) =>
        rows.every((row) => row.last < first || row.first > last),
      )
      const lane = free < 0 ? lanes - 1 : free
      taken[lane]!.push({ first, last })
      return { ...branch, lane }
    })
}
