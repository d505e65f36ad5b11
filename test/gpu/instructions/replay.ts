/**
 * Executes trials in the emulator. Each trial runs on one warp in the same state as in runner.cu.
 * Also reads the results that a GPU produced.
 */
import { segmentCompiler } from '../../../src-main/domain/emulator/compile'
import { createDevice, deviceHigh } from '../../../src-main/domain/emulator/device'
import { type Finding, type EmulatorState } from '../../../src-main/domain/emulator/site'
import { isNothing, stepOf } from '../../../src-main/domain/emulator/steps'
import {
  Halt,
  newCounts,
  predicateTrue,
  uniformPredicates,
  type Block,
  type Warp,
} from '../../../src-main/domain/emulator/warp'
import type { Instruction } from '../../../src-main/domain/sass/instruction'
import {
  firstRegister,
  firstUniform,
  globalWords,
  lanes,
  palettes,
  parameterWords,
  registerCount,
  rows,
  sharedStart,
  stateOf,
  stateWords,
  uniformCount,
  type Trial,
} from './state'
import { specialRegister } from '../../../src-main/domain/emulator/special-registers'
import { launchBank } from '../../../src-main/domain/emulator/constant-bank'
import { guardOf } from '../../../src-main/domain/emulator/guard'

/** The total number of words in the state and in global memory. */
export const allWords = stateWords + globalWords

const mostOverrides = 4
const headerWords = 5
const instructionWords = 4
const trialWords = instructionWords + 4 + 4 * mostOverrides

/** Returns the trials in a file from batch.ts. */
export function decodeTrials(bytes: Uint8Array): Trial[] {
  const words = new Uint32Array(bytes.slice().buffer)
  const [count, before, after] = words as unknown as [number, number, number]
  const first = headerWords + instructionWords * (before + after)
  return Array.from({ length: count }, (_, index) => {
    const at = first + index * trialWords
    const [a, b, c, d, seed, palette, immediate, overrides] = words.subarray(at, at + 8)
    return {
      words: [a!, b!, c!, d!],
      seed: seed!,
      palette: palettes[palette!]!,
      immediate: immediate!,
      overrides: Array.from({ length: overrides! }, (__, place) => {
        const [row, kind, start, step] = words.subarray(at + 8 + 4 * place)
        return {
          row: row!,
          kind: kind === 1 ? 'global' : 'word',
          start: start! | 0,
          step: step! | 0,
        }
      }),
    }
  })
}

export interface Answer {
  trial: number
  /** The status of the trial: 0, a CUDA error code, or 9999 if the trial hung. */
  status: number
  /** The index and value of each changed word, alternating. */
  changes: Uint32Array
}

/** Returns the results in a file from runner.cu. */
export function decodeAnswers(bytes: Uint8Array): Answer[] {
  const words = new Uint32Array(bytes.slice().buffer)
  const answers: Answer[] = []
  for (let at = 0; at < words.length;) {
    const [trial, status, count] = words.subarray(at, at + 3)
    answers.push({
      trial: trial!,
      status: status!,
      changes: words.subarray(at + 3, at + 3 + 2 * count!),
    })
    at += 3 + 2 * count!
  }
  return answers
}

export type Outcome =
  | { refused: string }
  /** All words of the state after the trial, and the emulator's findings. */
  | { words: Uint32Array; findings: readonly Finding[] }

const [registers, uniforms] = [256, 64]
const predicatesAt = (registers + uniforms) * lanes
const warpWords = predicatesAt + lanes
const sharedBytes = 8192 + sharedStart

/** The execution mode: one step, compiled, or compiled without the CPU's fused multiply-add. */
export type Way = 'step' | 'compiled' | 'portable'

export class Replay {
  private readonly device = createDevice()
  private readonly global = this.device.allocate('global', 4 * globalWords)
  private readonly base = this.device.scratch(4 * warpWords + sharedBytes + 4096)
  private readonly shared = this.base + 4 * warpWords
  private readonly tables = this.shared + sharedBytes
  private readonly views = {
    words: new Int32Array(this.device.memory.buffer),
    unsigned: new Uint32Array(this.device.memory.buffer),
    floats: new Float32Array(this.device.memory.buffer),
    bytes: new Uint8Array(this.device.memory.buffer),
    halves: new Uint16Array(this.device.memory.buffer),
  }

  /** Returns the words of the state before a trial. */
  before(trial: Trial): Uint32Array {
    return stateOf(trial, [this.global.offset, deviceHigh])
  }

  private set(state: Uint32Array): void {
    const { unsigned, words } = this.views
    const first = this.base / 4
    words.fill(0, first, first + warpWords + sharedBytes / 4)
    const copy = (row: number, count: number, to: number): void =>
      unsigned.set(state.subarray(row * lanes, (row + count) * lanes), to)
    copy(rows.general, registerCount, first + firstRegister * lanes)
    copy(rows.uniform, uniformCount, first + (registers + firstUniform) * lanes)
    copy(rows.shared, rows.end - rows.shared, (this.shared + sharedStart) / 4)
    unsigned.set(state.subarray(stateWords, allWords), this.global.offset / 4)
    const predicates = words.subarray(first + predicatesAt, first + warpWords)
    predicates[predicateTrue] = -1
    predicates[uniformPredicates + predicateTrue] = -1
    for (let index = 0; index < 7; index++) {
      for (let lane = 0; lane < lanes; lane++)
        if ((state[rows.predicates * lanes + lane]! >>> index) & 1) predicates[index]! |= 1 << lane
      if (state[(rows.uniformPredicates + index) * lanes])
        predicates[uniformPredicates + index] = -1
    }
  }

  private get(): Uint32Array {
    const { unsigned, words } = this.views
    const first = this.base / 4
    const state = new Uint32Array(allWords)
    const copy = (row: number, count: number, from: number): void =>
      state.set(unsigned.subarray(from, from + count * lanes), row * lanes)
    copy(rows.general, registerCount, first + firstRegister * lanes)
    copy(rows.uniform, uniformCount, first + (registers + firstUniform) * lanes)
    copy(rows.shared, rows.end - rows.shared, (this.shared + sharedStart) / 4)
    const global = this.global.offset / 4
    state.set(unsigned.subarray(global, global + globalWords), stateWords)
    const predicates = words.subarray(first + predicatesAt, first + warpWords)
    for (let index = 0; index < 7; index++) {
      for (let lane = 0; lane < lanes; lane++)
        state[rows.predicates * lanes + lane]! |= ((predicates[index]! >>> lane) & 1) << index
      const row = rows.uniformPredicates + index
      state.fill(
        predicates[uniformPredicates + index]! === 0 ? 0 : 1,
        row * lanes,
        (row + 1) * lanes,
      )
    }
    return state
  }

  run(trial: Trial, instruction: Instruction, way: Way = 'step'): Outcome {
    const state = this.before(trial)
    this.set(state)
    const { views } = this
    const parameters = new Uint8Array(16 + 4 * parameterWords)
    parameters.set(new Uint8Array(state.buffer, 4 * allWords, 4 * parameterWords), 16)
    const extents = { block: [lanes, 1, 1], grid: [1, 1, 1] } as const
    const bank = launchBank({ architecture: 90, ...extents, parameters, localBytes: 0 })
    const constants = new DataView(bank.buffer)
    const findings: Finding[] = []
    const counts = newCounts(1)
    const machine: EmulatorState = {
      ...{ views, registers, sharedBytes, counts },
      ...{ localBytes: 0, growsStack: false, calls: false, clustered: false },
      constant: (number, offset) =>
        number === 0 && offset >= 0 && offset + 4 <= bank.length
          ? constants.getInt32(offset, true)
          : 0,
      generic: () => null,
      special: (name) => specialRegister(name, extents),
      clock: (at) => at,
      inBuffer: (offset, bytes) =>
        offset >= this.global.offset && offset + bytes <= this.global.offset + this.global.bytes,
      report: (finding) => findings.push(finding),
      print: () => {},
      seen: () => {},
      trace: null,
    }
    const block: Block = {
      cluster: { blocks: [], arrived: 0, meetings: 0 },
      ...{ rank: 0, number: 0, at: [0, 0, 0], warps: [], barriers: new Map(), meetings: 0 },
      ...{ shared: this.shared, local: 0, watch: null },
    }
    const first = this.base / 4
    const warp: Warp = {
      ...{ number: 0, block, base: first, lanes: -1, live: -1 },
      predicates: views.words.subarray(first + predicatesAt, first + warpWords),
      convergence: new Int32Array(16),
      ...{ splits: [], barrierResult: 0, clusterTurn: 0 },
    }
    try {
      const step = stepOf(instruction, 0, machine)
      if (way === 'step') {
        const guard = guardOf(instruction)
        const active = guard === null ? -1 : warp.predicates[guard.index]! ^ guard.flip
        if (active !== 0) step(warp, active)
      } else {
        const place = 512
        views.bytes.set(bank, this.tables + place)
        const compile = segmentCompiler(this.device, [instruction], {
          ...{ registers, tables: this.tables, portable: way === 'portable' },
          banks: [{ bank: 0, place, bytes: bank.length }],
          ...{ fixPlace: 256, onPlace: 0, predicatePlace: 4 * predicatesAt },
          ...{ isNothing, isKnown: () => true, memory: null },
          step: (_, active) => step(warp, active),
          onAccess: () => {},
        })
        compile(0, 1)(this.base, -1, this.shared)
      }
    } catch (error) {
      if (!(error instanceof Halt)) throw error
      return { refused: error.message }
    }
    return { words: this.get(), findings }
  }
}
