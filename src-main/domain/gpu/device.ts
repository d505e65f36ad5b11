/** The GPU that a session was made on. */
import { z } from 'zod'

export const Device = z.object({
  name: z.string(),
  /** As CUDA writes it: `9.0`. */
  computeCapability: z.string(),
  smCount: z.number().int(),
  driver: z.string().nullable(),
  cudaDriver: z.string().nullable(),
  smClockMaxMHz: z.number().nullable(),
  /** As the driver tells it; absent in sessions made before it was asked. */
  memoryClockMHz: z.number().nullable().optional(),
  memoryBusBits: z.number().nullable().optional(),
  memoryTotalBytes: z.number(),
  l2Bytes: z.number(),
  sharedPerSmBytes: z.number(),
  sharedPerBlockOptinBytes: z.number(),
  registersPerSm: z.number(),
  maxThreadsPerSm: z.number(),
  maxBlocksPerSm: z.number(),
})
export type Device = z.infer<typeof Device>
