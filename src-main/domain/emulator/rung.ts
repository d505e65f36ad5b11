/**
 * A rung on the emulated GPU: the kernels that it launches and the fills and copies between them, in order. What it
 * would launch, and with which arguments, comes from the probe (`parsers/cuda/launch-probe.ts`), whose addresses are
 * dummies: one range for each buffer, which are turned into those of the device here.
 */
import { decodeInstruction } from '../sass/decode'
import type { Instruction } from '../sass/instruction'
import { truePredicate } from '../sass/instruction'
import type { ConstantBank, MachineCode, MachineKernel } from '../sass/machine-code'
import { addressOf, type Allocation, type Device } from './device'
import {
  launchBank,
  reservedShared,
  runLaunch,
  type Extent,
  type Launch,
  type LaunchOptions,
  type LaunchResult,
} from './launch'
import { Halt } from './warp'
import { writtenBytes } from './watch'

export interface RungLaunch {
  /** Mangled. */
  readonly kernel: string
  readonly grid: Extent
  readonly block: Extent
  readonly dynamicSharedBytes: number
  /** Blocks of a cluster, along x; 0 or nothing where there are no clusters. */
  readonly clusterBlocks?: number
  readonly arguments: Uint8Array
}

/** Before the launch of that number. */
export interface MemoryOperation {
  readonly before: number
  readonly to: bigint
  /** Where it copies from; null where it fills with `value`. */
  readonly from: bigint | null
  readonly value: number
  readonly bytes: number
}

export interface EmulatedLaunch {
  readonly launch: RungLaunch
  readonly kernel: MachineKernel
  readonly code: readonly Instruction[]
  readonly result: LaunchResult
}

/** The probe's address of a buffer: in the order of the launch struct from 1 on, the workspace being 0. */
const dummyBase = 0x7000_0000_0000n
const dummyShift = 38n
export const dummyAddress = (index: number): bigint => dummyBase + (BigInt(index) << dummyShift)

/** The device's address for a dummy one; null for any other number. */
function translate(value: bigint, buffers: ReadonlyMap<number, Allocation>): bigint | null {
  if (value < dummyBase || value >= dummyBase + (256n << dummyShift)) return null
  const index = Number((value - dummyBase) >> dummyShift)
  const buffer = buffers.get(index)
  return buffer ? addressOf(buffer) + (value - dummyAddress(index)) : null
}

/** Arguments with the device's addresses. Pointers stand at multiples of 8 bytes. */
export function translateArguments(
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

const instructionBytes = 16

/** The instructions of a kernel. What the decoder does not know stays, and stops the kernel where it is reached. */
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
  mnemonic: '???',
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

/** Constant banks with the addresses of the module's variables. */
function linkedBank(
  { bytes, relocations }: ConstantBank,
  variables: ReadonlyMap<string, bigint>,
): Uint8Array {
  // A copy whatever the bytes are: a slice of Node's Buffer is not.
  const linked = new Uint8Array(bytes)
  const view = new DataView(linked.buffer)
  for (const { offset, type, symbol, addend } of relocations) {
    const address = variables.get(symbol)
    // A function, such as what prints: the call stops the kernel where it is reached.
    if (address === undefined) continue
    if (type !== wholeAddress)
      throw new Halt('unknown-instruction', null, `the address of ${symbol}`)
    view.setBigUint64(offset, address + BigInt(addend), true)
  }
  return linked
}

export interface RungRun {
  readonly device: Device
  readonly machineCode: readonly MachineCode[]
  readonly launches: readonly RungLaunch[]
  readonly memory: readonly MemoryOperation[]
  /** By the number of the probe's range. */
  readonly buffers: ReadonlyMap<number, Allocation>
  readonly options: LaunchOptions
  /** Which blocks of each launch to run; all of them by default. */
  readonly blocksOf?: (launch: RungLaunch) => NonNullable<Launch['blocks']>
  /** Called before and after each launch, so that whoever catches a `Halt` knows where it was and what came before. */
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

/** Of a thread whose calls are not bounded; CUDA's own default (cudaLimitStackSize). */
const unboundedStack = 1024

/** The instructions of a kernel; a call of a function that has code of its own is one without a target. */
function codeOf(kernel: MachineKernel, { architecture, functions }: MachineCode): Instruction[] {
  const code = instructionsOf(kernel.code, architecture)
  const outside = new Set(functions.map(({ name }) => name))
  for (const { offset, symbol } of kernel.relocations) {
    const at = Math.floor(offset / instructionBytes)
    const instruction = code[at]
    if (instruction?.mnemonic === 'CALL' && outside.has(symbol))
      code[at] = { ...instruction, operands: [] }
  }
  return code
}

/** What its variables take behind the part that CUDA keeps. */
const staticShared = (kernel: MachineKernel, architecture: number): number =>
  architecture >= 90 ? Math.max(0, kernel.sharedBytes - reservedShared) : kernel.sharedBytes

/** Of the launch, or of the kernel's own `__cluster_dims__`. */
function clusterOf(launch: RungLaunch, kernel: MachineKernel): number {
  const [x, y, z] = kernel.clusterBlocks ?? [1, 1, 1]
  const blocks = launch.clusterBlocks || x * y * z
  if (y * z === 1 && launch.grid[0] % blocks === 0) return blocks
  throw new Halt('unknown-instruction', null, 'clusters that are not along x')
}

export function runRung(run: RungRun): EmulatedLaunch[] {
  const { device, machineCode, launches, memory, buffers } = run
  const variables = allocateVariables(device, machineCode)
  const decoded = new Map<MachineKernel, Instruction[]>()
  // What one launch has written, the next may read.
  const written = run.options.checks
    ? writtenBytes(device.scratch(0), [
        ...(run.options.written ?? device.allocations),
        ...device.allocations.filter(({ name }) => name === variablesName),
      ])
    : null
  const options = written ? { ...run.options, writtenBytes: written } : run.options
  const place = (address: bigint): number => {
    const found = translate(address, buffers)
    if (found === null) throw new Halt('illegal-address', null, `0x${address.toString(16)}`)
    return Number(BigInt.asUintN(32, found))
  }
  const doMemory = (before: number): void => {
    for (const each of memory) {
      if (each.before !== before) continue
      const bytes = new Uint8Array(device.memory.buffer)
      const to = place(each.to)
      if (each.from === null) bytes.fill(each.value, to, to + each.bytes)
      else {
        const from = place(each.from)
        bytes.copyWithin(to, from, from + each.bytes)
      }
      written?.fill(1, to, to + each.bytes)
    }
  }
  const results = launches.map((launch, index): EmulatedLaunch => {
    doMemory(index)
    const module = machineCode.find(({ kernels }) =>
      kernels.some(({ name }) => name === launch.kernel),
    )
    const kernel = module?.kernels.find(({ name }) => name === launch.kernel)
    if (!module || !kernel) throw new Halt('unknown-instruction', null, launch.kernel)
    const code = decoded.get(kernel) ?? codeOf(kernel, module)
    decoded.set(kernel, code)
    const stack = kernel.stackBytes ?? Math.max(kernel.frameBytes, unboundedStack)
    const localBytes = Math.ceil(stack / 16) * 16
    const banks = new Map<number, Uint8Array>()
    for (const bank of [...module.constants, ...kernel.constants])
      banks.set(bank.bank, linkedBank(bank, variables))
    banks.set(
      0,
      launchBank({
        architecture: module.architecture,
        grid: launch.grid,
        block: launch.block,
        parameters: translateArguments(launch.arguments, buffers),
        localBytes,
      }),
    )
    run.onLaunch?.()
    const described: Launch = {
      kernel: launch.kernel,
      code,
      grid: launch.grid,
      block: launch.block,
      sharedBytes: staticShared(kernel, module.architecture) + launch.dynamicSharedBytes,
      clusterBlocks: clusterOf(launch, kernel),
      localBytes,
      banks,
      ...(run.blocksOf ? { blocks: run.blocksOf(launch) } : {}),
    }
    const done = { launch, kernel, code, result: runLaunch(device, described, options) }
    run.onResult?.(done)
    return done
  })
  doMemory(launches.length)
  return results
}
