/**
 * Runs rungs on the emulated GPU. The probe reports each rung's launches. Buffers contain the same
 * data as in the runner. A thread in the pool executes the machine code.
 */
import { basename } from 'node:path/posix'
import { sourceName } from '../../adapters/disk/build-cache'
import { type EmulatorPool } from '../../adapters/emulator/pool'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { recordsOf, stopReason, type LaunchPlaces } from '../../domain/emulation/findings'
import { descriptionFault } from '../../domain/emulation/description'
import { type EmulationAnswer, type EmulationJob } from '../../domain/emulation/job'
import { joined, partsOf } from '../../domain/emulation/parts'
import { staticShared, type RungWork } from '../../domain/emulator/rung'
import type { Extent } from '../../domain/emulator/special-registers'
import type { Finding } from '../../domain/emulator/site'
import { KernelLadderError } from '../../domain/errors'
import { type BuildGpu } from '../../domain/gpu/gpu-table'
import { occupancy } from '../../domain/gpu/occupancy'
import type { LadderRung } from '../../domain/ladder/ladder'
import { message, type AnyMessage, type Statement } from '../../domain/messages/message'
import type { MachineCode } from '../../domain/sass/machine-code'
import type { SanitizerRecord } from '../../domain/session/sanitizer'
import { caseOf, type Case, type Problem } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import type { BuildOutcome } from '../bench/compiler'
import { bufferBytes } from '../../domain/emulation/emulated-problem'
import { smLimits } from '../../domain/gpu/sm-limits'
import type { FilledBuffer } from '../../adapters/emulator/fill-case'
import { launchedKernels, readModules } from '../../adapters/tools/built-code'
import { probeLaunches, type Launched, type NotLaunched } from '../../adapters/tools/launch-probe'

/** Settings shared by all rungs in a run. */
export interface EmulationSettings {
  toolbox: Toolbox
  pool: EmulatorPool
  /** The probe's path. The probe is built from cuda-kernels/probe. */
  probe: string
  task: Task
  taskFolder: string | null
  gpu: BuildGpu
  seed: number
  signal: AbortSignal
}

/** The emulated GPU's memory size in bytes, limited by 32-bit addresses. */
const memoryBytes = 2 ** 32 - 2 ** 16

/**
 * Maximum number of instructions per block. A block that exceeds the limit is considered an endless
 * loop.
 */
const blockLimit = 2e7

/**
 * Throws an error if the run was canceled, so that a tool stopped by the cancellation does not look
 * like a failed tool.
 */
export function requireRunning(signal: AbortSignal): void {
  if (signal.aborted) throw new KernelLadderError('cancelled', message('asked.cancelled'))
}

export interface ReadyRung {
  id: string
  own: Case
  launched: Launched
  /** Source locations of the launches, in launch order. */
  places: LaunchPlaces[]
  /** Source locations of the launches that prepare the rung. */
  preparedPlaces: LaunchPlaces[]
  job: EmulationJob
  buffers: readonly FilledBuffer[]
}

/**
 * Returns a case's buffers. If the buffers and the rung's own memory do not fit the emulated GPU,
 * returns the reason.
 */
export type Filled = (
  own: Case,
  rung: string,
  ownBytes: number,
  seed?: number,
) => Promise<readonly FilledBuffer[] | AnyMessage>

/**
 * Returns the reason that a case's buffers do not fit the emulated GPU, or null if they fit.
 * `besides` is the number of bytes that the rung needs in addition to its buffers. Called before
 * the buffers are filled.
 */
export function tooMuchMemory(task: Task, own: Case, rung: string, besides = 0): AnyMessage | null {
  const needed = besides + bufferBytes(task, own)
  return needed <= memoryBytes * 0.9
    ? null
    : message('emulation.tooMuchMemory', {
        rung,
        gib: (needed / 2 ** 30).toFixed(1),
        most: (memoryBytes / 2 ** 30).toFixed(0),
      })
}

export const layoutsOf = (modules: readonly MachineCode[]) =>
  new Map(
    modules.flatMap(({ kernels }) =>
      kernels.map(({ name, parameters }) => [name, parameters.list] as const),
    ),
  )

const workOf = ({ kernels, memory }: Launched['prepared']): RungWork => ({
  launches: kernels.map(
    ({ mangled, grid, block, dynamicSharedBytes, clusterBlocks, arguments: words = '' }) => ({
      kernel: mangled,
      grid,
      block,
      dynamicSharedBytes,
      clusterBlocks,
      arguments: new Uint8Array(Buffer.from(words, 'hex')),
    }),
  ),
  memory: memory.map(({ before, to, from, data, value, bytes }) => ({
    before,
    to: BigInt(to),
    from:
      data !== undefined
        ? new Uint8Array(Buffer.from(data, 'hex'))
        : from === undefined
          ? null
          : BigInt(from),
    value: value ?? 0,
    bytes,
  })),
})

export const jobOf = (
  modules: readonly MachineCode[],
  launched: Launched,
  buffers: EmulationJob['buffers'],
): EmulationJob => ({
  machineCode: modules,
  ...workOf(launched),
  ...(prepares(launched) ? { prepared: workOf(launched.prepared) } : {}),
  allocations: launched.allocations,
  workspaceBytes: launched.workspaceBytes,
  symbols: launched.symbols,
  stackBytes: launched.stackBytes,
  buffers,
  checks: false,
  limit: blockLimit,
  memoryBytes,
})

const prepares = ({ prepared: { kernels, memory } }: Launched): boolean =>
  kernels.length > 0 || memory.length > 0

/**
 * Returns a failed result for a rung with unreadable machine code, so that the other rungs still
 * run.
 */
function unreadable(error: unknown): NotLaunched {
  if (error instanceof KernelLadderError && error.kind === 'input')
    return { reason: error.statement, fault: 'failed' }
  throw error
}

export async function readyRung(
  bench: EmulationSettings,
  fills: Filled,
  rung: LadderRung,
  build: BuildOutcome,
  problem: Problem,
): Promise<ReadyRung | NotLaunched> {
  const { toolbox, probe, task, gpu, signal } = bench
  const artifact = build.artifact ?? ''
  const architecture = Number(gpu.computeCapability.replace('.', ''))
  const modules = await readModules(toolbox, artifact, architecture).catch(unreadable)
  if ('reason' in modules) return modules
  if (modules.length === 0) return { reason: message('emulation.noMachineCode') }
  const other = modules.find((module) => module.architecture !== architecture)?.architecture
  if (other !== undefined)
    return {
      reason: message('compiled.otherArchitecture', {
        ...{ file: basename(rung.file), built: other, gpu: architecture },
      }),
      fault: 'failed',
    }
  const own = caseOf(problem, { options: rung.options, flags: rung.header.flags })
  const launched = await probeLaunches(toolbox, {
    ...{ probe, rung: rung.id, library: artifact, task, own, gpu, signal },
    layouts: layoutsOf(modules),
    ...(build.kernels ? { resources: build.kernels } : {}),
  })
  requireRunning(signal)
  if ('reason' in launched)
    return launched.fault === 'failed' || rung.id === toolbox.describedOnly
      ? { fault: 'failed', reason: message('records.cannotLaunch', { why: launched.reason }) }
      : launched
  const { prepared, symbols } = launched
  const fault =
    descriptionFault(modules, launched) ??
    descriptionFault(modules, { kernels: prepared.kernels, symbols })
  if (fault) return { reason: fault, fault: 'failed' }
  const places = placesOf(modules, launched)
  const preparedPlaces = placesOf(modules, prepared)
  if (!places || !preparedPlaces) return { reason: message('emulation.noMachineCode') }
  const refused = refusedBy(gpu, places, launched) ?? refusedBy(gpu, preparedPlaces, prepared)
  if (refused) return { reason: refused, fault: 'failed' }
  const ownBytes = launched.allocations.reduce((sum, bytes) => sum + bytes, launched.workspaceBytes)
  const buffers = await fills(own, rung.id, ownBytes)
  if ('key' in buffers) return { reason: buffers, fault: 'failed' }
  // A submission's results must not depend on the inputs of its earlier runs.
  const earlier =
    rung.id === toolbox.describedOnly && buffers.length > 0
      ? await fills(own, rung.id, launched.workspaceBytes, bench.seed + 1)
      : null
  if (earlier && 'key' in earlier) return { reason: earlier, fault: 'failed' }
  const job = jobOf(
    modules,
    launched,
    buffers.map(({ name, bytes, contents, access }, index) => ({
      ...{ name, bytes, contents, writable: access !== 'in' },
      ...(earlier && { earlier: earlier[index]!.contents }),
    })),
  )
  return {
    ...{ id: rung.id, own, launched, places, preparedPlaces, buffers },
    job: task.workspace === 'zero' ? { ...job, zeroWorkspace: true } : job,
  }
}

/** Returns an error message if the GPU would reject one of the given launches. */
function refusedBy(
  gpu: BuildGpu,
  places: readonly LaunchPlaces[],
  { kernels }: Pick<Launched, 'kernels'>,
): Statement | undefined {
  const limits = smLimits(gpu.computeCapability)
  if (!limits) return undefined
  const architecture = Number(gpu.computeCapability.replace('.', ''))
  for (const [index, { kernel, block }] of places.entries()) {
    const { unlaunchable } = occupancy(limits, {
      threads: block[0] * block[1] * block[2],
      registers: kernel.registers ?? 0,
      staticSharedBytes: staticShared(kernel, architecture),
      dynamicSharedBytes: kernels[index]!.dynamicSharedBytes,
    })
    const why = unlaunchable ?? shapeFault(places[index]!, kernels[index]!.clusterBlocks)
    if (why) return message('records.cannotLaunch', { why })
  }
  return undefined
}

/**
 * Returns an error message if the block or grid shape differs from the shape for which the kernel
 * was compiled.
 */
export function shapeFault(
  { kernel, name, grid, block }: LaunchPlaces,
  clusterBlocks: number,
): AnyMessage | undefined {
  const product = ([x, y, z]: Extent): number => x * y * z
  const threads = product(block)
  const { maxThreads, requiredThreads } = kernel
  if (requiredThreads && requiredThreads.join() !== block.join())
    return message('occupancy.requiredThreads', {
      ...{ kernel: name, required: requiredThreads.join(' × '), block: block.join(' × ') },
    })
  if (maxThreads && threads > product(maxThreads))
    return message('occupancy.launchBounds', {
      ...{ kernel: name, most: product(maxThreads), threads },
    })
  const blocks = clusterBlocks || (kernel.clusterBlocks?.[0] ?? 1)
  if (grid[0] % blocks !== 0)
    return message('occupancy.cluster', { ...{ kernel: name, grid: grid[0], blocks } })
  return undefined
}

export function placesOf(
  modules: readonly MachineCode[],
  { kernels }: Pick<Launched, 'kernels'>,
): LaunchPlaces[] | null {
  const all = new Map(modules.flatMap((module) => module.kernels.map((one) => [one.name, one])))
  const found = launchedKernels({ architecture: modules[0]!.architecture, kernels: all }, kernels)
  return (
    found &&
    found.map(({ code, name }, index) => ({
      kernel: code,
      name,
      grid: kernels[index]!.grid,
      block: kernels[index]!.block,
    }))
  )
}

/**
 * Estimates the rung's warp instructions from a few blocks per launch. Returns `Infinity` if the
 * sampled blocks do not finish.
 */
export async function estimate({ pool }: EmulationSettings, { job }: ReadyRung): Promise<number> {
  const { kernels, prepared, stop } = await pool.run({ ...job, sample: true })
  if (stop) return stop.kind === 'too-long' ? Infinity : 0
  const launches = [...job.launches, ...(job.prepared?.launches ?? [])]
  return [...kernels, ...prepared].reduce((sum, { instructions, blocks }, index) => {
    const [x, y, z] = launches[index]!.grid
    return sum + (instructions * x * y * z) / blocks
  }, 0)
}

/**
 * Returns the instruction limit. The limit exceeds the estimate, because other blocks can take
 * longer than the sampled blocks. The limit is finite, so that an endless launch is stopped.
 */
const limitFor = (estimated: number): number =>
  Number.isFinite(estimated) ? Math.max(blockLimit, 10 * estimated) : blockLimit

interface Execution {
  /** Expected number of warp instructions. */
  estimated: number
  checks?: boolean
  /** Maximum number of threads that share the rung's blocks. */
  threads?: number
  /** Called with the number of warp instructions executed so far. */
  onProgress?: (instructions: number) => void
}

export async function execute(
  { pool }: EmulationSettings,
  { job }: ReadyRung,
  { estimated, checks = false, threads = 1, onProgress }: Execution,
): Promise<EmulationAnswer> {
  const whole = { ...job, checks, limit: limitFor(estimated) }
  const parts = partsOf(whole, threads, estimated)
  const done = parts.map(() => 0)
  const progressOf = (place: number) => (instructions: number) => {
    done[place] = instructions
    onProgress?.(done.reduce((sum, one) => sum + one))
  }
  return joined(
    whole,
    await Promise.all(parts.map((part, place) => pool.run(part, progressOf(place)))),
  )
}

/** Returns the source locations of all launches, indexed by `Stop.launch`. */
export const allPlaces = ({ places, preparedPlaces }: ReadyRung): LaunchPlaces[] => [
  ...places,
  ...preparedPlaces,
]

/**
 * Returns the faults that occurred while a rung ran. If the execution succeeded, `records` is empty
 * and `stop` is null.
 */
export function faultsOf(
  answer: EmulationAnswer,
  ready: ReadyRung,
): { records: { finding: Finding; record: SanitizerRecord }[]; stop: Statement | null } {
  const { kernels, prepared, stop } = answer
  return {
    records: [
      ...recordsOf(prepared, ready.preparedPlaces, sourceName),
      ...recordsOf(kernels, ready.places, sourceName),
    ],
    stop: stop && stopReason(stop, allPlaces(ready)[stop.launch ?? -1], sourceName),
  }
}
