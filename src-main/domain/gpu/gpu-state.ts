/** The state of a GPU during timing, as its driver (NVML) reports it. */
import { z } from 'zod'

/**
 * Why clocks were reduced, by the bits of nvmlClocksThrottleReasons (nvml.h). Idleness is excluded: an idle GPU lowers its clocks because
 * there is nothing to do.
 */
const reasonBits = {
  applicationClocks: 0x02,
  powerCap: 0x04,
  hardwareSlowdown: 0x08,
  syncBoost: 0x10,
  softwareThermal: 0x20,
  hardwareThermal: 0x40,
  powerBrake: 0x80,
  displayClocks: 0x100,
} as const

export type ClockReason = keyof typeof reasonBits

const clockReasons = Object.keys(reasonBits) as [ClockReason, ...ClockReason[]]

const figure = z.number().nullable()

/** Each null if the driver does not say. */
export const GpuState = z.object({
  /** The lowest and highest observed value. */
  smClockLowMHz: figure,
  smClockHighMHz: figure,
  memoryClockMHz: figure,
  /** The highest observed value. */
  temperatureC: figure,
  powerW: figure,
  powerLimitW: figure,
  /** What reduced the clocks in any sample. */
  heldDownBy: z.array(z.enum(clockReasons)).nullable(),
})

export type GpuState = z.infer<typeof GpuState>

export const reasonsIn = (bits: number): ClockReason[] =>
  clockReasons.filter((reason) => (bits & reasonBits[reason]) !== 0)
