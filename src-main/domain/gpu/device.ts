/** The GPU that a session was made on. */
import { z } from 'zod'

export const Device = z.object({
  name: z.string(),
  /** In CUDA's notation: `9.0`. */
  computeCapability: z.string(),
  smCount: z.number().int(),
  driver: z.string().nullable(),
  cudaDriver: z.string().nullable(),
  smClockMaxMHz: z.number().nullable(),
  /** As reported by the driver; absent in sessions that predate it. */
  memoryClockMHz: z.number().nullable().optional(),
  memoryBusBits: z.number().nullable().optional(),
  memoryTotalBytes: z.number(),
  l2Bytes: z.number(),
  sharedPerSmBytes: z.number(),
  sharedPerBlockOptinBytes: z.number(),
  registersPerSm: z.number(),
  maxThreadsPerSm: z.number(),
  maxBlocksPerSm: z.number(),
  /** Modes that change what a time means; null if the driver does not say, absent in sessions that predate them. */
  mig: z.boolean().nullable().optional(),
  ecc: z.boolean().nullable().optional(),
})

export type Device = z.infer<typeof Device>
