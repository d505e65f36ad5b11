/** Values of the special registers that S2R, S2UR, and CS2R read. */
import { sharedHigh } from './device'
import { lanes } from './site'
import type { Warp } from './warp'

type Value = (warp: Warp, lane: number) => number

export function specialRegister(
  name: string,
  { block, grid }: { block: Extent; grid: Extent },
): Value | null {
  const thread = (warp: Warp, lane: number): number => warp.number * lanes + lane
  const below = (lane: number): number => (1 << lane) - 1
  const values: Record<string, Value> = {
    'SR_TID.X': (warp, lane) => thread(warp, lane) % block[0],
    'SR_TID.Y': (warp, lane) => Math.floor(thread(warp, lane) / block[0]) % block[1],
    'SR_TID.Z': (warp, lane) => Math.floor(thread(warp, lane) / (block[0] * block[1])),
    'SR_CTAID.X': (warp) => warp.block.at[0],
    'SR_CTAID.Y': (warp) => warp.block.at[1],
    'SR_CTAID.Z': (warp) => warp.block.at[2],
    'SR_NCTAID.X': () => grid[0],
    'SR_NCTAID.Y': () => grid[1],
    'SR_NCTAID.Z': () => grid[2],
    SR_LANEID: (_, lane) => lane,
    SR_VIRTID: (warp) => warp.number,
    SR_EQMASK: (_, lane) => 1 << lane,
    SR_LTMASK: (_, lane) => below(lane),
    SR_LEMASK: (_, lane) => below(lane) | (1 << lane),
    SR_GTMASK: (_, lane) => ~(below(lane) | (1 << lane)),
    SR_GEMASK: (_, lane) => ~below(lane),
    SR_CgaCtaId: (warp) => warp.block.rank,
    SR_SWINHI: () => sharedHigh,
  }
  return values[name] ?? null
}

/** An extent along x, y and z. */
export type Extent = readonly [number, number, number]
