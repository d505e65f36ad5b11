/** The state of a GPU during timing, as reported by its driver (NVML). */
import { z } from 'zod'

/**
 * Reasons for reduced clocks, with their bits in nvmlClocksThrottleReasons (nvml.h). The "idle"
 * reason is excluded, because low clocks are normal on an idle GPU.
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

/** Observed state of a GPU. A value is null if the driver does not report it. */
export const GpuState = z.object({
  /** Lowest and highest observed SM clock. */
  smClockLowMHz: figure,
  smClockHighMHz: figure,
  memoryClockMHz: figure,
  /** Highest observed temperature. */
  temperatureC: figure,
  powerW: figure,
  powerLimitW: figure,
  /** Reasons for reduced clocks, collected from all samples. */
  heldDownBy: z.array(z.enum(clockReasons)).nullable(),
})

export type GpuState = z.infer<typeof GpuState>

export const reasonsIn = (bits: number): ClockReason[] =>
  clockReasons.filter((reason) => (bits & reasonBits[reason]) !== 0)
