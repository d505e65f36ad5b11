/**
 * Observes how a rung's machine code uses each buffer. Detects whether the code reads the buffer
 * before writing it, and how much of the buffer the code writes.
 */
import { createDevice, newMemory, type Allocation } from '../emulator/device'
import { firstAllocation, linkRung } from '../emulator/rung'
import { Halt, type HaltReason } from '../emulator/warp'
import type { EmulationJob } from './job'

export interface ObservedBuffer {
  name: string
  /** Whether an element is read before it is written. */
  isRead: boolean
  /** Whether the contents differ after the launches. Null if only some blocks ran. */
  changed: boolean
  /**
   * Whether every byte was written. Detecting unwritten bytes requires two runs with different
   * contents.
   */
  isWhole: boolean
  /** Contents of the buffer after the launches. */
  after: Uint8Array
}

export interface Observed {
  buffers: ObservedBuffer[]
  /**
   * The reason that a launch stopped early, or null. If a launch stopped early, `buffers` describes
   * the state at that point.
   */
  stop: { kind: HaltReason; detail: string } | null
}

/** Padding bytes after each buffer, so that a write past the end does not hit the next buffer. */
const guardBytes = 2 ** 18
/**
 * Returns a buffer's padding byte. Each buffer has a different padding byte, so that copies
 * between buffers are detected.
 */
const guardByte = (index: number): number => (0xa5 + index) & 255

interface Execution {
  bytes: Uint8Array[]
  unwrittenReads: boolean
  stop: Observed['stop']
}

/** @param unwritten index of the buffer to check for reads before writes, or null to check none */
function executed(
  job: EmulationJob,
  contentsOf: (index: number) => Uint8Array | null,
  unwritten: number | null,
): Execution {
  const device = createDevice(newMemory(job.memoryBytes))
  const places: Allocation[] = []
  const guards: Allocation[] = []
  const buffers = new Map<number, Allocation>()
  if (job.workspaceBytes > 0) buffers.set(0, device.allocate('workspace', job.workspaceBytes))
  for (const [index, { name, bytes }] of job.buffers.entries()) {
    places.push(device.allocate(name, bytes))
    buffers.set(index + 1, places[index]!)
    guards.push(device.allocate('guard', guardBytes))
  }
  for (const [index, bytes] of (job.allocations ?? []).entries())
    buffers.set(firstAllocation + index, device.allocate('allocation', bytes))
  for (const [index, place] of places.entries()) {
    const contents = contentsOf(index)
    if (contents) device.bytes(place).set(contents)
  }
  for (const [index, guard] of guards.entries()) device.bytes(guard).fill(guardByte(index))
  let unwrittenReads = false
  let stop: Observed['stop'] = null
  try {
    const rung = linkRung({
      device,
      machineCode: job.machineCode,
      launches: job.launches,
      memory: job.memory,
      ...(job.prepared ? { prepared: job.prepared } : {}),
      buffers,
      symbols: job.symbols,
      ...(job.stackBytes === null ? {} : { stackBytes: job.stackBytes }),
      options: {
        limit: job.limit,
        checks: unwritten !== null,
        written: places.filter((_, index) => index !== unwritten),
      },
      onResult({ result }) {
        unwrittenReads ||= result.findings.some(
          ({ kind, address }) =>
            kind === 'unwritten-global' &&
            unwritten !== null &&
            (address ?? -1) >= places[unwritten]!.offset &&
            (address ?? -1) < places[unwritten]!.offset + places[unwritten]!.bytes,
        )
      },
    })
    rung.prepare()
    rung.run()
  } catch (error) {
    if (!(error instanceof Halt)) throw error
    stop = { kind: error.reason, detail: error.message }
  }
  const isBeside = guards.some((guard, index) =>
    device.bytes(guard).some((byte) => byte !== guardByte(index)),
  )
  if (isBeside) stop ??= { kind: 'illegal-address', detail: 'a write beside a buffer' }
  return { bytes: places.map((place) => device.bytes(place).slice()), unwrittenReads, stop }
}

/**
 * Observes the accesses of a job's launches. Runs the launches several times on the current thread,
 * so the job must be small.
 */
export function observeAccesses(job: EmulationJob): Observed {
  const own = (index: number): Uint8Array | null => job.buffers[index]!.contents
  const first = executed(job, own, null)
  const writable = job.buffers.flatMap((buffer, index) => (buffer.writable ? [index] : []))
  const buffers = job.buffers.map(({ name, contents, bytes }, index): ObservedBuffer => {
    const after = first.bytes[index]!
    const changed = after.some((byte, at) => byte !== (contents?.[at] ?? 0))
    if (!writable.includes(index) || first.stop)
      return { name, isRead: true, changed, isWhole: false, after }
    const isRead = executed(job, own, index).unwrittenReads
    if (isRead) return { name, isRead, changed, isWhole: false, after }
    // A byte was not written if it keeps its initial value in both runs.
    const inverted = new Uint8Array(bytes).map((_, at) => ~(contents?.[at] ?? 0) & 255)
    const second = executed(job, (other) => (other === index ? inverted : own(other)), null)
    const again = second.bytes[index]!
    const isWhole =
      second.stop === null &&
      after.every((byte, at) => byte === again[at] || again[at] !== inverted[at])
    return {
      name,
      isRead,
      changed: changed || again.some((byte, at) => byte !== inverted[at]),
      isWhole,
      after,
    }
  })
  return { buffers, stop: first.stop }
}
