/**
 * A lab: a step of a ladder as an exercise. `LabFile` is the front matter of lab.md; docs/guides/labs.md says how to
 * write one. The outcome of an attempt is in ./outcome.
 */
import { z } from 'zod'
import { metricDefinition } from '../metrics/metrics'
import { profileLevels, type ProfileLevel } from '../metrics/metric-definition'
import { Options, Scalars, Sizes } from '../task/problem'
import { Name, TaskFill } from '../task/task'
import { Identifier } from '../ladder/rung'
import { SanitizerTool } from '../session/sanitizer'

/** Author's prose: inline Markdown, formulas between `$`. */
const Prose = z.string().trim().min(1).max(4000)
const Title = z.string().trim().min(1).max(200)
/** A name within a lab: a column of the grader's table, a key of the answers. */
const PartId = z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, {
  message: 'An id consists of lowercase letters, digits and "-", and begins with a letter.',
})
/** A share of the expected value: 0.1 is ten percent. */
const Tolerance = z.number().min(0).max(10)
/** `factor` times the rung's value. */
const RelativeBound = z.strictObject({ rung: Identifier, factor: z.number().positive().default(1) })

const part = { id: PartId, title: Title.optional() }

/** Correct at every size, within the error bound that applies to every rung. */
export const CorrectnessCheck = z.strictObject({
  kind: z.literal('correctness'),
  ...part,
  sizes: z.array(Sizes).min(1).max(12),
  /** Scalars that differ from the task's defaults. */
  scalars: Scalars.default({}),
})
export type CorrectnessCheck = z.infer<typeof CorrectnessCheck>

/** No compute-sanitizer findings. It slows kernels down a hundredfold, so choose a small size. */
export const SanitizerCheck = z.strictObject({
  kind: z.literal('sanitizer'),
  ...part,
  tools: z.array(SanitizerTool).min(1),
  size: Sizes,
})
export type SanitizerCheck = z.infer<typeof SanitizerCheck>

/** A counter within bounds at the lab's size, in the metric's unit; the bounds are inclusive. */
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
  /** Tolerance added to the limit as a share, in addition to the measured spread of both. */
  noise: z.number().min(0).max(1).default(0.02),
})
export type TimeCheck = z.infer<typeof TimeCheck>

/** What the compiler reports for this GPU: the maximum over the file's kernels. */
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
 * The student predicts how a counter, or `time`, will change relative to a rung. It is graded against the
 * measurement, so the author provides no answer, only the question and the tolerance.
 */
export const LabPrediction = z.strictObject({
  id: PartId,
  /** A registry id, or `time`. */
  metric: z.string(),
  /** The rung to compare with; by default the lab's `before`. */
  against: Identifier.optional(),
  /** The author's question. */
  ask: Prose,
  /** Whether to ask for a factor in addition to the direction: the new value divided by the old. */
  factor: z.boolean().default(true),
  /** How far off the factor may be. A change within it counts as `same`. */
  tolerance: Tolerance.default(0.25),
})
export type LabPrediction = z.infer<typeof LabPrediction>

/** A number for the student to work out; the answer is computed for the GPU at hand. */
export const LabQuestion = z.strictObject({
  id: PartId,
  ask: Prose,
  /** See expression.ts and `questionNames`. */
  /** An expression; YAML reads a plain number as one. */
  answer: z.union([z.string().min(1), z.number().transform(String)]),
  unit: z.string().max(40).default(''),
  tolerance: Tolerance.default(0.01),
  /** Shown once the question was answered. */
  explain: Prose.optional(),
})
export type LabQuestion = z.infer<typeof LabQuestion>

export const LabSource = z.strictObject({
  title: Title,
  author: Title.optional(),
  url: z.url().optional(),
})

/** A ladder folder inside the lab's, by a path that begins with a dot; the dot alone is the lab's folder itself. */
const LadderPath = z
  .string()
  .max(200)
  .regex(/^\.(?:\/(?!\.\.?(?:\/|$))[A-Za-z0-9_.-]+)*\/?$/)

export const isLadderPath = (ladder: string): boolean => LadderPath.safeParse(ladder).success

export const LabFile = z.strictObject({
  title: Title,
  /** One sentence for the list. */
  summary: Prose,
  /** Position in the list. */
  order: z.number().int().min(1).max(999),
  /**
   * The ladder in which rungs are looked up first (variants by their name); its reference is run too. A shipped ladder by id, or a ladder
   * folder inside the lab's folder by path.
   */
  ladder: z.union([Identifier, LadderPath], {
    error: 'It is the id of a shipped ladder, or a folder inside the lab, such as ./ladder.',
  }),
  /** The rung that the starter corresponds to and that results are compared with. */
  before: Identifier,
  /** The rung that the lab aims at. */
  target: Identifier,
  /** Estimated duration for a student. */
  minutes: z.number().int().min(1).max(600),
  needs: z
    .strictObject({
      /** Ids of prerequisite labs. */
      labs: z.array(Identifier).default([]),
      /** Lowest compute capability, `sm_80`. */
      compute: z
        .string()
        .regex(/^sm_\d{2,3}[af]?$/)
        .optional(),
    })
    .prefault({}),
  /** Options of the ladder's task that differ from its defaults. */
  options: Options.default({}),
  /** Fills of buffers that differ from the task's, for every check. */
  inputs: z.record(Name, TaskFill).default({}),
  /** The size for times and counters, with the task's default scalars. */
  size: Sizes,
  starter: z.string().default('starter.cu'),
  solution: z.string().default('solution.cu'),
  checks: z.array(LabCheck).min(1).max(24),
  /** Ids of exactly the checks that the starter fails; verified by a test on a GPU. */
  starterFails: z.array(PartId).min(1).optional(),
  predictions: z.array(LabPrediction).max(12).default([]),
  questions: z.array(LabQuestion).max(12).default([]),
  /** Shown one at a time, gentlest first. */
  hints: z.array(Prose).max(12).default([]),
  /** What surprised the author of the source; shown when the student reflects. */
  surprise: Prose.optional(),
  source: LabSource.optional(),
})
export type LabFile = z.infer<typeof LabFile>

/** A lab as read from its folder. */
export const Lab = LabFile.extend({
  id: Identifier,
  /** Markdown. */
  body: z.string(),
})
export type Lab = z.infer<typeof Lab>

/** A fault in a lab's folder with its location; `file` is relative to the folder of labs. */
export const LabFault = z.object({
  file: z.string(),
  /** From 1; null if it concerns the whole file. */
  line: z.number().int().nullable(),
  message: z.string(),
})
export type LabFault = z.infer<typeof LabFault>

export const faultSentence = ({ file, line, message }: LabFault): string =>
  `${file}${line === null ? '' : `:${line}`}: ${message}`

/** Whether a metric can be predicted: every registry metric, and the time per launch, which is not in the registry. */
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

/** Returns the rungs measured with a submission: the one before, and those named by checks and predictions. */
export const rungsBeside = (lab: Pick<LabFile, 'before' | 'checks' | 'predictions'>): string[] => [
  ...new Set([
    lab.before,
    ...lab.checks.flatMap(rungsOfCheck),
    ...lab.predictions.flatMap(({ against }) => (against === undefined ? [] : [against])),
  ]),
]

/** Returns the lowest level that collects every counter the lab is judged by; `none` if it needs none. */
export function profileLevelOf(lab: Pick<LabFile, 'checks' | 'predictions'>): ProfileLevel {
  const metrics = [
    ...lab.checks.flatMap((check) => (check.kind === 'metric' ? [check.metric] : [])),
    ...lab.predictions.map(({ metric }) => metric),
  ]
  const ranks = metrics
    .map((id) => metricDefinition(id))
    .map((metric) => metricDefinition(metric?.structural ?? '') ?? metric)
    .map((metric) => profileLevels.indexOf(metric?.level ?? 'none'))
  return profileLevels[Math.max(0, ...ranks)] ?? 'none'
}

/** Returns a cycle of labs that each require the next, beginning with its first id; null if there is none. */
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
