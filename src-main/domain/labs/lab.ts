/**
 * A lab: a step of a ladder as an exercise. `LabFile` is the front matter of lab.md; how to write one
 * is in docs/LABS.md. What one attempt came to is in lab-outcome.ts.
 */
import { z } from 'zod'
import { metricDefinition } from '../metrics/metrics'
import { profileLevels, type ProfileLevel } from '../metrics/metric-definition'
import { Options, Scalars, Sizes } from '../task/problem'
import { Identifier } from '../ladder/rung'
import { SanitizerTool } from '../session/sanitizer'

/** Prose of an author: Markdown in the line, formulas between `$`. */
const Prose = z.string().trim().min(1).max(4000)
const Title = z.string().trim().min(1).max(200)
/** A name inside a lab: a column of the grader's table, a key of the answers. */
const PartId = z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, {
  message: 'An id consists of lowercase letters, digits and "-", and begins with a letter.',
})
/** A share of the expected value: 0.1 is ten percent. */
const Tolerance = z.number().min(0).max(10)
/** `factor` times what the rung has. */
const RelativeBound = z.strictObject({ rung: Identifier, factor: z.number().positive().default(1) })

const part = { id: PartId, title: Title.optional() }

/** Right at every size, within the error bound that every rung is held to. */
export const CorrectnessCheck = z.strictObject({
  kind: z.literal('correctness'),
  ...part,
  sizes: z.array(Sizes).min(1).max(12),
  /** Those of the task that are not its own values. */
  scalars: Scalars.default({}),
})
export type CorrectnessCheck = z.infer<typeof CorrectnessCheck>

/** compute-sanitizer finds nothing. It slows kernels a hundredfold: choose a small size. */
export const SanitizerCheck = z.strictObject({
  kind: z.literal('sanitizer'),
  ...part,
  tools: z.array(SanitizerTool).min(1),
  size: Sizes,
})
export type SanitizerCheck = z.infer<typeof SanitizerCheck>

/** A counter at the lab's size within bounds, in the metric's unit; bounds include their ends. */
export const MetricCheck = z.strictObject({
  kind: z.literal('metric'),
  ...part,
  metric: z.string(),
  min: z.number().optional(),
  max: z.number().optional(),
  /** At most `factor` times the rung's value. */
  below: RelativeBound.optional(),
  /** At least `factor` times the rung's value. */
  above: RelativeBound.optional(),
})
export type MetricCheck = z.infer<typeof MetricCheck>

/** The time at the lab's size is at most `factor` times that of the rung, both from one run. */
export const TimeCheck = z.strictObject({
  kind: z.literal('time'),
  ...part,
  below: RelativeBound,
  /** Share that the limit gives way by, beside the measured spread of both. */
  noise: z.number().min(0).max(1).default(0.02),
})
export type TimeCheck = z.infer<typeof TimeCheck>

/** What the compiler reports of the code for this GPU: the highest over the file's kernels. */
export const StaticCheck = z.strictObject({
  kind: z.literal('static'),
  ...part,
  maxRegisters: z.number().int().positive().optional(),
  maxSharedBytes: z.number().int().nonnegative().optional(),
  noSpills: z.literal(true).optional(),
})
export type StaticCheck = z.infer<typeof StaticCheck>

export const LabCheck = z.discriminatedUnion('kind', [
  CorrectnessCheck,
  SanitizerCheck,
  MetricCheck,
  TimeCheck,
  StaticCheck,
])
export type LabCheck = z.infer<typeof LabCheck>

export const predictionDirections = ['up', 'down', 'same'] as const

/**
 * The student says beforehand what a counter, or `time`, will do against a rung. It is graded on what
 * is then measured, so the author gives no answer, only what to ask and how near is near enough.
 */
export const LabPrediction = z.strictObject({
  id: PartId,
  /** A registry id, or `time`. */
  metric: z.string(),
  /** The rung compared with; the lab's `before` where absent. */
  against: Identifier.optional(),
  /** The question in the author's words. */
  ask: Prose,
  /** A factor is asked for beside the direction: the new value over the old. */
  factor: z.boolean().default(true),
  /** How far off the factor may be. A change within it counts as `same`. */
  tolerance: Tolerance.default(0.25),
})
export type LabPrediction = z.infer<typeof LabPrediction>

/** A number that the student works out; the answer is computed for the GPU at hand. */
export const LabQuestion = z.strictObject({
  id: PartId,
  ask: Prose,
  /** See expression.ts and `questionNames`. */
  answer: z.string().min(1),
  unit: z.string().max(40).default(''),
  tolerance: Tolerance.default(0.01),
  /** Shown once it was answered. */
  explain: Prose.optional(),
})
export type LabQuestion = z.infer<typeof LabQuestion>

export const LabSource = z.strictObject({
  title: Title,
  author: Title.optional(),
  url: z.url().optional(),
})

export const LabFile = z.strictObject({
  title: Title,
  /** One sentence for the list. */
  summary: Prose,
  /** Place in the list. */
  order: z.number().int().min(1).max(999),
  /** Where the rungs named here are looked up first, variants by their name there; its reference runs beside. */
  ladder: Identifier,
  /** The rung that the starter stands at, and that the result is compared with. */
  before: Identifier,
  /** The rung that the lab aims at. */
  target: Identifier,
  /** How long it takes a student. */
  minutes: z.number().int().min(1).max(600),
  needs: z
    .strictObject({
      /** Ids of labs to do before. */
      labs: z.array(Identifier).default([]),
      /** Lowest compute capability, `sm_80`. */
      compute: z
        .string()
        .regex(/^sm_\d{2,3}[af]?$/)
        .optional(),
    })
    .prefault({}),
  /** Options of the ladder's task that are not its first choices. */
  options: Options.default({}),
  /** Where times and counters are taken, with the task's own scalars. */
  size: Sizes,
  starter: z.string().default('starter.cu'),
  solution: z.string().default('solution.cu'),
  checks: z.array(LabCheck).min(1).max(24),
  /** Ids of the checks that the starter fails, and no others; a test on a GPU holds the lab to it. */
  starterFails: z.array(PartId).min(1).optional(),
  predictions: z.array(LabPrediction).max(12).default([]),
  questions: z.array(LabQuestion).max(12).default([]),
  /** Shown one at a time, the gentlest first. */
  hints: z.array(Prose).max(12).default([]),
  /** What surprised the author of the source; shown when the student reflects. */
  surprise: Prose.optional(),
  source: LabSource.optional(),
})
export type LabFile = z.infer<typeof LabFile>

/** A lab as it was read from its folder. */
export const Lab = LabFile.extend({
  id: Identifier,
  /** Markdown. */
  body: z.string(),
})
export type Lab = z.infer<typeof Lab>

/** A fault of a lab's folder at its place; `file` is relative to the folder of labs. */
export const LabFault = z.object({
  file: z.string(),
  /** From 1; null where the file as a whole is meant. */
  line: z.number().int().nullable(),
  message: z.string(),
})
export type LabFault = z.infer<typeof LabFault>

export const faultSentence = ({ file, line, message }: LabFault): string =>
  `${file}${line === null ? '' : `:${line}`}: ${message}`

/** What can be predicted: every metric of the registry, and the time of a launch, which is none of them. */
export const isPredictable = (metric: string): boolean =>
  metric === 'time' || metricDefinition(metric) !== undefined

const rungsOfCheck = (check: LabCheck): string[] => {
  switch (check.kind) {
    case 'metric':
      return [check.below, check.above].flatMap((bound) => (bound ? [bound.rung] : []))
    case 'time':
      return [check.below.rung]
    case 'correctness':
    case 'sanitizer':
    case 'static':
      return []
  }
}

/** The rungs measured beside a submission: the one before, and those that checks and predictions name. */
export const rungsBeside = (lab: Pick<LabFile, 'before' | 'checks' | 'predictions'>): string[] => [
  ...new Set([
    lab.before,
    ...lab.checks.flatMap(rungsOfCheck),
    ...lab.predictions.flatMap(({ against }) => (against === undefined ? [] : [against])),
  ]),
]

/** The lowest level that collects every counter the lab asks for; `none` where it asks for none. */
export function profileLevelOf(lab: Pick<LabFile, 'checks' | 'predictions'>): ProfileLevel {
  const metrics = [
    ...lab.checks.flatMap((check) => (check.kind === 'metric' ? [check.metric] : [])),
    ...lab.predictions.map(({ metric }) => metric),
  ]
  const ranks = metrics.map((id) => profileLevels.indexOf(metricDefinition(id)?.level ?? 'none'))
  return profileLevels[Math.max(0, ...ranks)] ?? 'none'
}

/** A ring of labs that each ask for the next, beginning with the first id of it; null where there is none. */
export function findCycle(needs: ReadonlyMap<string, readonly string[]>): string[] | null {
  const finished = new Set<string>()
  const visit = (id: string, path: readonly string[]): string[] | null => {
    const at = path.indexOf(id)
    if (at >= 0) return path.slice(at)
    if (finished.has(id)) return null
    for (const next of needs.get(id) ?? []) {
      const cycle = visit(next, [...path, id])
      if (cycle) return cycle
    }
    finished.add(id)
    return null
  }
  for (const id of [...needs.keys()].sort()) {
    const cycle = visit(id, [])
    if (cycle) return cycle
  }
  return null
}
