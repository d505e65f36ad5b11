/** Runs kernels on an emulated GPU: executes their machine code on the CPU and counts events. */
import { emulate as runJob, type EmulatedBuffer } from '../domain/emulation/job'
import { recordsOf, stopReason, type LaunchPlaces } from '../domain/emulation/findings'
import type { Counts } from '../domain/emulator/warp'
import { dummyAddress } from '../domain/emulator/rung'
import { type MachineCode, type MachineKernel } from '../domain/sass/machine-code'
import { inEnglish } from '../domain/text/english'
import { readCubin } from '../parsers/cubin/cubin'
import { codeOf, decodesBy, deepOf } from './decoded'
import type { Kernel } from './report'
import type { Finding } from './sanitizer'
import { emulatedMetrics } from '../domain/emulation/emulated-metrics'
import { emulatedProfile } from '../domain/emulation/emulated-profile'
import { staticProfile } from '../domain/sass/static-profile'
import { cubinsOf } from '../parsers/cubin/fat-binary'

/** One kernel argument: a number of the parameter's type, or the address of a buffer. */
export type KernelArgument =
  | { buffer: string }
  | { i32: number }
  | { u32: number }
  | { i64: bigint }
  | { f32: number }
  | { f64: number }

/** One launch, like `kernel<<<grid, block, dynamicSharedBytes>>>(arguments)`. */
export interface EmulatedLaunch {
  /** Mangled kernel name, or a substring that matches exactly one kernel. */
  kernel: string
  /** Blocks along x, y and z. Missing dimensions default to 1. */
  grid: readonly number[]
  /** Threads along x, y and z. Missing dimensions default to 1. */
  block: readonly number[]
  dynamicSharedBytes?: number
  arguments: readonly KernelArgument[]
}

export interface Emulation {
  /**
   * One kernel per completed launch, with counters per instruction. Metrics are keyed by the ids in
   * docs/reference/metrics.md. Only metrics that are determined by the code and the launch shape
   * are included.
   */
  kernels: Kernel[]
  /**
   * Out-of-bounds and misaligned accesses. With `checks`, the list also contains races and reads of
   * uninitialized memory.
   */
  findings: Finding[]
  /** Reason why a launch stopped early; null if all launches completed. */
  stopped: string | null
  /** Final buffer contents by name. */
  buffers: Readonly<Record<string, Uint8Array>>
}

/** Launches to emulate, in order, and the buffers that they share. */
export interface EmulationRequest {
  launches: readonly EmulatedLaunch[]
  /**
   * Initial buffer contents by name. A number creates an uninitialized buffer of that many bytes.
   */
  buffers: Readonly<Record<string, Uint8Array | number>>
  /**
   * Detects races and reads of uninitialized memory. The checks make emulation several times
   * slower.
   */
  checks?: boolean
  /** Maximum warp instructions per launch. The default is 100 million. */
  limit?: number
}

const extent = (of: readonly number[]): [number, number, number] => {
  const [x = 1, y = 1, z = 1] = of
  if (![x, y, z].every((one) => Number.isSafeInteger(one) && one > 0) || of.length > 3)
    throw new RangeError(`A grid or block has up to three sizes from 1 on: ${of.join(', ')}.`)
  return [x, y, z]
}

function kernelOf(modules: readonly MachineCode[], name: string): MachineKernel {
  const all = modules.flatMap(({ kernels }) => kernels)
  const found = all.filter((kernel) => kernel.name === name)
  const like = found.length > 0 ? found : all.filter((kernel) => kernel.name.includes(name))
  if (like.length === 1) return like[0]!
  throw new RangeError(
    `${like.length === 0 ? 'No kernel is' : 'Several kernels are'} called ${name}; there are ${all.map((one) => one.name).join(', ')}.`,
  )
}

const sizes = { i32: 4, u32: 4, f32: 4, i64: 8, f64: 8, buffer: 8 } as const

function write(view: DataView, at: number, argument: KernelArgument, names: readonly string[]) {
  if ('buffer' in argument) {
    const index = names.indexOf(argument.buffer)
    if (index < 0)
      throw new RangeError(`There is no buffer ${argument.buffer}; there are ${names.join(', ')}.`)
    view.setBigUint64(at, dummyAddress(index + 1), true)
  } else if ('i32' in argument) view.setInt32(at, argument.i32, true)
  else if ('u32' in argument) view.setUint32(at, argument.u32, true)
  else if ('i64' in argument) view.setBigInt64(at, argument.i64, true)
  else if ('f32' in argument) view.setFloat32(at, argument.f32, true)
  else view.setFloat64(at, argument.f64, true)
}

/** Returns a launch's parameter bytes, laid out at the compiler's offsets. */
function argumentBytes(
  { name, parameters: { list, size } }: MachineKernel,
  given: readonly KernelArgument[],
  names: readonly string[],
): Uint8Array {
  if (given.length !== list.length)
    throw new RangeError(`${name} takes ${list.length} arguments, not ${given.length}.`)
  const bytes = new Uint8Array(size)
  const view = new DataView(bytes.buffer)
  for (const [index, argument] of given.entries()) {
    const [kind] = Object.keys(argument) as [keyof typeof sizes]
    const { offset, size: own } = list[index]!
    if (sizes[kind] !== own)
      throw new RangeError(
        `Argument ${index + 1} of ${name} has ${own} bytes, and ${kind} has ${sizes[kind]}.`,
      )
    write(view, offset, argument, names)
  }
  return bytes
}

/**
 * Executes kernels without a GPU and counts instructions, shared wavefronts, sectors and tags as
 * ncu does. Counts were validated only on compute capability 9.0. Nothing is timed.
 * docs/evidence/emulation.md lists the comparisons with a GPU.
 *
 * @param code a cubin (`compileCubin`, or `nvcc -arch=sm_90 -lineinfo -cubin`), or a library or
 * program that nvcc built and that contains cubins
 * @throws {KernelLadderError} if the machine code is damaged
 * @throws {RangeError} if the code has no cubin or lacks a requested kernel, or if arguments do not
 * match the kernel's parameters
 * @example
 * ```js
 * import { readFile } from 'node:fs/promises'
 * import { emulate, hottestLines } from 'kernel-ladder'
 *
 * // __global__ void outsideStore(float* out, int n)
 * const args = [{ buffer: 'out' }, { i32: 64 }]
 * const { kernels, findings } = emulate(await readFile(process.argv[2]), {
 *   launches: [{ kernel: 'outsideStore', grid: [2], block: [64], arguments: args }],
 *   buffers: { out: 4 * 64 },
 * })
 * const [line] = hottestLines(kernels[0], 'executed')
 * console.log(`${kernels[0].metrics.instructions.value} warp instructions, most on line ${line.line}`)
 * for (const { message, place } of findings) console.log(`${place.file}:${place.line}: ${message}`)
 * ```
 */
export function emulate(code: Uint8Array, request: EmulationRequest): Emulation {
  const modules = cubinsOf(code).map((cubin) => readCubin(cubin))
  const { launches, buffers, checks = false, limit = 1e8 } = request
  if (modules.length === 0) throw new RangeError('These bytes hold no machine code of nvcc.')
  const names = Object.keys(buffers)
  const planned = launches.map((launch) => {
    const kernel = kernelOf(modules, launch.kernel)
    const places: LaunchPlaces = {
      ...{ kernel, name: kernel.name },
      ...{ grid: extent(launch.grid), block: extent(launch.block) },
    }
    return { launch, places, arguments: argumentBytes(kernel, launch.arguments, names) }
  })
  const places = planned.map((one) => one.places)
  const answer = runJob({
    machineCode: modules,
    launches: planned.map((one) => ({
      kernel: one.places.kernel.name,
      grid: one.places.grid,
      block: one.places.block,
      dynamicSharedBytes: one.launch.dynamicSharedBytes ?? 0,
      arguments: one.arguments,
    })),
    memory: [],
    workspaceBytes: 0,
    buffers: names.map((name): EmulatedBuffer => {
      const given = buffers[name]!
      return typeof given === 'number'
        ? { name, bytes: given, contents: null, writable: true }
        : { name, bytes: given.length, contents: given, writable: true }
    }),
    ...{ checks, limit, memoryBytes: 2 ** 32 - 2 ** 16, symbols: [], stackBytes: null },
  })
  const { architecture } = modules[0]!
  const findings = recordsOf(answer.kernels, places, nameOf).map(({ record }) => record)
  return {
    kernels: answer.kernels.map(({ counts }, index) =>
      counted(places[index]!, architecture, counts),
    ),
    findings,
    stopped:
      answer.stop && inEnglish(stopReason(answer.stop, places[answer.stop.launch ?? -1], nameOf)),
    buffers: Object.fromEntries(answer.outputs),
  }
}

const nameOf = (path: string): string => path

function counted(
  { kernel: code, name, grid, block }: LaunchPlaces,
  architecture: number,
  counts: Counts,
): Kernel {
  const listing = staticProfile('kernel', [{ name, code, architecture }], nameOf)
  const deep = emulatedProfile(listing, [counts]).kernels[0]!
  const opcodes = deep.instructions.map(({ opcode }) => opcode)
  const metrics = emulatedMetrics([{ opcodes, counts }], 'Nothing is timed.')
  const kernel: Kernel = {
    ...{ name, grid: [...grid], block: [...block] },
    ...{ range: null, ms: null },
    computeCapability: `${Math.floor(architecture / 10)}.${architecture % 10}`,
    metrics: Object.fromEntries(
      Object.entries(metrics).flatMap(([id, { value, unit }]) =>
        value === null ? [] : [[id, { value, unit }]],
      ),
    ),
    code: () => codeOf(deepOf(kernel)!),
  }
  decodesBy(kernel, () => deep)
  return kernel
}
