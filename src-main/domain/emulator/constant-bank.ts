/** Constant bank 0 of a launch: its shape, parameters and driver values. */
import { localHigh, parameterHigh } from './device'
import type { Extent } from './special-registers'

export interface LaunchBank {
  /** 90 for sm_90. */
  architecture: number
  grid: Extent
  block: Extent
  /** The kernel's arguments, as laid out for it. */
  parameters: Uint8Array
  localBytes: number
}

/** Constant bank 0 as the driver fills it in: dimensions, the stack's end, the parameters. */
export function launchBank({
  architecture,
  grid,
  block,
  parameters,
  localBytes,
}: LaunchBank): Uint8Array {
  const base = architecture >= 90 ? 0x210 : 0x160
  const bank = new Uint8Array(base + parameters.length + 16)
  const view = new DataView(bank.buffer)
  ;[...block, ...grid].forEach((extent, index) => view.setUint32(4 * index, extent, true))
  // Where local memory begins among generic addresses, and the end of a thread's stack in it.
  view.setUint32(0x24, localHigh, true)
  view.setUint32(0x28, localBytes, true)
  // The generic address of the parameters.
  if (architecture >= 90) {
    view.setUint32(0x198, base, true)
    view.setUint32(0x19c, parameterHigh, true)
  }
  bank.set(parameters, base)
  return bank
}
