/** What a GPU was like while it was timed. */
export const gpuState = {
  figures: 'SM clock {low} to {high} MHz, at most {power} of {limit} W and {temperature} °C',
  free: '{figures}; clocks not held down',
  heldDownIn: '{figures}; clocks held down in {count} of {all} rungs: {reasons}',
  heldDown: 'Clocks were held down: {reasons}',
  modes: 'ECC {ecc}, MIG {mig}',
  on: 'on',
  off: 'off',
} as const

/** Why clocks were held down, by NVML. */
export const clockReason = {
  applicationClocks: 'application clocks are set',
  powerCap: 'power cap',
  hardwareSlowdown: 'hardware slowdown',
  syncBoost: 'sync boost with other GPUs',
  softwareThermal: 'temperature (driver)',
  hardwareThermal: 'temperature (hardware)',
  powerBrake: 'external power brake',
  displayClocks: 'display clocks are set',
} as const
