/**
 * What one worker does: a rung over its buffers on the emulated GPU, from machine code and launches to counts, findings
 * and results. Everything in a job and its answer can be sent between threads.
 */
import { OutOfDeviceMemory } from '../emulator/device'
import type { Printed } from '../emulator/launch'
import { readsClock } from '../emulator/code-facts'
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
  /** What it holds at first; null for what is only written. */
  contents: Uint8Array | null
  /**
   * What it holds in a run before, whose results nobody looks at. With it, a rung that can keep state in device memory runs
   * several times: its results must be right however often it ran, and whatever it was given before.
   */
  earlier?: Uint8Array | null
  /** Whether a rung may write to it. */
  writable: boolean
}

export interface EmulationJob extends RungWork {
  machineCode: readonly MachineCode[]
  /** What comes once before the first run, while the buffers hold no data. */
  prepared?: RungWork
  /** Bytes of each allocation of the rung, in the order of the probe's dummy addresses. */
  allocations?: readonly number[]
  workspaceBytes: number
  /** Zeroes the workspace before each run; otherwise it holds at first what an output does, and then what was left there. */
  zeroWorkspace?: boolean
  /** Variables that the host knows, in the order of the probe's dummy addresses for them. */
  symbols: string[]
  /** What cudaDeviceSetLimit asked for a thread's stack; null where it did not. */
  stackBytes: number | null
  /** In the order of the probe's dummy addresses, from 1 on. */
  buffers: EmulatedBuffer[]
  /** Looks for races and for reads of memory that nothing was written to; several times slower. */
  checks: boolean
  /** Warp instructions that a launch may execute. */
  limit: number
  /** Bytes of memory that the emulated GPU has. */
  memoryBytes: number
  /** Runs the middle block of each launch alone, to learn what the whole takes. */
  sample?: true
  /** Runs only these blocks of each launch, in linear order. */
  blocks?: { first: number; count: number }
}

export interface EmulatedKernel {
  /** Mangled. */
  kernel: string
  instructions: number
  barriers: number
  counts: Counts
  findings: Finding[]
  /** Whether its code reads clock64 or globaltimer, which tell no time here. */
  readsClock: boolean
}

/** Why a rung did not run to its end. */
export interface Stop {
  kind: HaltReason
  /** More about it: the name of an instruction, a limit. */
  detail: string
  /** Which launch, from 0 on, behind the last of them those of `prepared`, and where in its code; null where unknown. */
  launch: number | null
  address: number | null
  mnemonic: string | null
  /** The thread of the block and the block that are to blame, both linear; null where it is not one thread. */
  by: { thread: number; block: number } | null
}

export interface EmulationAnswer {
  /** Those that ran to their end. */
  kernels: EmulatedKernel[]
  /** The same of what is prepared. */
  prepared: EmulatedKernel[]
  stop: Stop | null
  /** What threads printed, in the order in which they did; the first of it. */
  printed: (Printed & { launch: number })[]
  /** How many prints there were. */
  prints: number
  /** What the writable buffers hold, by name; of a sample, nothing. */
  outputs: Map<string, Uint8Array>
  /** The same of further runs. */
  again: Map<string, Uint8Array>[]
  /** Whether the state that it keeps was still changing in the last of them. */
  unsettled: boolean
  /** Buffers that are not writable and that were changed. */
  changedInputs: string[]
  /** Processor time of the launches alone. */
  seconds: number
}

/** Prints that are kept: a GPU's own buffer for them, 1 MiB, holds some thousands. */
const mostPrinted = 4096

const middle = ({ grid }: RungLaunch) => ({
  first: Math.floor((grid[0] * grid[1] * grid[2]) / 2),
  count: 1,
})

/** Two equal buffers. */
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  const words = (bytes: Uint8Array) =>
    new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2)
  const [left, right] = [words(a), words(b)]
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false
  for (let index = a.length & ~3; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

/** How often a rung may run until the state that it keeps no longer changes. */
const mostAgain = 3

/** Whether a rung is run again: where that is asked for and its kernels can keep anything. */
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

/** `onProgress` is told how many warp instructions were executed, at most about once a second. */
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
    // Of what is prepared, and of the first run whose results count; the others are only held to their results.
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
        limit: job.limit,
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
      ...(job.sample ? { blocksOf: middle } : {}),
      ...(blocks ? { blocksOf: () => blocks } : {}),
      onLaunch: () => {
        launch += 1
      },
      onResult({ launch: { kernel }, code, result }) {
        const { instructions, barriers, counts, findings } = result
        recordTo?.push({
          ...{ kernel, instructions, barriers, counts, findings: [...findings] },
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
      rung.prepare(job.sample ? middle : undefined)
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
