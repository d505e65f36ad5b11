/** Prepares a kernel's machine code for the view: heat, links to source lines, and filters. */
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

/** Data about a rung's machine code, any part of which can be missing. */
export interface MachineRung {
  text: string | null
  file: string
  deep: DeepProfile | null
  /** Registers per thread for each kernel in launch order. A value is null if unknown. */
  registers: readonly (number | null)[]
}

export const counters = [
  'samples',
  'notIssuedSamples',
  ...counted,
] as const satisfies readonly (keyof Work)[]
type Counter = (typeof counters)[number]

/**
 * The quantity that the heat shows: predicted cycles, a counter, or one stall reason's share of
 * samples or predicted cycles.
 */
export type HeatBy = 'cycles' | Counter | `stall:${string}`

const isCounter = (heat: string): heat is Counter => counters.some((counter) => counter === heat)

/** Returns an instruction's value of the given quantity, or null if the value was not collected. */
export function valueOf(
  { stalls, predicted, ...work }: Work & Pick<Instruction, 'predicted'>,
  heat: HeatBy,
): number | null {
  if (heat === 'cycles') return predicted?.share ?? null
  if (isCounter(heat)) return work[heat]
  const reason = heat.slice('stall:'.length)
  if (!predicted) return stalls && (stalls[reason] ?? 0)
  // To get the cycles of all warps, multiply the cycles of one issue by the number of issues.
  const waits: Readonly<Record<string, number>> = predicted.stalls
  return (waits[reason] ?? 0) * (work.executed ?? 0)
}

/**
 * Returns the counters that are not all zero. The stall reasons with the most samples come first.
 */
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

/**
 * Returns each instruction's share of the kernel's total heat, from 0 to 1. Returns null if the
 * total heat is zero.
 */
export function heatShares(code: readonly Instruction[], heat: HeatBy | null): number[] | null {
  const values = heat === null ? [] : code.map((one) => valueOf(one, heat) ?? 0)
  const total = values.reduce((sum, value) => sum + value, 0)
  return total > 0 ? values.map((value) => value / total) : null
}

const placesOf = ({ file, line, inlinedFrom = [] }: Instruction): Place[] => [
  ...(file !== null && line !== null ? [{ file, line }] : []),
  ...inlinedFrom,
]

/** Returns the instruction's line in a file, even if the code was inlined from that file. */
export const lineIn = (instruction: Instruction, file: string): number | undefined =>
  placesOf(instruction).find((place) => place.file === file)?.line

/** Returns the indices of the instructions that belong to each line of a file. */
export function codeByLine(code: readonly Instruction[], file: string): Map<number, number[]> {
  const found = new Map<number, number[]>()
  for (const [index, instruction] of code.entries())
    for (const line of new Set(
      placesOf(instruction).flatMap((place) => (place.file === file ? [place.line] : [])),
    ))
      found.set(line, [...(found.get(line) ?? []), index])
  return found
}

/**
 * Returns a color for each line of a file that has machine code. Neighboring lines have different
 * colors.
 */
export function bandsOf({ kernels }: DeepProfile, file: string): LineBands {
  const lines = new Set(
    kernels.flatMap(({ instructions }) => [...codeByLine(instructions, file).keys()]),
  )
  return new Map([...lines].sort((a, b) => a - b).map((line, index) => [line, index % bandCount]))
}

/** Returns the shares of a file's lines, largest first. */
export function lineHeat(
  byLine: ReadonlyMap<number, readonly number[]>,
  shares: readonly number[],
): Map<number, number> {
  const sums = [...byLine].map(([line, indices]) => {
    return [line, indices.reduce((sum, index) => sum + shares[index]!, 0)] as const
  })
  return new Map(sums.filter(([, share]) => share > 0).sort((x, y) => y[1] - x[1]))
}

/**
 * Returns the opcodes without modifiers and the number of instructions with each opcode, most
 * frequent first.
 */
export function families(code: readonly Instruction[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const { opcode } of code) {
    const family = opcodeFamily(opcode)
    counts.set(family, (counts.get(family) ?? 0) + 1)
  }
  return [...counts].sort((x, y) => y[1] - x[1] || (x[0] < y[0] ? -1 : 1))
}

/**
 * Returns the indices of the instructions in an opcode family. If the family is null, returns all
 * indices.
 */
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

/**
 * Number of columns for arrows. If more arrows overlap than there are columns, the outermost arrows
 * share the last column.
 */
export const arrowColumns = 5

export interface KernelCode {
  code: readonly Instruction[]
  live: readonly Live[] | null
  /** The largest number of live general registers, or null if it cannot be determined. */
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

/**
 * Returns a kernel's code, analyzed once per kernel. For a long kernel, the register liveness
 * analysis takes longer than all other work of the view.
 */
export function kernelCode(kernel: DeepKernel): KernelCode {
  const known = analyzed.get(kernel) ?? analyze(kernel)
  analyzed.set(kernel, known)
  return known
}

/** Returns the strength of the tint for a share, from 0 (none) to 5. */
export const tint = (share: number): number => Math.min(5, Math.ceil(share * 20))
