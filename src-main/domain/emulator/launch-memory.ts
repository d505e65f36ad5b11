/**
 * Scratch memory for a launch. The scratch memory contains the registers, shared memory, and local
 * memory of concurrently running blocks, and the compiled code's tables.
 */
import { registersOf } from './code-facts'
import type { Device } from './device'
import { siteBytes } from './fast-patterns'
import type { Launch } from './launch-types'
import { lanes, type Views } from './site'

/** Number of bytes that CUDA reserves at the start of shared memory. */
export const reservedShared = 1024
const uniformRows = 64
/** Scratch bytes for the operands of a correctly rounded four-lane multiply-add. */
const fixBytes = 256
/** Number of words for the predicates, which follow a warp's registers. */
const predicateWords = lanes

const align = (bytes: number): number => Math.ceil(bytes / 256) * 256

/**
 * Layout of the scratch memory in bytes. `start` and `tables` are offsets into the device's memory.
 * `sharedPlace` and `localPlace` are relative to a block's slot. All other offsets are relative to
 * `tables`.
 */
export interface LaunchMemory {
  readonly views: Views
  readonly threads: number
  readonly warps: number
  /** Number of registers per thread. */
  readonly registers: number
  /** Number of 32-bit words per warp: registers, uniform registers and predicates. */
  readonly warpWords: number
  readonly predicateWords: number
  readonly sharedBytes: number
  readonly start: number
  /** Bytes per slot. Each concurrently running block has one slot. */
  readonly blockBytes: number
  readonly sharedPlace: number
  readonly localPlace: number
  readonly tables: number
  readonly onPlace: number
  readonly fixPlace: number
  readonly banks: readonly { bank: number; place: number; bytes: number }[]
  /** Returns the byte offset of an instruction's access patterns. */
  sitePlace(index: number): number
}

/** Reserves and fills the scratch memory for `together` concurrently running blocks. */
export function launchMemory(device: Device, launch: Launch, together: number): LaunchMemory {
  const { code } = launch
  const threads = launch.block[0] * launch.block[1] * launch.block[2]
  const warps = Math.ceil(threads / lanes)
  const registers = registersOf(code)
  const warpWords = (registers + uniformRows) * lanes + predicateWords
  const sharedBytes = reservedShared + launch.sharedBytes
  const sharedPlace = align(4 * warpWords * warps)
  const localPlace = sharedPlace + align(sharedBytes)
  const blockBytes = localPlace + align(launch.localBytes * lanes * warps)

  const siteOf = new Map<number, number>()
  for (const [index, { operands }] of code.entries())
    if (operands.some(({ kind }) => kind === 'memory')) siteOf.set(index, siteOf.size)
  const onPlace = 0
  const fixPlace = align(8 * code.length)
  const sitesPlace = fixPlace + fixBytes
  let tablesBytes = sitesPlace + align(siteOf.size * siteBytes)
  const banks = [...launch.banks].map(([bank, { length: bytes }]) => {
    const place = tablesBytes
    tablesBytes += align(bytes)
    return { bank, place, bytes }
  })

  const tables = together * blockBytes
  const scratchBytes = tables + tablesBytes
  const start = device.scratch(scratchBytes)
  const { buffer } = device.memory
  const views: Views = {
    words: new Int32Array(buffer),
    unsigned: new Uint32Array(buffer),
    floats: new Float32Array(buffer),
    bytes: new Uint8Array(buffer),
    halves: new Uint16Array(buffer),
  }
  views.bytes.fill(0, start, start + scratchBytes)
  for (const { bank, place } of banks)
    views.bytes.set(launch.banks.get(bank)!, start + tables + place)
  return {
    ...{ views, threads, warps, registers, warpWords, predicateWords, sharedBytes, start },
    ...{ blockBytes, sharedPlace, localPlace, tables: start + tables, onPlace, fixPlace, banks },
    sitePlace: (index) => sitesPlace + siteOf.get(index)! * siteBytes,
  }
}
