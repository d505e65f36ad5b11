/** The single line printed by kl-launches: the kernels that a rung would launch, or why it launches none; or why a reference is unusable. */
import { z } from 'zod'

const extent = z.tuple([z.number().int(), z.number().int(), z.number().int()])

const hexadecimal = z.string().refine((text) => text.length % 2 === 0 && !/[^0-9a-f]/.test(text))

const ProbedLaunch = z.object({
  name: z.string(),
  /** The name used by ptxas. */
  mangled: z.string(),
  grid: extent,
  block: extent,
  dynamicSharedBytes: z.number().int(),
  clusterBlocks: z.number().int(),
  /** In hexadecimal, where the layout of its parameters was given. */
  arguments: hexadecimal.optional(),
})
export type ProbedLaunch = z.infer<typeof ProbedLaunch>

const address = z.string().regex(/^\d{1,20}$/)

/** A fill or copy on the device, and how many launches come before it. Addresses are the probe's dummies. */
const ProbedMemory = z.object({
  before: z.number().int(),
  to: address,
  from: address.optional(),
  /** What is copied from the host, in hexadecimal. */
  data: hexadecimal.optional(),
  value: z.number().int().min(0).max(255).optional(),
  bytes: z.number().int().min(0),
})
export type ProbedMemory = z.infer<typeof ProbedMemory>

const Answer = z.object({
  event: z.literal('launches'),
  kernels: z.array(ProbedLaunch),
  reason: z.string().nullable(),
  /** Whether it would not launch on the GPU either; null if that is unknown. */
  fault: z.enum(['failed', 'unsupported']).nullable(),
  memory: z.array(ProbedMemory).optional(),
  workspaceBytes: z.number().int().min(0).optional(),
  symbols: z.array(z.string()).optional(),
  stackBytes: z.number().int().min(0).optional(),
})

const Reference = z.object({
  event: z.literal('reference'),
  /** null if it can be used. */
  reason: z.string().nullable(),
})

const Expected = z.object({ event: z.literal('expected') })

/** null if there is no such line because the probe ended before it. */
function parseLine<T>(schema: z.ZodType<T>, stdout: string): T | null {
  for (const line of stdout.split('\n')) {
    if (!line.startsWith('{')) continue
    try {
      const parsed = schema.safeParse(JSON.parse(line))
      if (parsed.success) return parsed.data
    } catch {
      // A line printed by the rung.
    }
  }
  return null
}

export const parseProbedLaunches = (stdout: string) => parseLine(Answer, stdout)

export const parseProbedReference = (stdout: string) => parseLine(Reference, stdout)

/** Whether a reference has computed what is expected. */
export const parseExpected = (stdout: string): boolean => parseLine(Expected, stdout) !== null
