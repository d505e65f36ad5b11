/**
 * Runs one worker's job. A job consists of the machine code, launches, and buffers of a rung to run
 * on the emulated GPU. The answer contains counts, findings and results. Jobs and answers can be
 * sent between threads.
 */
import { OutOfDeviceMemory } from '../emulator/device'
import type { Printed } from '../emulator/launch-types'
import { readsClock } from '../emulator/code-facts'
import { spreadOver } from '../emulator/spread'
import { linkRung, type RungLaunch, type RungWork } from '../emulator/rung'
import type { Finding } from '../emulator/site'
import type { Counts } from '../emulator/warp'
import { Halt, type HaltReason } from '../emulator/warp'
import type { MachineCode } from '../sass/machine-code'
import { warpSize } from '../gpu/sm-limits'
import { deviceFor, giveBack, loadJob, unwritten } from './job-memory'

export interface EmulatedBuffer {
  name: string
  bytes: number
  /** Initial contents. Null for write-only buffers. */
  contents: Uint8Array | null
  /**
   * Contents for an earlier run, whose results are ignored. A rung that can keep state in device
   * memory runs once with `earlier` and then several times with `contents`. The rung's results must
   * be correct after any number of runs, regardless of earlier inputs.
   */
  earlier?: Uint8Array | null
  /** Whether the rung may write to the buffer. */
  writable: boolean
}

export interface EmulationJob extends RungWork {
  machineCode: readonly MachineCode[]
  /** One-time work before the first run. During this work, the buffers contain no data. */
  prepared?: RungWork
  /**
   * Size of each of the rung's allocations in bytes, in the order of the probe's dummy addresses.
   */
  allocations?: readonly number[]
  workspaceBytes: number
  /**
   * Whether to zero the workspace before each run. A workspace that is not zeroed starts with the
   * same contents as an output and keeps its contents between runs.
   */
  zeroWorkspace?: boolean
  /** Variables that the host accesses, in the order of the probe's dummy addresses. */
  symbols: string[]
  /**
   * Per-thread stack size set with cudaDeviceSetLimit, or null if the host did not set the limit.
   */
  stackBytes: number | null
  /**
   * Buffers in the order of the probe's dummy addresses. The first buffer has the probe's range
   * number 1.
   */
  buffers: EmulatedBuffer[]
  /**
   * Whether to check for races and for reads of uninitialized memory. The checks make the job
   * several times slower.
   */
  checks: boolean
  /** Maximum number of warp instructions per launch. */
  limit: number
  /** Memory size of the emulated GPU in bytes. */
  memoryBytes: number
  /** Whether to run only a few blocks of each launch, in order to estimate the whole launch. */
  sample?: true
  /**
   * Range of blocks to run in each launch, by linear index. Blocks outside the range do not run.
   */
  blocks?: { first: number; count: number }
}

export interface EmulatedKernel {
  /** The kernel's mangled name. */
  kernel: string
  instructions: number
  barriers: number
  /** Number of blocks that ran. */
  blocks: number
  counts: Counts
  findings: Finding[]
  /**
   * Whether the kernel reads clock64 or globaltimer. In the emulator, clock64 and globaltimer do
   * not measure time.
   */
  readsClock: boolean
}

/** The reason that a rung stopped early. */
export interface Stop {
  kind: HaltReason
  /** Details of the reason, such as an instruction name or a limit. */
  detail: string
  /**
   * Index of the launch, and the address in its code. Launches in `prepared` are numbered after all
   * other launches. The index and the address are null if unknown.
   */
  launch: number | null
  address: number | null
  mnemonic: string | null
  /**
   * Linear indices of the thread and block that caused the stop. Null if no single thread caused
   * the stop.
   */
  by: { thread: number; block: number } | null
}

export interface EmulationAnswer {
  /** Results of the launches that completed. */
  kernels: EmulatedKernel[]
  /** Results of the one-time launches that completed. */
  prepared: EmulatedKernel[]
  stop: Stop | null
  /** The threads' first printf outputs, in order. */
  printed: (Printed & { launch: number })[]
  /** Total number of printf calls by all threads. */
  prints: number
  /**
   * Contents of the writable buffers, keyed by name. Empty if the job runs only a sample of the
   * blocks.
   */
  outputs: Map<string, Uint8Array>
  /** Contents of the writable buffers after each rerun. */
  again: Map<string, Uint8Array>[]
  /** Whether the rung's persistent state still changed in the last rerun. */
  unsettled: boolean
  /** Names of read-only buffers that the rung changed. */
  changedInputs: string[]
  /** Time spent running the launches in seconds, excluding setup. */
  seconds: number
}

/**
 * Maximum number of stored printf calls. A GPU's 1 MiB printf buffer has room for a few thousand
 * calls.
 */
const mostPrinted = 4096

/** Number of blocks per launch in a sample. */
const sampledBlocks = 8
const sampleOf = ({ grid: [x, y, z] }: RungLaunch): number[] =>
  spreadOver(x * y * z, sampledBlocks).toSorted((a, b) => a - b)

/** Returns whether two buffers have equal contents. */
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  const words = (bytes: Uint8Array) =>
    new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2)
  const [left, right] = [words(a), words(b)]
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false
  for (let index = a.length & ~3; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

/**
 * Maximum number of reruns of a rung. Reruns end once a rung's persistent state no longer changes.
 */
const mostAgain = 3

/**
 * Returns whether the job runs its rung several times. The job must request reruns, and the kernels
 * must be able to keep state.
 */
export const isRepeated = ({
  buffers,
  machineCode,
  workspaceBytes,
  allocations = [],
  checks,
}: EmulationJob): boolean =>
  !checks &&
  buffers.some(({ earlier }) => earlier !== undefined) &&
  (workspaceBytes > 0 ||
    allocations.length > 0 ||
    machineCode.some(({ globals }) => globals.length > 0))

/**
 * Runs a job. `onProgress` receives the number of executed warp instructions, at most about once
 * per second.
 */
export function emulate(
  job: EmulationJob,
  onProgress?: (instructions: number) => void,
): EmulationAnswer {
  const answer: EmulationAnswer = {
    kernels: [],
    prepared: [],
    stop: null,
    printed: [],
    prints: 0,
    outputs: new Map(),
    again: [],
    unsettled: false,
    changedInputs: [],
    seconds: 0,
  }
  const { blocks } = job
  const device = deviceFor(job)
  let launch = -1
  try {
    const { places, workspace, allocated, reset } = loadJob(job, device)
    // Record only the one-time work and the first run with the actual inputs. Reruns only check
    // results.
    let recordTo: EmulatedKernel[] | null = answer.prepared
    const rung = linkRung({
      device,
      machineCode: job.machineCode,
      launches: job.launches,
      memory: job.memory,
      ...(job.prepared ? { prepared: job.prepared } : {}),
      buffers: places,
      symbols: job.symbols,
      ...(job.stackBytes === null ? {} : { stackBytes: job.stackBytes }),
      options: {
        limit: job.sample ? sampledBlocks * job.limit : job.limit,
        checks: job.checks,
        written: [
          ...(workspace && job.zeroWorkspace ? [workspace] : []),
          ...job.buffers.flatMap(({ contents }, index) =>
            contents === null ? [] : [places.get(index + 1)!],
          ),
        ],
        ...(onProgress && {
          onProgress: (instructions: number) =>
            onProgress(
              answer.kernels.reduce((sum, kernel) => sum + kernel.instructions, instructions),
            ),
        }),
        onPrint(printed) {
          if (answer.prints++ < mostPrinted) answer.printed.push({ ...printed, launch })
        },
      },
      ...(job.sample ? { blocksOf: sampleOf } : {}),
      ...(blocks ? { blocksOf: () => blocks } : {}),
      onLaunch: () => {
        launch += 1
      },
      onResult({ launch: { kernel }, code, result }) {
        const { instructions, barriers, blocks, counts, findings } = result
        recordTo?.push({
          ...{ kernel, instructions, barriers, blocks, counts, findings: [...findings] },
          readsClock: readsClock(code),
        })
      },
    })
    const run = (which: 'contents' | 'earlier'): Map<string, Uint8Array> => {
      reset(which)
      launch = -1
      const begun = performance.now()
      try {
        rung.run()
      } finally {
        answer.seconds += (performance.now() - begun) / 1000
      }
      const outputs = new Map<string, Uint8Array>()
      if (job.sample) return outputs
      for (const [index, { name, writable, [which]: before }] of job.buffers.entries()) {
        const bytes = device.bytes(places.get(index + 1)!)
        if (writable) outputs.set(name, bytes.slice())
        else if (before && !isSame(bytes, before) && !answer.changedInputs.includes(name))
          answer.changedInputs.push(name)
      }
      return outputs
    }
    if (job.prepared) {
      for (const index of job.buffers.keys()) device.bytes(places.get(index + 1)!).fill(unwritten)
      launch = job.launches.length - 1
      rung.prepare(job.sample ? sampleOf : undefined)
    }
    const repeats = job.sample !== true && isRepeated(job)
    if (repeats) {
      recordTo = null
      run('earlier')
    }
    recordTo = answer.kernels
    answer.outputs = run('contents')
    if (repeats) {
      recordTo = null
      const state = [...rung.variables, ...allocated, ...(workspace ? [workspace] : [])]
      const copied = (): Uint8Array[] => state.map((place) => device.bytes(place).slice())
      let settled = false
      for (let turn = 0; turn < mostAgain && !settled; turn++) {
        const before = copied()
        answer.again.push(run('contents'))
        settled = copied().every((bytes, index) => isSame(bytes, before[index]!))
      }
      answer.unsettled = !settled
    }
  } catch (error) {
    answer.stop = stopOf(error, launch < 0 ? null : launch)
  } finally {
    giveBack(job, device)
  }
  return answer
}

function stopOf(error: unknown, launch: number | null): Stop {
  const where = { launch, address: null, mnemonic: null, by: null }
  if (error instanceof OutOfDeviceMemory || error instanceof RangeError)
    return { ...where, kind: 'memory', detail: error.message }
  if (error instanceof Halt)
    return {
      kind: error.reason,
      detail: error.message,
      launch,
      address: error.instruction?.address ?? null,
      mnemonic: error.instruction?.mnemonic ?? null,
      by: error.by && {
        thread: error.by.warp.number * warpSize + error.by.lane,
        block: error.by.warp.block.number,
      },
    }
  throw error
}
