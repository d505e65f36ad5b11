/**
 * Compiles a kernel's straight-line segments to WebAssembly that operates on the device's memory. A
 * segment ends at the next control instruction. A segment is interpreted at first, and compiled if
 * it runs again. Each segment becomes one module. Within the module, each run of arithmetic and
 * each memory access is a separate function. A driver function calls the module's other functions
 * in order. The driver function also calls the interpreter for the remaining instructions.
 *
 * A module does not depend on addresses or arguments. All launches of the same code can therefore
 * share the module, at any problem size.
 */
import type { Instruction } from '../sass/instruction'
import type { Device } from './device'
import { fastAccess } from './fast-memory'
import { bitsOf, fusedMultiplyAdd } from './float'
import { fuse } from './fused'
import { matrixProduct } from './fused/matrix-product'
import type { FusedSetting } from './fused/run-writer'
import { Code, encodeModule, i32, scalar, vector, type WasmFunction } from './wasm'
import { guardOf } from './guard'
import type { FastPattern } from './fast-patterns'
import type { FastSetting } from './fast-memory-writer'

/**
 * A compiled segment. `warp` is the byte address of the warp's registers. `mask` selects the active
 * lanes. `shared` is the byte address of the block's shared memory.
 */
export type Segment = (warp: number, mask: number, shared: number) => void

interface SegmentSetting extends Omit<
  FusedSetting,
  'fixFunction' | 'nativeMultiplyAdd' | 'constantPlace'
> {
  /**
   * Start of the launch's tables in the device's memory. `onPlace`, `fixPlace`, and the bank
   * positions are byte offsets from the start of the tables.
   */
  tables: number
  /** Location of each constant bank in the launch's tables. */
  banks: readonly { bank: number; place: number; bytes: number }[]
  /** Whether to avoid the CPU's fused multiply-add. */
  portable: boolean
  /** Returns whether an instruction has no effect in the emulator. */
  isNothing: (instruction: Instruction) => boolean
  /**
   * Returns whether the interpreter supports the complete encoding of the instruction at `index`.
   * An unsupported instruction stops the kernel.
   */
  isKnown: (index: number) => boolean
  /**
   * Settings for compiled loads and stores, and the byte offset of each instruction's patterns.
   * Null means that all accesses are interpreted.
   */
  memory: (FastSetting & { site: (index: number) => number }) | null
  /** Executes the instruction at `index` for the lanes in `active`. */
  step: (index: number, active: number) => void
  /** Called when an access runs as compiled code instead of being interpreted. */
  onAccess: (index: number, pattern: FastPattern) => void
}

const three = [i32, i32, i32]

/**
 * Returns whether the host supports the relaxed SIMD multiply-add and the CPU rounds its result
 * only once. Node 20 needs `--experimental-wasm-relaxed-simd`, which a host can set at run time.
 */
function triesMultiplyAdd(): boolean {
  const code = new Code(0)
  // The test value (1 + e)(1 - e) - 1 is 0 if the CPU rounds the product separately.
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

/** Caches a positive result, because a host cannot lose this feature. */
let roundsOnce = false
const multipliesAndAddsOnce = (): boolean => (roundsOnce ||= triesMultiplyAdd())

const imports = [
  { name: 'fix', signature: { parameters: [], results: [] } },
  { name: 'step', signature: { parameters: [i32, i32], results: [] } },
]
const [fixFunction, stepFunction] = [0, 1]

/**
 * Compiles the instructions from `first` up to `end` (exclusive). The range must not contain
 * control instructions.
 */
type SegmentCompiler = (first: number, end: number) => Segment

interface Compiled {
  module: WebAssembly.Module
  /** The driver function's export name. */
  exported: string
  accesses: readonly { index: number; pattern: FastPattern }[]
}

/** Compiled segments, keyed by kernel, launch layout and first instruction. */
const compiled = new WeakMap<readonly Instruction[], Map<string, Map<number, Compiled>>>()

function compiledOf(
  code: readonly Instruction[],
  { registers, fixPlace, onPlace, predicatePlace, portable, banks, memory }: SegmentSetting,
): Map<number, Compiled> {
  const layouts = compiled.get(code) ?? new Map<string, Map<number, Compiled>>()
  compiled.set(code, layouts)
  const clustered = memory && memory.clustered
  const layout = JSON.stringify([
    ...[registers, fixPlace, onPlace, predicatePlace, portable, clustered],
    ...banks.map(({ bank, place, bytes }) => [bank, place, bytes]),
  ])
  const found = layouts.get(layout) ?? new Map<number, Compiled>()
  layouts.set(layout, found)
  return found
}

export function segmentCompiler(
  device: Device,
  code: readonly Instruction[],
  setting: SegmentSetting,
): SegmentCompiler {
  const nativeMultiplyAdd = !setting.portable && multipliesAndAddsOnce()
  const fused: FusedSetting = {
    ...setting,
    fixFunction,
    nativeMultiplyAdd,
    constantPlace(bank, offset) {
      const found = setting.banks.find((each) => each.bank === bank)
      return found && offset >= 0 && offset + 4 <= found.bytes ? found.place + offset : null
    },
  }
  const floats = new Float32Array(device.memory.buffer, setting.tables + setting.fixPlace, 16)
  const fix = (): void => {
    for (let lane = 0; lane < 4; lane++)
      floats[12 + lane] = fusedMultiplyAdd(floats[lane]!, floats[4 + lane]!, floats[8 + lane]!)
  }
  const environment = {
    e: { memory: device.memory, fix, step: setting.step, tables: setting.tables },
  }
  const known = compiledOf(code, setting)
  const compile = (first: number, end: number): Compiled => {
    const accesses: { index: number; pattern: FastPattern }[] = []
    const functions: WasmFunction[] = []
    const add = (writer: Code, parameters: readonly number[], results: readonly number[]): number =>
      imports.length + functions.push({ signature: { parameters, results }, code: writer }) - 1
    const driver = new Driver(setting)
    const runs = new Map(
      fuse(code, fused, setting.isNothing, setting.isKnown, first, end).map(
        (run) => [run.first, run] as const,
      ),
    )
    for (let index = first; index < end; index++) {
      const run = runs.get(index)
      if (run) {
        driver.run(add(run.code, [i32, i32], []))
        index = run.end - 1
        continue
      }
      const instruction = code[index]!
      const { memory } = setting
      const known = setting.isKnown(index)
      const access = known && memory && fastAccess(instruction, memory.site(index), memory)
      if (access) accesses.push({ index, pattern: access.pattern })
      const whole = access ? access.code : known ? matrixProduct(instruction) : null
      driver.instruction(instruction, index, whole && add(whole, three, [i32]))
    }
    const exported = add(driver.code, three, [])
    const bytes = encodeModule(1, imports, functions, [exported], ['tables'])
    const name = `f${exported - imports.length}`
    return { module: new WebAssembly.Module(bytes), exported: name, accesses }
  }
  return (first, end) => {
    const { module, exported, accesses } = known.get(first) ?? compile(first, end)
    known.set(first, { module, exported, accesses })
    for (const { index, pattern } of accesses) setting.onAccess(index, pattern)
    return new WebAssembly.Instance(module, environment).exports[exported] as Segment
  }
}

/** Builds a segment's driver function, which calls the functions for the segment's parts. */
class Driver {
  readonly code = new Code(3)
  private readonly active = this.code.local(i32)

  constructor(private readonly setting: SegmentSetting) {}

  run(index: number): void {
    this.code.get(0)
    this.code.get(1)
    this.code.call(index)
  }

  /**
   * Adds an instruction. `whole` is the compiled function for a full warp; it returns 0 if the
   * instruction must be interpreted.
   */
  instruction(instruction: Instruction, index: number, whole: number | null): void {
    const { code, setting, active } = this
    const guard = guardOf(instruction)
    const lanes = guard === null ? 1 : active
    if (guard !== null) {
      code.get(0)
      code.memory(scalar.load, setting.predicatePlace + 4 * guard.index)
      code.constant(guard.flip)
      code.op(scalar.xor)
      code.get(1)
      code.op(scalar.and)
      code.tee(active)
      code.op(scalar.if, 0x40)
      code.countLanes(setting.onPlace + 8 * index, active)
    }
    if (whole !== null) {
      code.get(0)
      code.get(lanes)
      code.get(2)
      code.call(whole)
      code.op(scalar.eqz, scalar.if, 0x40)
    }
    code.constant(index)
    code.get(lanes)
    code.call(stepFunction)
    if (whole !== null) code.op(scalar.end)
    if (guard !== null) code.op(scalar.end)
  }
}
