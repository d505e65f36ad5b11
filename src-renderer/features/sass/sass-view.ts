/** A kernel's machine code as the view shows it: figures as heat, links to source lines, filters. Pure. */
import { arrowLanes, controlFlow, type Arrow } from '../../../src-main/domain/sass/control-flow'
import {
  counted,
  opcodeFamily,
  type DeepKernel,
  type DeepProfile,
  type Instruction,
  type Place,
  type Work,
} from '../../../src-main/domain/session/deep'
import { liveRegisters, type Live } from '../../../src-main/domain/sass/live-registers'
import { bandCount, type LineBands } from '../../ui/code-bands'

/** What there is of a rung; each part may be missing. */
export interface MachineRung {
  text: string | null
  file: string
  deep: DeepProfile | null
  /** Per thread, of the kernels in launch order; null where it is not known. */
  registers: readonly (number | null)[]
}

export const counters = [
  'samples',
  'notIssuedSamples',
  ...counted,
] as const satisfies readonly (keyof Work)[]
type Counter = (typeof counters)[number]

/** What colors the lines: predicted cycles, a counter, or what one stall reason takes of samples or predicted cycles. */
export type HeatBy = 'cycles' | Counter | `stall:${string}`

const isCounter = (heat: string): heat is Counter => counters.some((counter) => counter === heat)

/** null where it was not collected. */
export function valueOf(
  { stalls, predicted, ...work }: Work & Pick<Instruction, 'predicted'>,
  heat: HeatBy,
): number | null {
  if (heat === 'cycles') return predicted?.share ?? null
  if (isCounter(heat)) return work[heat]
  const reason = heat.slice('stall:'.length)
  if (!predicted) return stalls && (stalls[reason] ?? 0)
  // Cycles of all warps: those of one instruction, times how often it is issued.
  const waits: Readonly<Record<string, number>> = predicted.stalls
  return (waits[reason] ?? 0) * (work.executed ?? 0)
}

/** What was collected and counted anything, stall reasons with the most samples first. */
export function collectedHeat(profiles: readonly DeepProfile[]): HeatBy[] {
  const all = profiles.flatMap(({ kernels }) => kernels.flatMap(({ instructions }) => instructions))
  const stalls = new Map<string, number>()
  for (const one of all)
    for (const reason of Object.keys(one.predicted?.stalls ?? one.stalls ?? {}))
      stalls.set(reason, (stalls.get(reason) ?? 0) + (valueOf(one, `stall:${reason}`) ?? 0))
  return [
    ...(all.some(({ predicted }) => predicted) ? (['cycles'] as const) : []),
    ...counters.filter((counter) => all.some(({ [counter]: value }) => value)),
    ...[...stalls].sort((x, y) => y[1] - x[1]).map(([reason]) => `stall:${reason}` as const),
  ]
}

/** Each instruction's share of the kernel's total, 0 to 1; null if nothing was counted. */
export function heatShares(code: readonly Instruction[], heat: HeatBy | null): number[] | null {
  const values = heat === null ? [] : code.map((one) => valueOf(one, heat) ?? 0)
  const total = values.reduce((sum, value) => sum + value, 0)
  return total > 0 ? values.map((value) => value / total) : null
}

const placesOf = ({ file, line, inlinedFrom = [] }: Instruction): Place[] => [
  ...(file !== null && line !== null ? [{ file, line }] : []),
  ...inlinedFrom,
]

/** The instruction's line in a file, also if its code was inlined there. */
export const lineIn = (instruction: Instruction, file: string): number | undefined =>
  placesOf(instruction).find((place) => place.file === file)?.line

/** Indices of the instructions of each line of a file. */
export function codeByLine(code: readonly Instruction[], file: string): Map<number, number[]> {
  const found = new Map<number, number[]>()
  for (const [index, instruction] of code.entries())
    for (const line of new Set(
      placesOf(instruction).flatMap((place) => (place.file === file ? [place.line] : [])),
    ))
      found.set(line, [...(found.get(line) ?? []), index])
  return found
}

/** A color for each line of a file that has machine code, so that neighbours differ. */
export function bandsOf({ kernels }: DeepProfile, file: string): LineBands {
  const lines = new Set(
    kernels.flatMap(({ instructions }) => [...codeByLine(instructions, file).keys()]),
  )
  return new Map([...lines].sort((a, b) => a - b).map((line, index) => [line, index % bandCount]))
}

/** Shares of a file's lines, the largest first. */
export function lineHeat(
  byLine: ReadonlyMap<number, readonly number[]>,
  shares: readonly number[],
): Map<number, number> {
  const sums = [...byLine].map(([line, indices]) => {
    return [line, indices.reduce((sum, index) => sum + shares[index]!, 0)] as const
  })
  return new Map(sums.filter(([, share]) => share > 0).sort((x, y) => y[1] - x[1]))
}

/** Opcodes without their modifiers, with how many instructions have each; the most frequent first. */
export function families(code: readonly Instruction[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const { opcode } of code) {
    const family = opcodeFamily(opcode)
    counts.set(family, (counts.get(family) ?? 0) + 1)
  }
  return [...counts].sort((x, y) => y[1] - x[1] || (x[0] < y[0] ? -1 : 1))
}

/** Indices of the instructions with an opcode of this family; all of them if it is null. */
export const shownCode = (code: readonly Instruction[], family: string | null): number[] =>
  code.flatMap(({ opcode }, index) =>
    family === null || opcodeFamily(opcode) === family ? [index] : [],
  )

export function findCode(code: readonly Instruction[], shown: readonly number[], text: string) {
  const wanted = text.trim().toLowerCase()
  return wanted === ''
    ? []
    : shown.filter((index) => code[index]!.text.toLowerCase().includes(wanted))
}

/** Columns for arrows; of more that overlap, the outermost share the last. */
export const arrowColumns = 5

export interface KernelCode {
  code: readonly Instruction[]
  live: readonly Live[] | null
  /** The most general registers live at once; null if that cannot be told. */
  peak: number | null
  arrows: readonly Arrow[]
}

function analyze({ instructions: code }: DeepKernel): KernelCode {
  const live = liveRegisters(code)
  return {
    code,
    live,
    peak: live && live.reduce((most, { general }) => Math.max(most, general), 0),
    arrows: arrowLanes(controlFlow(code).branches, arrowColumns),
  }
}

const analyzed = new WeakMap<DeepKernel, KernelCode>()

/** Worked out once per kernel: the live registers of a long one take longer than all else that its view needs. */
export function kernelCode(kernel: DeepKernel): KernelCode {
  const known = analyzed.get(kernel) ?? analyze(kernel)
  analyzed.set(kernel, known)
  return known
}

/** Strength of a tint by share, 0 for none to 5. */
export const tint = (share: number): number => Math.min(5, Math.ceil(share * 20))
