/**
 * Computes the cost of a warp's memory instruction according to the rules of compute capability
 * 9.0.
 */
import { globalAccess as globalOf, sharedAccess as sharedOf } from '../domain/emulator/accesses'
import { warpSize } from '../domain/gpu/sm-limits'

export interface SharedCost {
  /** Number of passes through shared memory. */
  wavefronts: number
  /** Number of wavefronts if there were no bank conflicts. */
  ideal: number
}

export interface GlobalCost {
  /** Number of distinct 32-byte sectors. */
  sectors: number
  /** Number of sectors if the bytes of all lanes were contiguous. */
  ideal: number
  /** Number of distinct 128-byte lines. */
  tags: number
}

export interface Access {
  /** Byte address per lane (32 entries). Addresses of lanes outside `mask` are ignored. */
  addresses: readonly number[]
  /** Bytes per lane: 1, 2, 4, 8 or 16. */
  bytes: number
  /** Active lanes, one bit per lane. If absent, all lanes are active. */
  mask?: number
}

function checked({ addresses, bytes, mask = 0xffffffff }: Access): Required<Access> {
  if (![1, 2, 4, 8, 16].includes(bytes))
    throw new RangeError(`bytes must be 1, 2, 4, 8 or 16: ${bytes}.`)
  if (addresses.length !== warpSize)
    throw new RangeError(`addresses must have one for each of 32 lanes: ${addresses.length}.`)
  const wrong = addresses.find(
    (address, lane) => (mask >>> lane) & 1 && !(Number.isSafeInteger(address) && address >= 0),
  )
  if (wrong !== undefined) throw new RangeError(`An address must be a whole number: ${wrong}.`)
  return { addresses, bytes, mask: mask | 0 }
}

/**
 * Returns the wavefronts of a shared-memory access. Wavefronts above `ideal` are bank conflicts.
 *
 * @example
 * ```js
 * import { sharedAccess } from 'kernel-ladder'
 *
 * const column = Array.from({ length: 32 }, (_, lane) => 4 * 32 * lane)
 * console.log(sharedAccess('load', { addresses: column, bytes: 4 })) // { wavefronts: 32, ideal: 1 }
 * ```
 */
export function sharedAccess(kind: 'load' | 'store' | 'atomic', access: Access): SharedCost {
  const { addresses, bytes, mask } = checked(access)
  return sharedOf(kind, bytes, mask, addresses)
}

/**
 * Returns the sectors and tags of a global-memory access. Sectors above `ideal` are uncoalesced.
 *
 * @example
 * ```js
 * import { globalAccess } from 'kernel-ladder'
 *
 * const strided = Array.from({ length: 32 }, (_, lane) => 8 * lane)
 * console.log(globalAccess({ addresses: strided, bytes: 4 })) // { sectors: 8, ideal: 4, tags: 2 }
 * ```
 */
export function globalAccess(access: Access): GlobalCost {
  const { addresses, bytes, mask } = checked(access)
  return globalOf(bytes, mask, addresses)
}
