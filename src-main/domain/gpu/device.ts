/** The GPU on which a session ran. */
import { z } from 'zod'

export const Device = z.object({
  name: z.string(),
  /** Compute capability in CUDA's notation, such as `9.0`. */
  computeCapability: z.string(),
  smCount: z.number().int(),
  driver: z.string().nullable(),
  cudaDriver: z.string().nullable(),
  smClockMaxMHz: z.number().nullable(),
  /** Memory clock reported by the driver. Absent in older sessions. */
  memoryClockMHz: z.number().nullable().optional(),
  memoryBusBits: z.number().nullable().optional(),
  memoryTotalBytes: z.number(),
  l2Bytes: z.number(),
  sharedPerSmBytes: z.number(),
  sharedPerBlockOptinBytes: z.number(),
  registersPerSm: z.number(),
  maxThreadsPerSm: z.number(),
  maxBlocksPerSm: z.number(),
  /**
   * GPU modes that affect how to interpret times. A mode is null if the driver does not report it.
   * Absent in older sessions.
   */
  mig: z.boolean().nullable().optional(),
  ecc: z.boolean().nullable().optional(),
})

export type Device = z.infer<typeof Device>
