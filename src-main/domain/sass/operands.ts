/**
 * Determines which registers an instruction reads and writes from its SASS text.
 *
 * NVIDIA documents the opcodes, but not their operands. The rules are derived from the printed
 * operands for sm_70 to sm_120. The tables below list the exceptions for each opcode.
 */

/**
 * Register numbers, in the order R0 to R254, UR0 to UR254, P0 to P6 and UP0 to UP6. RZ, URZ, PT and
 * UPT have no numbers, because they store no value.
 */
export const registerFiles = {
  general: { from: 0, count: 255 },
  uniform: { from: 255, count: 255 },
  predicate: { from: 510, count: 7 },
  uniformPredicate: { from: 517, count: 7 },
} as const
export type RegisterFile = keyof typeof registerFiles

interface RegisterUse {
  reads: readonly number[]
  writes: readonly number[]
  /** Whether a guard may exclude some threads. The excluded threads keep their register values. */
  guarded: boolean
}

interface Parsed {
  guard: string | undefined
  opcode: string
  operands: readonly string[]
}

const shape = /^(?:@(!?U?P[T\d]\d*)\s+)?([\w.]+)\s*(.*?)\s*;?$/

function parse(text: string): Parsed | undefined {
  const found = shape.exec(text.trim())
  if (!found) return undefined
  const [, guard, opcode = '', rest = ''] = found
  return { guard, opcode, operands: rest === '' ? [] : rest.split(/\s*,\s*/) }
}

const prefixes = { R: 'general', UR: 'uniform', P: 'predicate', UP: 'uniformPredicate' } as const

/**
 * Returns the registers of a multi-register value, starting with the given register. Registers that
 * store no value, such as RZ, are omitted.
 */
function range(kind: keyof typeof prefixes, index: string, width: number): number[] {
  const file = registerFiles[prefixes[kind]]
  const first = Number(index)
  return Array.from({ length: width }, (_, at) => first + at)
    .filter((number) => number < file.count)
    .map((number) => file.from + number)
}

const all = (kind: 'P' | 'UP') => range(kind, '0', registerFiles.predicate.count)

const plainRegister = /^[-~|]*(U?R)(Z|\d+)\b/
const plainPredicate = /^(U?P)(T|\d+)$/
const isRegister = (operand: string | undefined) =>
  operand !== undefined && plainRegister.test(operand)
const isPredicate = (operand: string | undefined) =>
  operand !== undefined && plainPredicate.test(operand)

function registers(operand: string, width: number): number[] {
  const found = plainRegister.exec(operand)
  if (!found || found[2] === 'Z') return []
  return range(found[1] as 'R' | 'UR', found[2]!, /\.64\b/.test(operand) ? 2 : width)
}

/**
 * Returns the registers inside the brackets of addresses and constant banks. A register pair is
 * printed as `R24.64` or as a descriptor.
 */
function registersWithin(operand: string): number[] {
  const found: number[] = []
  for (const [, before = '', inner = ''] of operand.matchAll(/(\w*)\[([^\]]*)\]/g))
    for (const [, kind, index, pair] of inner.matchAll(/\b(U?R)(\d+)(\.64)?/g)) {
      const width = before === 'gdesc' ? 4 : before === 'desc' || before === 'cx' || pair ? 2 : 1
      found.push(...range(kind as 'R' | 'UR', index!, width))
    }
  return found
}

function predicates(operand: string): number[] {
  if (operand === 'PR') return all('P')
  if (operand === 'UPR') return all('UP')
  const found = /^!?(U?P)(\d+)$/.exec(operand)
  return found ? range(found[1] as 'P' | 'UP', found[2]!, 1) : []
}

/** Opcodes that read their first operand. */
const readsFirst = new Set(
  'BRA BRX BRXU JMP JMX JMXU CALL RET EXIT KILL BAR BSYNC BREAK WARPSYNC NANOSLEEP YIELD USETMAXREG RED REDG UTMALDG UTMASTG UTMAPF UBLKCP ACQBULK'.split(
    ' ',
  ),
)
/** Opcodes that write one predicate and no register. */
const setsPredicate = new Set(['FCHK'])
/** Opcodes that can have two carry outputs. */
const twoCarries = new Set(['IADD3', 'UIADD3'])

/**
 * Returns the number of registers for each of the matrices D, A, B and C in a tensor instruction.
 */
function tensorWidths(family: string, modifiers: readonly string[]): number[] | undefined {
  const has = (modifier: string) => modifiers.includes(modifier)
  const wide = has('F32') || has('S32')
  if (family === 'HMMA') {
    const sum = wide ? 4 : 2
    if (has('TF32')) return has('1684') ? [sum, 2, 1, sum] : [sum, 4, 2, sum]
    return has('16816') ? [sum, 4, 2, sum] : [sum, 2, 1, sum]
  }
  if (family === 'IMMA') {
    if (has('8816') || has('8832')) return [2, 1, 1, 2]
    return has('16816') || has('16832') === has('S4') ? [4, 2, 1, 4] : [4, 4, 2, 4]
  }
  if (family === 'DMMA') return [4, 2, 2, 4]
  // Each warp of a warpgroup computes 16 of the 64 rows, and each of its threads holds 1/32 of
  // their elements.
  const columns = /^64x(\d+)x/.exec(modifiers.find((one) => one.startsWith('64x')) ?? '')?.[1]
  if (columns === undefined) return undefined
  const sum = Number(columns) / (wide ? 2 : 4)
  return [sum, 4, 4, sum]
}

/**
 * Returns the number of result registers, and a function that returns the number of registers for
 * each source.
 */
function widths(family: string, modifiers: readonly string[]) {
  const tensor = tensorWidths(family, modifiers)
  if (tensor) return { result: tensor[0]!, source: (at: number) => tensor[at + 1] ?? 1 }
  const same = (width: number) => ({ result: width, source: () => width })
  if (modifiers.includes('WIDE')) return { result: 2, source: (at: number) => (at === 2 ? 2 : 1) }
  if (family === 'CS2R') return same(modifiers.includes('32') ? 1 : 2)
  if (family === 'LDSM' || family === 'STSM') return same(Number(modifiers.at(-1)) || 1)
  if (['F2F', 'I2F', 'F2I'].includes(family)) {
    const types = modifiers.filter((one) => /^[FSUI]\d+$/.test(one))
    const wide = (type: string | undefined) => (type?.endsWith('64') ? 2 : 1)
    return { result: wide(types[0]), source: () => wide(types[1]) }
  }
  if (/^D(ADD|MUL|FMA|MNMX|SETP)$/.test(family) || modifiers.includes('64')) return same(2)
  if (modifiers.includes('96')) return same(3)
  return same(modifiers.includes('128') ? 4 : 1)
}

const nothing: RegisterUse = { reads: [], writes: [], guarded: false }

export function registersOf(text: string): RegisterUse {
  const parsed = parse(text)
  if (!parsed) return nothing
  const { guard, opcode, operands } = parsed
  const [family = '', ...modifiers] = opcode.split('.')
  const width = widths(family, modifiers)
  const writes: number[] = []
  let at = 0
  const take = (of: (operand: string) => number[]): void => {
    writes.push(...of(operands[at]!))
    at += 1
  }
  if (family === 'R2P') {
    writes.push(...all('P'))
    at += 1
  } else if (/^U?(I|F|D|H|P|C)?(SETP2?|LOP3)$/.test(family) && isPredicate(operands[0])) {
    take(predicates)
    if (isPredicate(operands[at])) take(predicates)
    else if (isRegister(operands[at])) take((operand) => registers(operand, 1))
  } else if (!readsFirst.has(family)) {
    if (isPredicate(operands[at])) take(predicates)
    if (isRegister(operands[at]) && !setsPredicate.has(family)) {
      take((operand) => registers(operand, width.result))
      for (let left = twoCarries.has(family) ? 2 : 1; left > 0; left -= 1)
        if (isPredicate(operands[at])) take(predicates)
    }
  }
  const reads = guard === undefined ? [] : predicates(guard)
  let source = 0
  for (const operand of operands.slice(at)) {
    if (isRegister(operand)) reads.push(...registers(operand, width.source(source)))
    else reads.push(...registersWithin(operand), ...predicates(operand))
    if (!/^!?U?P(T|R|\d+)$/.test(operand)) source += 1
  }
  return { reads, writes, guarded: guard !== undefined && !/^U?PT$/.test(guard) }
}
