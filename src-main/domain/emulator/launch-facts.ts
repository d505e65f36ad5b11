/** What a launch has to know beforehand: of its code, of its constants and special registers, and which counts are chance. */
import { zeroRegister, type Instruction } from '../sass/instruction'
import { localHigh, parameterHigh, sharedHigh } from './device'
import { lanes } from './site'
import type { Warp } from './warp'

/** Along x, y and z. */
export type Extent = readonly [number, number, number]

// What a launch has to know of its code beforehand.

/** Whether an access may be of less than a word. */
export const isNarrow = ({ operands, modifiers }: Instruction): boolean =>
  operands.some(({ kind }) => kind === 'memory') &&
  modifiers.some((word) => /^[US](8|16)$|^B?F16/.test(word))

/** How many registers a thread has at the least, with those that operands of several words take. */
export function registersOf(code: readonly Instruction[]): number {
  let highest = 0
  for (const { operands } of code)
    for (const operand of operands) {
      const index =
        operand.kind === 'register' || operand.kind === 'memory'
          ? operand.kind === 'register'
            ? operand.index
            : (operand.register ?? 0)
          : 0
      if (index !== zeroRegister) highest = Math.max(highest, index)
    }
  // Operands of several words name the first one; those of a warpgroup's product have up to 128.
  const words = code.some(({ mnemonic }) => mnemonic === 'HGMMA' || mnemonic === 'QGMMA') ? 128 : 8
  return Math.min(highest + words, 256)
}

/** R1 is the stack pointer of a thread. */
const stackPointer = 1

/**
 * Whether the stack grows beyond what the compiler counted: by calls, or by an `alloca`, which moves the stack pointer
 * by a register.
 */
export const growsStack = (code: readonly Instruction[]): boolean =>
  code.some(({ mnemonic, operands }) => {
    if (mnemonic === 'CALL') return true
    const [to, ...from] = operands.filter(({ kind }) => !kind.endsWith('predicate'))
    return (
      to?.kind === 'register' &&
      to.index === stackPointer &&
      from.some(
        (operand) =>
          operand.kind === 'uniform-register' ||
          (operand.kind === 'register' && ![stackPointer, zeroRegister].includes(operand.index)),
      )
    )
  })

/** Whether the code reads clock64 or globaltimer. */
export const readsClock = (code: readonly Instruction[]): boolean =>
  code.some(({ operands }) =>
    operands.some(
      (operand) =>
        operand.kind === 'special-register' && /^SR_(CLOCK|GLOBALTIMER)/.test(operand.name),
    ),
  )

// Constant bank 0 of a launch.

export interface LaunchBank {
  /** 90 for sm_90. */
  architecture: number
  grid: Extent
  block: Extent
  /** The kernel's arguments, as laid out for it. */
  parameters: Uint8Array
  localBytes: number
}

/** Constant bank 0 as the driver fills it in: dimensions, the stack's end, the parameters. */
export function launchBank({
  architecture,
  grid,
  block,
  parameters,
  localBytes,
}: LaunchBank): Uint8Array {
  const base = architecture >= 90 ? 0x210 : 0x160
  const bank = new Uint8Array(base + parameters.length + 16)
  const view = new DataView(bank.buffer)
  ;[...block, ...grid].forEach((extent, index) => view.setUint32(4 * index, extent, true))
  // Where local memory begins among generic addresses, and the end of a thread's stack in it.
  view.setUint32(0x24, localHigh, true)
  view.setUint32(0x28, localBytes, true)
  // The generic address of the parameters.
  if (architecture >= 90) {
    view.setUint32(0x198, base, true)
    view.setUint32(0x19c, parameterHigh, true)
  }
  bank.set(parameters, base)
  return bank
}

// What S2R, S2UR and CS2R read.

type Value = (warp: Warp, lane: number) => number

export function specialRegister(
  name: string,
  { block, grid }: { block: Extent; grid: Extent },
): Value | null {
  const thread = (warp: Warp, lane: number): number => warp.number * lanes + lane
  const below = (lane: number): number => (1 << lane) - 1
  const values: Record<string, Value> = {
    'SR_TID.X': (warp, lane) => thread(warp, lane) % block[0],
    'SR_TID.Y': (warp, lane) => Math.floor(thread(warp, lane) / block[0]) % block[1],
    'SR_TID.Z': (warp, lane) => Math.floor(thread(warp, lane) / (block[0] * block[1])),
    'SR_CTAID.X': (warp) => warp.block.at[0],
    'SR_CTAID.Y': (warp) => warp.block.at[1],
    'SR_CTAID.Z': (warp) => warp.block.at[2],
    'SR_NCTAID.X': () => grid[0],
    'SR_NCTAID.Y': () => grid[1],
    'SR_NCTAID.Z': () => grid[2],
    SR_LANEID: (_, lane) => lane,
    SR_VIRTID: (warp) => warp.number,
    SR_EQMASK: (_, lane) => 1 << lane,
    SR_LTMASK: (_, lane) => below(lane),
    SR_LEMASK: (_, lane) => below(lane) | (1 << lane),
    SR_GTMASK: (_, lane) => ~(below(lane) | (1 << lane)),
    SR_GEMASK: (_, lane) => ~below(lane),
    SR_CgaCtaId: (warp) => warp.block.rank,
    SR_SWINHI: () => sharedHigh,
  }
  return values[name] ?? null
}

// Instructions whose count is chance: on a GPU it is how long others took, here the order in which warps have their turn.

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
  for (const [end, instruction] of code.entries()) {
    const begin = targetOf(instruction)
    if (begin === null || begin >= end || end - begin > longestLook) continue
    const loop = code.slice(begin, end)
    if (loop.some(yields) && loop.some(looks)) for (let at = begin; at <= end; at++) found.add(at)
  }
  return found
}
