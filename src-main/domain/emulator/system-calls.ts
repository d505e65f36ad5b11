/**
 * Functions that CUDA provides and that kernels call by address: printf and the assertion-failure
 * handler.
 */
import type { Operand } from '../sass/instruction'
import { deviceHigh, functionHigh, localHigh, sharedHigh } from './device'
import { type Control, type Warp } from './warp'
import { eachLane, firstLane, lanes, type Site } from './site'
import { printf } from './printf'
import { scatter } from './divergence'

const functions = ['vprintf', '__assertfail'] as const
const bytesApart = 16

/** Returns the address of a system function, or undefined if the function is unknown. */
export function systemFunction(name: string): bigint | undefined {
  const index = functions.findIndex((known) => known === name)
  return index < 0 ? undefined : (BigInt(functionHigh) << 32n) + BigInt(index * bytesApart)
}

/**
 * Registers in the calling convention: arguments start at R4, and R20 contains the return address.
 */
const [firstArgument, returnTo] = [4, 20]
const longestText = 65536

/** CALL.ABS through a register pair: calls the system function at the address in the registers. */
export function systemCall(site: Site, operand: Operand): Control {
  const { machine, index } = site
  const { words, bytes } = machine.views
  const view = new DataView(bytes.buffer)
  const low = site.int(operand)
  const high = site.int(operand, 1)
  const argument = (warp: Warp, lane: number, place: number): number =>
    words[warp.base + (firstArgument + place) * lanes + lane]!

  /**
   * Returns the byte offset in memory for a thread's generic address, or null if the address is
   * invalid.
   */
  const placeOf = (warp: Warp, lane: number, at: number, top: number): number | null => {
    if (top === deviceHigh) return machine.inBuffer(at >>> 0, 1) ? at >>> 0 : null
    if (top === sharedHigh) return warp.block.shared + at
    return top === localHigh
      ? warp.block.local + (warp.number * lanes + lane) * machine.localBytes + at
      : null
  }
  const textAt = (place: number | null): string => {
    if (place === null) return '(null)'
    const end = bytes.subarray(place, place + longestText).indexOf(0)
    return new TextDecoder().decode(bytes.slice(place, place + (end < 0 ? longestText : end)))
  }
  const text = (warp: Warp, lane: number, place: number): string =>
    textAt(placeOf(warp, lane, argument(warp, lane, place), argument(warp, lane, place + 1)))

  const print = (warp: Warp, lane: number): void => {
    let next = placeOf(warp, lane, argument(warp, lane, 2), argument(warp, lane, 3)) ?? 0
    const begin = next
    const take = (size: 4 | 8): number => {
      const at = begin + Math.ceil((next - begin) / size) * size
      next = at + size
      return at
    }
    const bits = (size: 4 | 8): bigint => {
      const at = take(size)
      return size === 4 ? BigInt(view.getUint32(at, true)) : view.getBigUint64(at, true)
    }
    machine.print(
      warp,
      lane,
      printf(text(warp, lane, 0), {
        bits,
        double: () => view.getFloat64(take(8), true),
        text() {
          const at = take(8)
          return textAt(placeOf(warp, lane, view.getInt32(at, true), view.getInt32(at + 4, true)))
        },
      }),
    )
  }

  return (warp, split, active) => {
    if (active === 0) {
      split.at++
      return
    }
    const first = firstLane(active)
    const called =
      high(warp.base, first) === functionHigh
        ? functions[low(warp.base, first) / bytesApart]
        : undefined
    if (called === undefined) return site.unknown('a function that is not known')
    if (called === '__assertfail')
      return site.halt('assert', text(warp, first, 0), { warp, lane: first })
    eachLane((_, __, lane) => print(warp, lane))(warp, active)
    scatter(warp, split, active, index, machine.counts, (lane) => {
      return words[warp.base + returnTo * lanes + lane]! / bytesApart
    })
  }
}
