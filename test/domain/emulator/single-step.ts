/**
 * Executes a single instruction on one warp. The initial registers, memory, and constants are
 * chosen so that most bits of the instruction affect the outcome. Tests compare the outcomes of
 * different encodings.
 */
import { controlOf, isControl } from '../../../src-main/domain/emulator/control'
import { deviceHigh, parameterHigh } from '../../../src-main/domain/emulator/device'
import {
  lanes,
  type Finding,
  type EmulatorState,
  type Views,
} from '../../../src-main/domain/emulator/site'
import { stepOf } from '../../../src-main/domain/emulator/steps'
import {
  convergenceWords,
  Halt,
  newCounts,
  predicateTrue,
  uniformPredicates,
  type Block,
  type Split,
  type Warp,
} from '../../../src-main/domain/emulator/warp'
import type { Instruction, MemoryOperand } from '../../../src-main/domain/sass/instruction'
import { specialRegister } from '../../../src-main/domain/emulator/special-registers'
import { guardOf } from '../../../src-main/domain/emulator/guard'

/**
 * Returns a generator of pseudorandom numbers from 0 to 1 (mulberry32). The sequence depends only
 * on the seed.
 */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const [registers, uniforms] = [256, 64]
const rowBytes = 4 * lanes
const predicatesAt = (registers + uniforms) * rowBytes
const globalAt = 0x10000
const globalBytes = 0x4000
const sharedAt = 0x18000
const sharedBytes = 0x8000
const localAt = 0x20000
const localBytes = 512
const memoryBytes = localAt + lanes * localBytes

/**
 * Boundary values for instructions: values where results change abruptly, and values next to them.
 */
const edges = [
  ...[0, 1, 2, 8, 31, 32, 33, 64, -1, -2, 0x7fffffff, -0x80000000, 0x80, 0xff, 0x8000, 0xffff],
  // The floats 1, the next larger float, -1, 0.5, 2.5, 3.5, denormal numbers, the largest number,
  // infinity, and NaN.
  ...[0x3f800000, 0x3f800001, 0xbf800000, 0x3f000000, 0x40200000, 0x40600000],
  ...[0x00000001, 0x00400000, 0x80400000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000],
].map((word) => word | 0)

const tensor = /^(H|Q)(GMMA|MMA)$/

/**
 * Returns a random word for a register or for memory. The possible words depend on the instruction.
 */
function wordFor(mnemonic: string, next: () => number): number {
  const half = (): number =>
    (next() < 0.5 ? 0x8000 : 0) | ((11 + Math.floor(8 * next())) << 10) | Math.floor(1024 * next())
  if (tensor.test(mnemonic)) return half() | (half() << 16)
  const kind = next()
  if (kind < 0.3) return edges[Math.floor(edges.length * next())]!
  if (kind < 0.4) return Math.floor(40 * next())
  if (kind < 0.65)
    return (
      ((next() < 0.5 ? 1 : 0) << 31) |
      ((120 + Math.floor(16 * next())) << 23) |
      Math.floor(2 ** 23 * next())
    )
  if (kind < 0.8) return half() | (half() << 16)
  return Math.floor(2 ** 32 * next()) | 0
}

const spaceOf = (mnemonic: string): 'global' | 'shared' | 'local' =>
  /^(LDS|STS|LDSM|STSM|ATOMS|SYNCS|ARRIVES)$/.test(mnemonic)
    ? 'shared'
    : /^(LDL|STL)$/.test(mnemonic)
      ? 'local'
      : 'global'

/** Returns a tensor map in the format of the launch probe. */
function tensorMap(rank: number): DataView {
  const view = new DataView(new ArrayBuffer(128))
  view.setUint32(0, 0x4d544c4b, true)
  view.setUint8(4, 7)
  view.setUint8(5, rank)
  view.setUint32(8, globalAt, true)
  view.setInt32(12, deviceHigh, true)
  for (let place = 0; place < rank; place++) {
    view.setUint32(16 + 4 * place, 8, true)
    view.setUint16(36 + 2 * place, place < 3 ? 4 : 1, true)
    view.setUint8(46 + place, 1)
    if (place > 0) view.setBigUint64(56 + 8 * (place - 1), BigInt(32 * 4 ** (place - 1)), true)
  }
  return view
}

/**
 * Kinds of initial states. Registers are random (`plain`), close to the immediate (`near`), or
 * equal in all lanes (`equal`). Predicates are all true (`on`) or all false (`off`). In `split`,
 * the lanes of the warp have diverged.
 */
export const states = ['plain', 'near', 'equal', 'on', 'off', 'split'] as const
export type State = (typeof states)[number]

export interface Outcome {
  /** The error message if the instruction was rejected, or null. */
  refused: string | null
  /** The registers, predicates, and memory after the instruction. */
  memory: Uint8Array
  /** The findings, the counters, and the index of the warp's next instruction. */
  rest: string
}

export const isSameOutcome = (a: Outcome, b: Outcome): boolean =>
  a.rest === b.rest && Buffer.compare(a.memory, b.memory) === 0

/**
 * A warp in its initial state before an instruction. The warp's address registers contain addresses
 * that `base` can access.
 */
export class SingleStep {
  private readonly buffer = new ArrayBuffer(memoryBytes)
  private readonly views: Views = {
    words: new Int32Array(this.buffer),
    unsigned: new Uint32Array(this.buffer),
    floats: new Float32Array(this.buffer),
    bytes: new Uint8Array(this.buffer),
    halves: new Uint16Array(this.buffer),
  }
  private readonly before: Uint8Array
  private readonly map: DataView

  constructor(
    base: Instruction,
    private readonly seed: number,
    private readonly state: State = 'plain',
  ) {
    const next = seeded(seed)
    const { words } = this.views
    for (let word = 0; word < words.length; word++) words[word] = wordFor(base.mnemonic, next)
    // Every lane sees the same value of a uniform register.
    for (let row = registers; row < registers + uniforms; row++)
      words.fill(words[row * lanes]!, row * lanes, (row + 1) * lanes)
    const predicates = words.subarray(predicatesAt / 4, predicatesAt / 4 + lanes)
    for (let index = 0; index < lanes; index++)
      predicates[index] = index < 8 ? Math.floor(2 ** 32 * next()) : next() < 0.5 ? -1 : 0
    if (state === 'on' || state === 'off') predicates.fill(state === 'on' ? -1 : 0, 0, lanes)
    predicates[predicateTrue] = -1
    predicates[uniformPredicates + predicateTrue] = -1
    if (state === 'near') this.near(base)
    if (state === 'equal')
      for (let row = 0; row < registers; row++)
        words.fill(words[row * lanes]!, row * lanes, (row + 1) * lanes)
    this.place(base)
    this.before = this.views.bytes.slice()
    const rank = base.modifiers.find((word) => /^\dD$/.test(word))
    this.map = tensorMap(rank ? Number(rank[0]) : 1)
  }

  private row(index: number, value: (lane: number) => number): void {
    for (let lane = 0; lane < lanes; lane++) this.views.words[index * lanes + lane] = value(lane)
  }

  /** Sets an instruction's registers to values near its immediate. */
  private near({ operands }: Instruction): void {
    const immediate = operands.find((operand) => operand.kind === 'immediate')
    const value = immediate?.kind === 'immediate' ? immediate.bits : 0x12345
    for (const operand of operands)
      if (operand.kind === 'register' && operand.index !== 255)
        for (const part of [0, 1])
          this.row(Math.min(operand.index + part, 254), (lane) =>
            part === 0 ? value + (lane % 3) - 1 : value >> 31,
          )
      else if (operand.kind === 'uniform-register' && operand.index !== 63)
        this.row(registers + operand.index, () => value + ((this.seed + operand.index) % 3) - 1)
  }

  /** Sets an operand's address registers to accessible addresses. */
  private address(operand: MemoryOperand, space: string, apart: number): void {
    const start = { global: globalAt + 0x2000, shared: 0x4000, local: 0x100 }[space]!
    const target = (lane: number): number => start + (space === 'local' ? 0 : lane * apart)
    const { register, uniform, offset, scale } = operand
    const first = uniform === null ? null : registers + uniform
    if (register !== null && register !== 255) {
      const beside = first !== null && uniform !== 63 ? 0x40 : 0
      if (first !== null && uniform !== 63) {
        this.row(first, () => beside)
        this.row(first + 1, () => 0)
      }
      this.row(register, (lane) => (target(lane) - offset - beside) / scale)
      if (space === 'global') this.row(register + 1, () => deviceHigh)
    } else if (first !== null) {
      this.row(first, () => target(0) - offset)
      this.row(first + 1, () => deviceHigh)
    }
  }

  private place(instruction: Instruction): void {
    const { mnemonic, operands, modifiers } = instruction
    const found = operands.filter((operand) => operand.kind === 'memory')
    if (/^U(TMA|BLK)/.test(mnemonic)) return this.placeBulk(instruction)
    for (const operand of operands)
      if (operand.kind === 'matrix-descriptor') {
        const half = (start: number): void => {
          this.row(registers + operand.uniform + start, () => (0x100 * (start + 1)) | (8 << 16))
          this.row(registers + operand.uniform + start + 1, () => 0x40)
        }
        half(0)
        half(2)
      }
    const copy = mnemonic === 'LDGSTS'
    const matrices = mnemonic === 'LDSM' || mnemonic === 'STSM'
    for (const operand of found)
      this.address(
        operand,
        copy ? (operand.descriptor === null ? 'shared' : 'global') : spaceOf(mnemonic),
        matrices ? 32 : 16,
      )
    // Use a barrier that completes after only a few arrivals, so that a change in any of its fields
    // affects the outcome.
    if (mnemonic === 'SYNCS' && !modifiers.includes('EXCH'))
      for (let word = 0x4000; word < 0x4400; word += 4)
        this.views.words[(sharedAt + word) >> 2] = word & 4 ? 0xfffff800 | 0 : 0xfffff0
  }

  private placeBulk({ mnemonic, operands }: Instruction): void {
    const places = operands.flatMap((operand) =>
      operand.kind === 'memory' && operand.uniform !== null ? [registers + operand.uniform] : [],
    )
    const [to, from] = places
    if (to === undefined) return
    if (mnemonic.startsWith('UTMA')) {
      this.row(to, () => 0x4000)
      const barrier = mnemonic === 'UTMALDG'
      if (barrier) this.row(to + 1, () => 0x6000)
      for (let place = 0; place < 5; place++) this.row(to + (barrier ? 2 : 1) + place, () => 0)
      if (from === undefined) return
      this.row(from, () => 0x210)
      return this.row(from + 1, () => parameterHigh)
    }
    const toShared = mnemonic === 'UBLKCP' && this.seed % 2 === 0
    for (const place of places) {
      const shared = (place === to) === toShared
      this.row(place, () => (shared ? 0x4000 : globalAt + 0x1000))
      this.row(place + 1, () => (shared ? 0x6000 : deviceHigh))
    }
    const length = operands.at(-1)
    if (length?.kind === 'uniform-register') this.row(registers + length.index, () => 3)
  }

  /** Executes an instruction from the initial state. */
  run(instruction: Instruction): Outcome {
    const { views } = this
    views.bytes.set(this.before)
    const findings: Finding[] = []
    const counts = newCounts(16)
    const machine: EmulatorState = {
      views,
      registers,
      sharedBytes,
      localBytes,
      growsStack: false,
      clock: (at) => 7 * at,
      clustered: false,
      counts,
      constant: (bank, offset) => wordFor('', seeded(Math.imul(bank + 1, 0x9e3779b1) + offset)),
      generic: (low, high) => (high === parameterHigh && low === 0x210 ? this.map : null),
      special: (name) => specialRegister(name, { block: [4, 4, 2], grid: [3, 5, 7] }),
      inBuffer: (offset, bytes) => offset >= globalAt && offset + bytes <= globalAt + globalBytes,
      report: (finding) => findings.push(finding),
      print: () => {},
      seen: () => {},
      trace: null,
    }
    const together = this.state === 'split' ? 0x0ff0ff0f : -1
    const split: Split = { at: 1, mask: together, waits: null }
    const block: Block = {
      cluster: { blocks: [], arrived: 0, meetings: 0 },
      rank: 0,
      number: 37,
      at: [1, 2, 2],
      warps: [],
      barriers: new Map(),
      meetings: 0,
      shared: sharedAt,
      local: localAt,
      watch: null,
    }
    block.cluster.blocks.push(block)
    const convergence = new Int32Array(convergenceWords).map(
      (_, place) => (0x1111 << (place >> 5)) | 0,
    )
    const warp: Warp = {
      number: 0,
      block,
      base: 0,
      predicates: views.words.subarray(predicatesAt / 4, predicatesAt / 4 + lanes),
      convergence,
      lanes: -1,
      live: -1,
      splits: [split, ...(together === -1 ? [] : [{ at: 9, mask: ~together, waits: null }])],
      barrierResult: 5,
      clusterTurn: 0,
    }
    block.warps.push(warp)
    // Add a second warp, so that the block's barriers do not complete immediately.
    block.warps.push({ ...warp, number: 1, splits: [] })
    const guard = guardOf(instruction)
    const active = together & (guard === null ? -1 : warp.predicates[guard.index]! ^ guard.flip)
    let refused: string | null = null
    try {
      if (isControl(instruction)) controlOf(instruction, 1, machine)(warp, split, active)
      else {
        const step = stepOf(instruction, 1, machine)
        if (active !== 0) step(warp, active)
      }
    } catch (error) {
      if (!(error instanceof Halt)) throw error
      if (error.reason === 'unknown-instruction') refused = error.message
      else findings.push({ kind: 'race', ...place(error) })
    }
    const splits = warp.splits.map(({ at, mask, waits, yielded }) => ({
      at,
      mask,
      waits: waits && Object.entries(waits).filter(([, value]) => typeof value !== 'function'),
      yielded,
    }))
    const { live, barrierResult } = warp
    const barriers = [...block.barriers].map(([index, { arrived, signalled, value }]) => ({
      index,
      arrived,
      signalled,
      value,
    }))
    const counted = Object.values(counts).map((values: Float64Array) => values[1]!)
    const rest = { findings, splits, live, barrierResult, barriers, counted, active }
    return {
      refused,
      memory: views.bytes.slice(),
      rest: JSON.stringify({ ...rest, convergence: [...convergence] }, (_, value: unknown) =>
        typeof value === 'number' && Number.isNaN(value) ? 'NaN' : value,
      ),
    }
  }
}

const place = ({ reason, message }: Halt) => ({
  at: 1,
  write: false,
  bytes: 0,
  thread: 0,
  block: 0,
  address: `${reason} ${message}` as unknown as number,
})
