/**
 * Parses the lines that kl-program prints (cuda-kernels/probe). The lines list the launches by a
 * program whose main() ran without a GPU.
 */
import { z } from 'zod'

const extent = z.tuple([z.number(), z.number(), z.number()])
const hexadecimal = z.string().regex(/^(?:[0-9a-f]{2})*$/)

const RecordedPointer = z.strictObject({
  /** The kernel parameter's index. */
  parameter: z.number().int().min(0),
  /** The allocation's id. Pointers into the same allocation have the same id. */
  allocation: z.number().int(),
  offset: z.number().min(0),
  /** Number of bytes from the pointer to the end of the allocation. */
  bytes: z.number().min(0),
  /** Whether the host wrote to the allocation. */
  filled: z.boolean(),
  sample: z.array(z.strictObject({ at: z.number().min(0), data: hexadecimal })),
})
export type RecordedPointer = z.infer<typeof RecordedPointer>

const RecordedLaunch = z.strictObject({
  event: z.literal('launch'),
  cooperative: z.boolean(),
  /**
   * Variables that the host set with cudaMemcpyToSymbol. The data is null if the variable is too
   * large to record.
   */
  symbols: z.array(z.strictObject({ name: z.string(), data: hexadecimal.nullable() })),
  pointers: z.array(RecordedPointer),
  /** The kernel's demangled name. */
  name: z.string(),
  mangled: z.string(),
  grid: extent,
  block: extent,
  dynamicSharedBytes: z.number().int().min(0),
  clusterBlocks: z.number().int().min(0),
  arguments: hexadecimal.optional(),
})
export type RecordedLaunch = z.infer<typeof RecordedLaunch>

const RecordedKernel = z.strictObject({
  event: z.literal('kernel'),
  mangled: z.string(),
  name: z.string(),
})

const Ended = z.strictObject({
  event: z.literal('ended'),
  how: z.enum(['returned', 'exit']),
  launches: z.number().int().min(0),
})

const RecorderError = z.object({ event: z.literal('error'), message: z.string() })

export interface RecordedProgram {
  /** The demangled names of all requested kernels, by mangled name. */
  kernels: Map<string, string>
  /** Distinct kernel launches, in launch order. */
  launches: RecordedLaunch[]
  /** How main() ended. Null if main() neither returned nor called exit(). */
  ended: { how: 'returned' | 'exit'; launches: number } | null
  /** Reason that the program could not run. */
  error: string | null
}

export function parseRecordedProgram(stdout: string): RecordedProgram {
  const recorded: RecordedProgram = {
    kernels: new Map(),
    launches: [],
    ended: null,
    error: null,
  }
  for (const line of stdout.split('\n')) {
    if (!line.startsWith('{')) continue
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      // Skip a line that was truncated because the program was stopped.
      continue
    }
    const kernel = RecordedKernel.safeParse(value)
    const launch = RecordedLaunch.safeParse(value)
    const ended = Ended.safeParse(value)
    const error = RecorderError.safeParse(value)
    if (kernel.success) recorded.kernels.set(kernel.data.mangled, kernel.data.name)
    if (launch.success) recorded.launches.push(launch.data)
    if (ended.success) recorded.ended = { how: ended.data.how, launches: ended.data.launches }
    if (error.success) recorded.error = error.data.message
  }
  return recorded
}
