/** Turns the runs of a kernel into functions: one WebAssembly module over the device's memory. */
import type { Instruction } from '../sass/instruction'
import type { Device } from './device'
import { fastAccess, type FastAccess, type FastSetting } from './fast-memory'
import { bitsOf, fusedMultiplyAdd } from './float'
import { fuse } from './fused'
import type { FusedSetting } from './fused/run-writer'
import { Code, encodeModule, i32, vector } from './wasm'

export interface CompiledRun {
  /** Index of the instruction behind it. */
  end: number
  /** Byte address of the warp's registers, and the lanes that are on. */
  call: (warp: number, mask: number) => void
}

export interface CompiledAccess {
  access: FastAccess
  /** Answers 0 where it did nothing. */
  call: (warp: number, mask: number, shared: number) => number
}

export interface Compiled {
  /** By the index of their first instruction. */
  runs: readonly (CompiledRun | undefined)[]
  accesses: readonly (CompiledAccess | undefined)[]
}

interface Setting extends Omit<FusedSetting, 'fixFunction' | 'nativeMultiplyAdd'> {
  /** Whether to leave out the multiply-add of the CPU. */
  portable: boolean
  isControl: (instruction: Instruction) => boolean
  /** What loads and stores need, and where an instruction keeps its patterns; null where all are left to their steps. */
  memory: (FastSetting & { site: (index: number) => number }) | null
}

const pair = [i32, i32]

/**
 * Whether WebAssembly here has the multiply-add of relaxed SIMD and the CPU rounds it once. Node 20 has it only with
 * `--experimental-wasm-relaxed-simd`, which a host may set while it runs.
 */
export function multipliesAndAddsOnce(): boolean {
  const code = new Code(0)
  // (1 + e)(1 - e) - 1 is 0 where the product is rounded.
  code.constant(0)
  for (const value of [1 + 2 ** -23, 1 - 2 ** -23, -1]) code.splat(bitsOf(value))
  code.vector(vector.relaxedMultiplyAdd)
  code.vectorMemory(vector.store, 0)
  const bytes = encodeModule(1, [], [{ signature: { parameters: [], results: [] }, code }])
  if (!WebAssembly.validate(bytes)) return false
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 })
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { e: { memory } })
  ;(exports['f0'] as () => void)()
  return new Float32Array(memory.buffer)[0] !== 0
}

export function compile(device: Device, code: readonly Instruction[], setting: Setting): Compiled {
  const boundaries = new Set<number>()
  for (const [index, instruction] of code.entries()) {
    if (setting.isControl(instruction)) boundaries.add(index).add(index + 1)
    for (const operand of instruction.operands)
      if (operand.kind === 'target') boundaries.add(operand.address / 16)
  }
  const runs = fuse(
    code,
    { ...setting, fixFunction: 0, nativeMultiplyAdd: !setting.portable && multipliesAndAddsOnce() },
    (index) => boundaries.has(index),
  )
  const { memory } = setting
  const accesses =
    memory === null
      ? []
      : code.flatMap((instruction, index) => {
          const access = fastAccess(instruction, memory.site(index), memory)
          return access ? [{ index, access }] : []
        })
  const compiled = {
    runs: new Array<CompiledRun | undefined>(code.length).fill(undefined),
    accesses: new Array<CompiledAccess | undefined>(code.length).fill(undefined),
  }
  const floats = new Float32Array(device.memory.buffer, setting.fixAddress, 16)
  const fix = (): void => {
    for (let lane = 0; lane < 4; lane++)
      floats[12 + lane] = fusedMultiplyAdd(floats[lane]!, floats[4 + lane]!, floats[8 + lane]!)
  }
  const bytes = encodeModule(
    1,
    [{ name: 'fix', signature: { parameters: [], results: [] } }],
    [
      ...runs.map((run) => ({
        signature: { parameters: pair, results: [] },
        code: run.code,
      })),
      ...accesses.map(({ access }) => ({
        signature: { parameters: [i32, i32, i32], results: [i32] },
        code: access.code,
      })),
    ],
  )
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
    e: { memory: device.memory, fix },
  })
  for (const [place, { first, end }] of runs.entries())
    compiled.runs[first] = {
      end,
      call: exports[`f${place}`] as CompiledRun['call'],
    }
  for (const [place, { index, access }] of accesses.entries())
    compiled.accesses[index] = {
      access,
      call: exports[`f${runs.length + place}`] as CompiledAccess['call'],
    }
  return compiled
}
