/** The one line that kl-launches prints: the kernels that a rung would launch, or why that is not known. */
import { z } from 'zod'

const extent = z.tuple([z.number().int(), z.number().int(), z.number().int()])

const ProbedLaunch = z.object({
  name: z.string(),
  /** As ptxas calls it. */
  mangled: z.string(),
  grid: extent,
  block: extent,
  dynamicSharedBytes: z.number().int(),
  clusterBlocks: z.number().int(),
})
export type ProbedLaunch = z.infer<typeof ProbedLaunch>

const Answer = z.object({
  event: z.literal('launches'),
  kernels: z.array(ProbedLaunch),
  reason: z.string().nullable(),
})

/** null where there is no such line: the probe ended before it. */
export function parseProbedLaunches(stdout: string): z.infer<typeof Answer> | null {
  for (const line of stdout.split('\n')) {
    if (!line.startsWith('{')) continue
    try {
      const parsed = Answer.safeParse(JSON.parse(line))
      if (parsed.success) return parsed.data
    } catch {
      // A line of the rung's own.
    }
  }
  return null
}
