/**
 * Runs a rung on the emulated GPU. A rung is an ordered sequence of kernel launches, fills and
 * copies.
 *
 * The probe records the launches and their arguments (`parsers/cuda/runner-events.ts`). The probe
 * uses dummy addresses, with one address range per buffer. This module translates the dummy
 * addresses to device addresses.
 */
import { decodeInstruction, nameOfOpcode } from '../sass/decode'
import type { Instruction } from '../sass/instruction'
import { truePredicate } from '../sass/instruction'
import type { ConstantBank, MachineCode, MachineKernel } from '../sass/machine-code'
import { addressOf, offsetOf, type Allocation, type Device } from './device'
import { launchBank, runLaunch } from './launch'
import type { Launch, LaunchOptions, LaunchResult } from './launch-types'
import type { Extent } from './special-registers'
import { reservedShared } from './launch-memory'
import { growsStack } from './code-facts'
import { systemFunction } from './system-calls'
import { Halt } from './warp'
import { writtenBytes } from './watch'

export interface RungLaunch {
  /** The kernel's mangled name. */
  readonly kernel: string
  readonly grid: Extent
  readonly block: Extent
  readonly dynamicSharedBytes: number
  /** Number of blocks per cluster along x. A value of 0 or undefined means no clusters. */
  readonly clusterBlocks?: number
  readonly arguments: Uint8Array
}

/** A fill or copy that precedes the launch with index `before`. */
export interface MemoryOperation {
  readonly before: number
  readonly to: bigint
  /** Source address, or bytes copied from the host. Null means a fill with `value`. */
  readonly from: bigint | Uint8Array | null
  readonly value: number
  readonly bytes: number
}

export interface EmulatedLaunch {
  readonly launch: RungLaunch
  readonly kernel: MachineKernel
  readonly code: readonly Instruction[]
  readonly result: LaunchResult
}

/**
 * Base of the probe's dummy addresses. Range 0 is the workspace. The buffers use range 1 and the
 * following ranges, in the order of the launch struct.
 */
const dummyBase = 0x4b4c_0000_0000_0000n
const dummyShift = 38n
export const dummyAddress = (index: number): bigint => dummyBase + (BigInt(index) << dummyShift)

/** First range for the variables that the host accesses, in the probe's order. */
export const firstSymbol = 128

/** First range for the memory that the rung allocates. */
export const firstAllocation = 256
const ranges = firstAllocation + 1024

/** Returns the range and offset of a dummy address, or null if `value` is not a dummy address. */
function dummyPlace(value: bigint): { index: number; offset: number } | null {
  if (value < dummyBase || value >= dummyBase + (BigInt(ranges) << dummyShift)) return null
  const index = Number((value - dummyBase) >> dummyShift)
  return { index, offset: Number(value - dummyAddress(index)) }
}

/** Returns the device address for a dummy address, or null if `value` is not a dummy address. */
function translate(value: bigint, buffers: ReadonlyMap<number, Allocation>): bigint | null {
  const found = dummyPlace(value)
  const buffer = found && buffers.get(found.index)
  return buffer ? addressOf(buffer) + BigInt(found.offset) : null
}

/**
 * Returns a copy of the arguments in which device addresses replace the dummy addresses. Pointers
 * are aligned to 8 bytes.
 */
function translateArguments(
  bytes: Uint8Array,
  buffers: ReadonlyMap<number, Allocation>,
): Uint8Array {
  const copy = new Uint8Array(bytes)
  const view = new DataView(copy.buffer)
  for (let at = 0; at + 8 <= copy.length; at += 8) {
    const address = translate(view.getBigUint64(at, true), buffers)
    if (address !== null) view.setBigUint64(at, address, true)
  }
  return copy
}

/**
 * Returns a copy of host data in which device addresses replace the dummy addresses. Host data that
 * contains addresses includes tensor maps and pointer arrays. Other numbers in the data could look
 * like dummy addresses. Therefore, only addresses within a buffer or at its end are translated.
 */
function translateData(bytes: Uint8Array, buffers: ReadonlyMap<number, Allocation>): Uint8Array {
  const copy = new Uint8Array(bytes)
  const view = new DataView(copy.buffer)
  for (let at = 0; at + 8 <= copy.length; at += 8) {
    const value = view.getBigUint64(at, true)
    const found = dummyPlace(value)
    const buffer = found && buffers.get(found.index)
    if (buffer && found.offset <= buffer.bytes)
      view.setBigUint64(at, translate(value, buffers)!, true)
  }
  return copy
}

const instructionBytes = 16

/**
 * Returns the instructions of a kernel. An unknown instruction stops the kernel only when it is
 * executed.
 */
export function instructionsOf(code: Uint8Array, architecture: number): Instruction[] {
  const view = new DataView(code.buffer, code.byteOffset, code.byteLength)
  const instructions: Instruction[] = []
  for (let address = 0; address + instructionBytes <= code.length; address += instructionBytes) {
    const word = (index: number): number => view.getUint32(address + 4 * index, true)
    const words = [word(0), word(1), word(2), word(3)] as const
    const decoded = decodeInstruction(words, address, architecture)
    instructions.push('unknown' in decoded ? unknownInstruction(words, address) : decoded)
  }
  return instructions
}

const unknownInstruction = (words: Instruction['words'], address: number): Instruction => ({
  address,
  words,
  guard: { kind: 'predicate', index: truePredicate, negated: false },
  mnemonic: nameOfOpcode(words[0]),
  modifiers: [],
  operands: [],
  control: {
    stall: 0,
    yield: false,
    writeBarrier: null,
    readBarrier: null,
    waitMask: 0,
  },
})

const wholeAddress = 2

/** Returns a copy of a constant bank that contains the addresses of the module's variables. */
function linkedBank(
  { bytes, relocations }: ConstantBank,
  variables: ReadonlyMap<string, bigint>,
): Uint8Array {
  // Copy the bytes explicitly, because slicing a Node Buffer does not copy.
  const linked = new Uint8Array(bytes)
  const view = new DataView(linked.buffer)
  for (const { offset, type, symbol, addend } of relocations) {
    const address = variables.get(symbol) ?? systemFunction(symbol)
    // The symbol names an unknown function, which stops the kernel if it is called.
    if (address === undefined) continue
    if (type !== wholeAddress)
      throw new Halt('unknown-instruction', null, `the address of ${symbol}`)
    view.setBigUint64(offset, address + BigInt(addend), true)
  }
  return linked
}

/** Kernel launches, with the fills and copies between them. */
export interface RungWork {
  readonly launches: readonly RungLaunch[]
  readonly memory: readonly MemoryOperation[]
}

interface RungRun extends RungWork {
  readonly device: Device
  readonly machineCode: readonly MachineCode[]
  /** One-time work before the launches (`kl_prepare`). */
  readonly prepared?: RungWork
  /** Buffers, keyed by the probe's range number. */
  readonly buffers: ReadonlyMap<number, Allocation>
  /** Mangled names of the variables that the host accesses. */
  readonly symbols?: readonly string[]
  /**
   * Per-thread stack size set with cudaDeviceSetLimit. The stack size applies to kernels whose
   * stack can grow.
   */
  readonly stackBytes?: number
  readonly options: LaunchOptions
  /** Runs one launch. By default, all selected blocks run to completion. */
  readonly execute?: (device: Device, launch: Launch, options: LaunchOptions) => LaunchResult
  /** Returns the blocks to run in a launch. By default, all blocks run. */
  readonly blocksOf?: (launch: RungLaunch) => NonNullable<Launch['blocks']>
  /** Called before each launch. The caller can therefore determine which launch raised a `Halt`. */
  readonly onLaunch?: () => void
  readonly onResult?: (launch: EmulatedLaunch) => void
}

const variablesName = 'variables'

function allocateVariables(device: Device, modules: readonly MachineCode[]): Map<string, bigint> {
  const addresses = new Map<string, bigint>()
  for (const { globals } of modules) {
    const bytes = Math.max(0, ...globals.map(({ offset, size }) => offset + size))
    if (bytes === 0) continue
    const allocation = device.allocate(variablesName, bytes)
    for (const { name, offset, initial } of globals) {
      addresses.set(name, addressOf(allocation) + BigInt(offset))
      if (initial) device.bytes(allocation).set(initial, offset)
    }
  }
  return addresses
}

/** CUDA's default stack size per thread (cudaLimitStackSize). */
const defaultStack = 1024

/**
 * Returns the stack size per thread, as computed by the compiler. If the stack can grow, the size
 * is at least `limit`.
 */
function stackOf(kernel: MachineKernel, code: readonly Instruction[], limit: number): number {
  const own = kernel.stackBytes ?? kernel.frameBytes
  return Math.ceil((growsStack(code) ? Math.max(own, limit) : own) / 16) * 16
}

interface Decoded {
  bytes: Uint8Array
  architecture: number
  /** Instruction indices of the calls to functions outside the kernel. */
  calls: readonly number[]
  instructions: readonly Instruction[]
}

/**
 * Recently decoded kernels, most recent first. The next job often runs the same kernels with
 * different sizes or with checks. Compiled code is cached per array of decoded instructions.
 */
let kept: readonly Decoded[] = []
const mostKept = 16

const isEqual = (a: ArrayLike<number>, b: ArrayLike<number>): boolean => {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

/** Returns the instructions of a kernel. A call to a separately compiled function has no target. */
function codeOf(
  { code: bytes, relocations }: MachineKernel,
  { architecture, functions }: MachineCode,
): readonly Instruction[] {
  const outside = new Set(functions.map(({ name }) => name))
  const calls = relocations
    .filter(({ symbol }) => outside.has(symbol))
    .map(({ offset }) => Math.floor(offset / instructionBytes))
  const found = kept.find(
    (each) =>
      each.architecture === architecture &&
      isEqual(each.calls, calls) &&
      isEqual(each.bytes, bytes),
  )
  const latest = found ?? {
    ...{ bytes: new Uint8Array(bytes), architecture, calls },
    instructions: instructionsOf(bytes, architecture).map((instruction, index) =>
      instruction.mnemonic === 'CALL' && calls.includes(index)
        ? { ...instruction, operands: [] }
        : instruction,
    ),
  }
  kept = [latest, ...kept.filter((each) => each !== found)].slice(0, mostKept)
  return latest.instructions
}

/** Returns a kernel's static shared memory, excluding the part that CUDA reserves. */
export const staticShared = (kernel: MachineKernel, architecture: number): number =>
  architecture >= 90 ? Math.max(0, kernel.sharedBytes - reservedShared) : kernel.sharedBytes

/** Returns the cluster size from the launch or from the kernel's `__cluster_dims__`. */
function clusterOf(launch: RungLaunch, kernel: MachineKernel): number {
  const [x, y, z] = kernel.clusterBlocks ?? [1, 1, 1]
  const blocks = launch.clusterBlocks || x * y * z
  if (y * z === 1 && launch.grid[0] % blocks === 0) return blocks
  throw new Halt('unknown-instruction', null, 'clusters that are not along x')
}

interface LinkedRung {
  /**
   * Runs the one-time launches of `kl_prepare`. Each launch runs all blocks, or only the blocks
   * that `blocksOf` selects.
   */
  prepare: (blocksOf?: RungRun['blocksOf']) => EmulatedLaunch[]
  /**
   * Runs the launches. The rung's variables and allocations keep their contents for the next run.
   */
  run: () => EmulatedLaunch[]
  /** Module variables in device memory. */
  variables: readonly Allocation[]
}

export const runRung = (run: RungRun): EmulatedLaunch[] => linkRung(run).run()

/** Allocates the module variables and links the rung's kernels to them. */
export function linkRung(run: RungRun): LinkedRung {
  const { device, machineCode } = run
  const variables = allocateVariables(device, machineCode)
  const constants = new Map(
    machineCode.map((module) => [
      module,
      new Map(module.constants.map((bank) => [bank.bank, linkedBank(bank, variables)])),
    ]),
  )
  const buffers = new Map(run.buffers)
  /** Contents of `__constant__` variables, keyed by range. */
  const constantBytes = new Map<number, Uint8Array>()
  for (const [place, name] of (run.symbols ?? []).entries()) {
    const address = variables.get(name)
    const found = machineCode.flatMap((module) =>
      module.constantVariables
        .filter((each) => each.name === name)
        .map(({ offset, size }) =>
          constants
            .get(module)!
            .get(3)!
            .subarray(offset, offset + size),
        ),
    )[0]
    const size = machineCode
      .flatMap(({ globals }) => globals)
      .find((each) => each.name === name)?.size
    if (address !== undefined)
      buffers.set(firstSymbol + place, { name, offset: offsetOf(address)!, bytes: size ?? 0 })
    else if (found) constantBytes.set(firstSymbol + place, found)
  }
  // A launch may read data that an earlier launch wrote.
  const written = run.options.checks
    ? writtenBytes(device.scratch(0), [
        ...(run.options.written ?? device.allocations),
        ...device.allocations.filter(({ name }) => name === variablesName),
      ])
    : null
  const options = written ? { ...run.options, writtenBytes: written } : run.options
  /** Returns the memory at a dummy address. */
  const bytesAt = (address: bigint, bytes: number): Uint8Array => {
    const found = dummyPlace(address)
    const constant = found && constantBytes.get(found.index)
    if (constant) return constant.subarray(found.offset, found.offset + bytes)
    const moved = translate(address, buffers)
    if (moved === null) throw new Halt('illegal-address', null, `0x${address.toString(16)}`)
    const offset = Number(BigInt.asUintN(32, moved))
    return new Uint8Array(device.memory.buffer).subarray(offset, offset + bytes)
  }
  const doMemory = ({ memory }: RungWork, before: number): void => {
    for (const each of memory) {
      if (each.before !== before) continue
      const to = bytesAt(each.to, each.bytes)
      if (each.from === null) to.fill(each.value)
      else if (typeof each.from === 'bigint') to.set(bytesAt(each.from, each.bytes))
      else to.set(translateData(each.from, buffers))
      if (to.buffer === device.memory.buffer)
        written?.fill(1, to.byteOffset, to.byteOffset + to.length)
    }
  }
  const one = (launch: RungLaunch, blocks: Launch['blocks']): EmulatedLaunch => {
    const module = machineCode.find(({ kernels }) =>
      kernels.some(({ name }) => name === launch.kernel),
    )
    const kernel = module?.kernels.find(({ name }) => name === launch.kernel)
    if (!module || !kernel) throw new Halt('unknown-instruction', null, launch.kernel)
    const code = codeOf(kernel, module)
    const localBytes = stackOf(kernel, code, run.stackBytes ?? defaultStack)
    const clusterBlocks = clusterOf(launch, kernel)
    const banks = new Map(constants.get(module))
    for (const bank of kernel.constants) banks.set(bank.bank, linkedBank(bank, variables))
    banks.set(
      0,
      launchBank({
        architecture: module.architecture,
        grid: launch.grid,
        block: launch.block,
        parameters: translateArguments(launch.arguments, buffers),
        localBytes,
        clusterBlocks,
      }),
    )
    run.onLaunch?.()
    const described: Launch = {
      kernel: launch.kernel,
      code,
      grid: launch.grid,
      block: launch.block,
      sharedBytes: staticShared(kernel, module.architecture) + launch.dynamicSharedBytes,
      clusterBlocks,
      localBytes,
      banks,
      ...(blocks ? { blocks } : {}),
    }
    const execute = run.execute ?? runLaunch
    const done = { launch, kernel, code, result: execute(device, described, options) }
    run.onResult?.(done)
    return done
  }
  const all = (work: RungWork, blocksOf?: RungRun['blocksOf']): EmulatedLaunch[] => {
    const results = work.launches.map((launch, index) => {
      doMemory(work, index)
      return one(launch, blocksOf?.(launch))
    })
    doMemory(work, work.launches.length)
    return results
  }
  return {
    variables: device.allocations.filter(({ name }) => name === variablesName),
    prepare: (blocksOf) => all(run.prepared ?? { launches: [], memory: [] }, blocksOf),
    run: () => all(run, run.blocksOf),
  }
}
