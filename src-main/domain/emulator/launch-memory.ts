/**
 * The memory of a launch besides its buffers: registers, shared and local memory of each block that runs at a time,
 * then tables.
 */
import { registersOf } from './code-facts'
import { lanes } from './site'
import { siteBytes } from './fast-patterns'
import type { Launch } from './launch-request'

/** Shared memory begins with what CUDA keeps for itself. */
export const reservedShared = 1024

const uniformRows = 64

/** For four lanes that are rounded with care. */
const fixBytes = 256

/** Behind the registers of a warp: its predicates. */
export const predicateWords = lanes

const align = (bytes: number): number => Math.ceil(bytes / 256) * 256

/** Where the parts lie. Places of a block count from its first byte, those of the tables from the first byte behind the blocks. */
export function memoryOf({ code, ...launch }: Launch) {
  const threads = launch.block[0] * launch.block[1] * launch.block[2]
  const warpCount = Math.ceil(threads / lanes)
  const registers = registersOf(code)
  const warpWords = (registers + uniformRows) * lanes + predicateWords
  const sharedBytes = reservedShared + launch.sharedBytes
  const registerBytes = align(4 * warpWords * warpCount)
  const localPlace = registerBytes + align(sharedBytes)
  const blockBytes = localPlace + align(launch.localBytes * lanes * warpCount)
  /** Blocks that run at a time. */
  const together = launch.clusterBlocks ?? 1
  /** Places for the patterns of memory accesses, by instruction. */
  const siteOf = new Map<number, number>()
  for (const [index, { operands }] of code.entries())
    if (operands.some(({ kind }) => kind === 'memory')) siteOf.set(index, siteOf.size)
  // What compiled code finds by place: lanes counted, room to round with care, sites, constant banks.
  const onPlace = 0
  const fixPlace = align(8 * code.length)
  const sitesPlace = fixPlace + fixBytes
  let tablesBytes = sitesPlace + align(siteOf.size * siteBytes)
  const banks = [...launch.banks].map(([bank, { length: bytes }]) => {
    const place = tablesBytes
    tablesBytes += align(bytes)
    return { bank, place, bytes }
  })
  const sitePlace = (index: number): number => sitesPlace + siteOf.get(index)! * siteBytes
  return {
    ...{
      threads,
      warpCount,
      registers,
      warpWords,
      sharedBytes,
      registerBytes,
      localPlace,
      blockBytes,
    },
    ...{ together, onPlace, fixPlace, sitePlace, banks },
    scratchBytes: together * blockBytes + tablesBytes,
  }
}
