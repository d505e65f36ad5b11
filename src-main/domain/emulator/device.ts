/**
 * The memory of an emulated GPU, stored in one flat array. The array contains a task's buffers,
 * followed by a launch's temporary memory (registers, shared memory, and local memory).
 *
 * A device address combines a fixed high half with the offset into the array. Therefore, 64-bit
 * address arithmetic works as on a GPU. Invalid addresses are detected.
 */

const pageBytes = 65536
const alignment = 256
/** Gap in bytes between buffers, so that an out-of-bounds access does not hit the next buffer. */
const gap = 4096

/**
 * High half of every device address. The constants that follow are the high halves of generic
 * addresses of shared memory, kernel parameters, local memory, and functions.
 */
export const deviceHigh = 0x7f00
export const sharedHigh = 0x7f01
export const parameterHigh = 0x7f02
export const localHigh = 0x7f03
export const functionHigh = 0x7f04
const deviceBase = deviceHigh * 2 ** 32

export interface Allocation {
  readonly name: string
  /** Byte offset of the buffer in the device memory. */
  readonly offset: number
  readonly bytes: number
}

export interface Device {
  readonly memory: WebAssembly.Memory
  readonly allocations: readonly Allocation[]
  /** Allocates a zeroed buffer. */
  allocate(name: string, bytes: number): Allocation
  /**
   * Returns aligned scratch space that follows all buffers and is valid for one launch. The next
   * call reuses the same scratch space.
   */
  scratch(bytes: number): number
  bytes(allocation: Allocation): Uint8Array
  /** Zeroes the used memory, so that another device can reuse it. */
  clear(): void
}

export const addressOf = (allocation: Allocation): bigint =>
  BigInt(deviceBase) + BigInt(allocation.offset)

/** Returns the byte offset for a device address, or null if `address` is not a device address. */
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

/** Creates a device. `memory` must contain only zeros. */
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
