/** An emulation job's memory: its device and the buffers on that device. */
import { createDevice, newMemory, type Allocation, type Device } from '../emulator/device'
import { firstAllocation } from '../emulator/rung'

/** Fields of a job that describe its memory. */
interface JobMemory {
  readonly workspaceBytes: number
  readonly zeroWorkspace?: boolean
  readonly allocations?: readonly number[]
  readonly memoryBytes: number
  readonly buffers: readonly {
    readonly name: string
    readonly bytes: number
    readonly contents: Uint8Array | null
    readonly earlier?: Uint8Array | null
  }[]
}

/** Initial value of each output byte. Outputs therefore start as NaN, as on a GPU. */
export const unwritten = 0xff

/**
 * The last job's memory on this thread, cached for the next job. Allocating new memory would cause
 * one page fault per page, and releasing memory would trigger a garbage collection.
 */
let spare: { memory: WebAssembly.Memory; limit: number } | null = null
const mostSpareBytes = 2 ** 28

/** Returns a device with zeroed memory. */
export function deviceFor({ memoryBytes: limit }: Pick<JobMemory, 'memoryBytes'>): Device {
  const found = spare?.limit === limit ? spare.memory : newMemory(limit)
  spare = null
  return createDevice(found)
}

/** Caches a finished job's memory for the next job. */
export function giveBack(
  { memoryBytes: limit }: Pick<JobMemory, 'memoryBytes'>,
  device: Device,
): void {
  const { memory } = device
  if (memory.buffer.byteLength > mostSpareBytes) return
  device.clear()
  spare = { memory, limit }
}

export interface LoadedJob {
  /** Buffers, keyed by the probe's range number. */
  readonly places: ReadonlyMap<number, Allocation>
  readonly workspace: Allocation | null
  /** Buffers that the rung allocates. */
  readonly allocated: readonly Allocation[]
  /** Fills the buffers with their initial contents, or with the contents for an earlier run. */
  readonly reset: (which: 'contents' | 'earlier') => void
}

/** Allocates a job's buffers. Throws if the device has too little memory. */
export function loadJob(job: JobMemory, device: Device): LoadedJob {
  const places = new Map<number, Allocation>()
  const workspace = job.workspaceBytes > 0 ? device.allocate('workspace', job.workspaceBytes) : null
  if (workspace) {
    places.set(0, workspace)
    device.bytes(workspace).fill(unwritten)
  }
  for (const [index, { name, bytes }] of job.buffers.entries())
    places.set(index + 1, device.allocate(name, bytes))
  const allocated = (job.allocations ?? []).map((bytes, index) => {
    const place = device.allocate('allocation', bytes)
    places.set(firstAllocation + index, place)
    device.bytes(place).fill(unwritten)
    return place
  })
  const reset = (which: 'contents' | 'earlier'): void => {
    if (workspace && job.zeroWorkspace) device.bytes(workspace).fill(0)
    for (const [index, buffer] of job.buffers.entries()) {
      const bytes = device.bytes(places.get(index + 1)!)
      const values = buffer[which] ?? null
      if (values === null) bytes.fill(unwritten)
      else bytes.set(values)
    }
  }
  return { places, workspace, allocated, reset }
}
