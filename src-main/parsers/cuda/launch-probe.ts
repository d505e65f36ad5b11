/**
 * Parses the single line that kl-launches prints. The line contains a rung's launches, or the
 * reason that a reference is unusable.
 */
import { z } from 'zod'

const most = 2 ** 31 - 1

const extentOf = (limit: number) => z.number().int().min(1).max(limit)

const gridExtent = z.tuple([extentOf(most), extentOf(65_535), extentOf(65_535)])

const blockExtent = z
  .tuple([extentOf(1024), extentOf(1024), extentOf(64)])
  .refine(([x, y, z]) => x * y * z <= 1024)

/** Don't use a repeated group here, because it would overflow the stack for megabytes of text. */
const hexadecimal = z.string().refine((text) => text.length % 2 === 0 && !/[^0-9a-f]/.test(text))

/**
 * A mangled name. Compilers never put spaces in mangled names, so spaces can separate names in a
 * list.
 */
const mangledName = z.string().regex(/^[\w$.]{1,4096}$/)

/** A short, human-readable message on one line. */
const shownText = z
  .string()
  .max(8192)
  .regex(/^[^\x00-\x1f\x7f-\x9f]*$/)

const byteCount = z
  .number()
  .int()
  .min(0)
  .max(2 ** 40)

const ProbedLaunch = z.strictObject({
  name: shownText,
  /** Kernel name as used by ptxas. */
  mangled: mangledName,
  grid: gridExtent,
  block: blockExtent,
  dynamicSharedBytes: z
    .number()
    .int()
    .min(0)
    .max(2 ** 20),
  clusterBlocks: z.number().int().min(0).max(64),
  /** Arguments in hexadecimal. Present if the probe received the parameter layout. */
  arguments: hexadecimal.refine((text) => text.length <= 2 ** 16).optional(),
})

export type ProbedLaunch = z.infer<typeof ProbedLaunch>

const address = z.string().regex(/^\d{1,20}$/)

/**
 * A fill or copy on the device, and the number of launches that precede it. Addresses are the
 * probe's placeholders.
 */
const ProbedMemory = z
  .strictObject({
    before: z.number().int().min(0),
    to: address,
    from: address.optional(),
    /** Data that is copied from the host, in hexadecimal. */
    data: hexadecimal.optional(),
    value: z.number().int().min(0).max(255).optional(),
    bytes: byteCount,
  })
  .refine(
    ({ from, data, value }) => [from, data, value].filter((one) => one !== undefined).length === 1,
  )
  .refine(({ data, bytes }) => data === undefined || data.length === 2 * bytes)

export type ProbedMemory = z.infer<typeof ProbedMemory>

/** Whether the positions of fills and copies are valid and in ascending order. */
const isInOrder = ({
  kernels,
  memory = [],
}: {
  kernels: readonly unknown[]
  memory?: readonly ProbedMemory[] | undefined
}): boolean =>
  memory.every(
    ({ before }, index) =>
      before <= kernels.length && before >= (index > 0 ? memory[index - 1]!.before : 0),
  )

const launchesAndMemory = {
  kernels: z.array(ProbedLaunch).max(10_000),
  memory: z.array(ProbedMemory).max(100_000),
}

const Answer = z
  .strictObject({
    event: z.literal('launches'),
    kernels: launchesAndMemory.kernels,
    reason: shownText.nullable(),
    /** Kind of failure, if the rung would also fail to launch on a GPU. Null if unknown. */
    fault: z.enum(['failed', 'unsupported']).nullable(),
    memory: launchesAndMemory.memory.optional(),
    /** Launches and memory operations in kl_prepare. Absent if kl_prepare does nothing. */
    prepared: z.strictObject(launchesAndMemory).refine(isInOrder).optional(),
    /** Size in bytes of each allocation by the rung, in the order of the placeholder addresses. */
    allocations: z.array(byteCount).max(1024).optional(),
    workspaceBytes: byteCount.optional(),
    symbols: z.array(mangledName).max(128).optional(),
    stackBytes: z
      .number()
      .int()
      .min(0)
      .max(2 ** 20)
      .optional(),
  })
  .refine(({ kernels, reason }) => reason !== null || kernels.length > 0)
  .refine(isInOrder)

const Reference = z.object({
  event: z.literal('reference'),
  /** Reason that the reference is unusable, or null if it is usable. */
  reason: z.string().nullable(),
})

const Expected = z.object({ event: z.literal('expected') })

/** Parses the first valid line. Returns null if there is no valid line. */
function parseLine<T>(schema: z.ZodType<T>, stdout: string): T | null {
  for (const line of stdout.split('\n')) {
    if (!line.startsWith('{')) continue
    try {
      const parsed = schema.safeParse(JSON.parse(line))
      if (parsed.success) return parsed.data
    } catch {
      // Skip the line, because the rung printed it.
    }
  }
  return null
}

export const parseProbedLaunches = (stdout: string) => parseLine(Answer, stdout)

export const parseProbedReference = (stdout: string) => parseLine(Reference, stdout)

/** Returns whether the reference computed the expected results. */
export const parseExpected = (stdout: string): boolean => parseLine(Expected, stdout) !== null
