/**
 * The memory of an emulated GPU: one flat piece that holds the buffers of a task, and behind them what a launch needs
 * for its time (registers, shared and local memory). A device address is the offset into it under a high half of its
 * own, so that arithmetic on 64-bit addresses goes as on a GPU and a stray one is seen.
 */

const pageBytes = 65536
const alignment = 256
/** Between buffers, so that an access beside one does not fall into the next. */
const gap = 4096

/** The high half of every device address, and of generic ones: of shared memory, a kernel's parameters, local memory, functions. */
export const deviceHigh = 0x7f00
export const sharedHigh = 0x7f01
export const parameterHigh = 0x7f02
export const localHigh = 0x7f03
export const functionHigh = 0x7f04
const deviceBase = deviceHigh * 2 ** 32

export interface Allocation {
  readonly name: string
  /** Offset into the memory. */
  readonly offset: number
  readonly bytes: number
}

export interface Device {
  readonly memory: WebAssembly.Memory
  readonly allocations: readonly Allocation[]
  /** Reserves a buffer; its contents are zero. */
  allocate(name: string, bytes: number): Allocation
  /** Room for the time of a launch, aligned, after all buffers; the next call takes it again. */
  scratch(bytes: number): number
  bytes(allocation: Allocation): Uint8Array
  /** Zeroes what was in use: the memory may be another device's. */
  clear(): void
}

export const addressOf = (allocation: Allocation): bigint =>
  BigInt(deviceBase) + BigInt(allocation.offset)

/** The offset of a device address, or null where it is none. */
export function offsetOf(address: bigint): number | null {
  const offset = Number(address - BigInt(deviceBase))
  return offset >= 0 && offset < 2 ** 32 ? offset : null
}

const roundUp = (value: number, step: number): number => Math.ceil(value / step) * step

export class OutOfDeviceMemory extends Error {}

export const newMemory = (limitBytes = 2 ** 32): WebAssembly.Memory =>
  new WebAssembly.Memory({
    initial: 1,
    maximum: Math.min(65536, Math.ceil(limitBytes / pageBytes)),
  })

/** `memory` is all zero. */
export function createDevice(memory = newMemory()): Device {
  const allocations: Allocation[] = []
  let end = pageBytes
  let used = end
  const ensure = (bytes: number): void => {
    used = Math.max(used, bytes)
    const missing = Math.ceil(bytes / pageBytes) - memory.buffer.byteLength / pageBytes
    if (missing <= 0) return
    try {
      memory.grow(missing)
    } catch {
      throw new OutOfDeviceMemory(`${bytes} bytes`)
    }
  }
  return {
    memory,
    allocations,
    allocate(name, bytes) {
      const allocation = { name, offset: end, bytes }
      end = roundUp(end + bytes, alignment) + gap
      ensure(end)
      allocations.push(allocation)
      return allocation
    },
    scratch(bytes) {
      ensure(end + bytes)
      return end
    },
    bytes: ({ offset, bytes }) => new Uint8Array(memory.buffer, offset, bytes),
    clear() {
      new Uint8Array(memory.buffer).fill(0, 0, used)
    },
  }
}
