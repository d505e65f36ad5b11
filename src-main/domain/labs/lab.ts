/**
 * A lab turns one step of a ladder into an exercise. `LabFile` is the front matter of lab.md.
 * docs/guides/labs.md explains how to write a lab. ./outcome defines the outcome of an attempt.
 */
import { z } from 'zod'
import { metricDefinition } from '../metrics/metrics'
import { profileLevels, type ProfileLevel } from '../metrics/metric-definition'
import { Options, Scalars, Sizes } from '../task/problem'
import { Name, TaskFill } from '../task/task'
import { Identifier } from '../ladder/rung'
import { SanitizerTool } from '../session/sanitizer'

/** Text written by the lab's author, as inline Markdown with formulas between `$` signs. */
const Prose = z.string().trim().min(1).max(4000)
const Title = z.string().trim().min(1).max(200)
/**
 * Id of a check, prediction, or question, unique among the lab's items of the same kind. The id
 * becomes a column in the grader's table and a key in the answers.
 */
const PartId = z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, {
  message: 'An id consists of lowercase letters, digits and "-", and begins with a letter.',
})
/** Tolerance as a fraction of the expected value. For example, 0.1 is ten percent. */
const Tolerance = z.number().min(0).max(10)
/** A bound relative to another rung, equal to `factor` times the rung's value. */
const RelativeBound = z.strictObject({ rung: Identifier, factor: z.number().positive().default(1) })

const part = { id: PartId, title: Title.optional() }

/**
 * Checks that the result is correct at every size, within the error bound that applies to all
 * rungs.
 */
export const CorrectnessCheck = z.strictObject({
  kind: z.literal('correctness'),
  ...part,
  sizes: z.array(Sizes).min(1).max(12),
  /** Scalars that differ from the task's defaults. */
  scalars: Scalars.default({}),
})
export type CorrectnessCheck = z.infer<typeof CorrectnessCheck>

/**
 * Checks that compute-sanitizer reports no findings. The tool slows kernels down a hundredfold, so
 * choose a small size.
 */
export const SanitizerCheck = z.strictObject({
  kind: z.literal('sanitizer'),
  ...part,
  tools: z.array(SanitizerTool).min(1),
  size: Sizes,
})
export type SanitizerCheck = z.infer<typeof SanitizerCheck>

/**
 * Checks that a counter at the lab's size is within bounds. Bounds are inclusive and in the
 * metric's unit.
 */
export const MetricCheck = z.strictObject({
  kind: z.literal('metric'),
  ...part,
  metric: z.string(),
  min: z.number().optional(),
  max: z.number().optional(),
  /** Upper bound, which is `factor` times the rung's value. */
  below: RelativeBound.optional(),
  /** Lower bound, which is `factor` times the rung's value. */
  above: RelativeBound.optional(),
})
export type MetricCheck = z.infer<typeof MetricCheck>

/**
 * Checks that the time at the lab's size is at most `factor` times the rung's time in the same run.
 */
export const TimeCheck = z.strictObject({
  kind: z.literal('time'),
  ...part,
  below: RelativeBound,
  /** Tolerance of the limit as a fraction, in addition to the measured spread of the two times. */
  noise: z.number().min(0).max(1).default(0.02),
})
export type TimeCheck = z.infer<typeof TimeCheck>

/**
 * Checks the compiler's resource report for this GPU, using the maximum over the file's kernels.
 */
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
 * A question in which the student predicts how a counter, or `time`, changes relative to a rung.
 * The measurement grades the prediction, so the author provides only the question and the
 * tolerance.
 */
export const LabPrediction = z.strictObject({
  id: PartId,
  /** Metric id from the registry, or `time`. */
  metric: z.string(),
  /**
   * Id of the rung that the submission is compared with. The default is the lab's `before` rung.
   */
  against: Identifier.optional(),
  /** The author's question. */
  ask: Prose,
  /** Whether to ask for a factor (new value divided by old value) in addition to the direction. */
  factor: z.boolean().default(true),
  /**
   * Allowed relative error in the factor. A metric change below this tolerance is graded as `same`.
   */
  tolerance: Tolerance.default(0.25),
})
export type LabPrediction = z.infer<typeof LabPrediction>

/**
 * A question whose answer is a number that the student computes. The expected answer is computed
 * for the student's GPU.
 */
export const LabQuestion = z.strictObject({
  id: PartId,
  ask: Prose,
  /**
   * An expression over `questionNames`; see expression.ts. A YAML number is also a valid
   * expression.
   */
  answer: z.union([z.string().min(1), z.number().transform(String)]),
  unit: z.string().max(40).default(''),
  tolerance: Tolerance.default(0.01),
  /** Explanation that is shown after the student has answered. */
  explain: Prose.optional(),
})
export type LabQuestion = z.infer<typeof LabQuestion>

export const LabSource = z.strictObject({
  title: Title,
  author: Title.optional(),
  url: z.url().optional(),
})

/**
 * Path of a ladder folder inside the lab's folder. The path begins with a dot; `.` is the lab's
 * folder.
 */
const LadderPath = z
  .string()
  .max(200)
  .regex(/^\.(?:\/(?!\.\.?(?:\/|$))[A-Za-z0-9_.-]+)*\/?$/)

export const isLadderPath = (ladder: string): boolean => LadderPath.safeParse(ladder).success

export const LabFile = z.strictObject({
  title: Title,
  /** One sentence to show in the list of labs. */
  summary: Prose,
  /** Position in the list of labs. */
  order: z.number().int().min(1).max(999),
  /**
   * The ladder in which rung names are looked up first. A variant is referred to by its variant
   * name. Every run also includes the ladder's reference. `ladder` contains the id of a built-in
   * ladder, or the path of a ladder folder inside the lab's folder.
   */
  ladder: z.union([Identifier, LadderPath], {
    error: 'It is the id of a shipped ladder, or a folder inside the lab, such as ./ladder.',
  }),
  /** The rung that matches the starter, used as the baseline for the results. */
  before: Identifier,
  /** The rung that the student should reach. */
  target: Identifier,
  /** Estimated minutes that a student needs. */
  minutes: z.number().int().min(1).max(600),
  needs: z
    .strictObject({
      /** Ids of prerequisite labs. */
      labs: z.array(Identifier).default([]),
      /** Minimum compute capability, such as `sm_80`. */
      compute: z
        .string()
        .regex(/^sm_\d{2,3}[af]?$/)
        .optional(),
    })
    .prefault({}),
  /** Task options that differ from the ladder's defaults. */
  options: Options.default({}),
  /** Buffer fills that replace the task's fills in every check. */
  inputs: z.record(Name, TaskFill).default({}),
  /** Problem size for times and counters, with the task's default scalars. */
  size: Sizes,
  starter: z.string().default('starter.cu'),
  solution: z.string().default('solution.cu'),
  checks: z.array(LabCheck).min(1).max(24),
  /** Ids of all checks that the starter fails. A GPU test verifies the list. */
  starterFails: z.array(PartId).min(1).optional(),
  predictions: z.array(LabPrediction).max(12).default([]),
  questions: z.array(LabQuestion).max(12).default([]),
  /** Hints, revealed one at a time. The least specific hint comes first. */
  hints: z.array(Prose).max(12).default([]),
  /**
   * A surprising result from the source that the lab is based on. The text is shown after the
   * attempt, with the comparison of predictions and measurements.
   */
  surprise: Prose.optional(),
  source: LabSource.optional(),
})
export type LabFile = z.infer<typeof LabFile>

/** A lab as loaded from its folder. */
export const Lab = LabFile.extend({
  id: Identifier,
  /** The lab's text as Markdown. */
  body: z.string(),
})
export type Lab = z.infer<typeof Lab>

/**
 * An error in a lab's folder, with its location. `file` is relative to the folder that contains
 * the labs.
 */
export const LabFault = z.object({
  file: z.string(),
  /** Line number, starting at 1; null if the error concerns the whole file. */
  line: z.number().int().nullable(),
  message: z.string(),
})
export type LabFault = z.infer<typeof LabFault>

export const faultSentence = ({ file, line, message }: LabFault): string =>
  `${file}${line === null ? '' : `:${line}`}: ${message}`

/**
 * Returns whether a metric can be predicted: any registry metric, or `time`, which is not in the
 * registry.
 */
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

/**
 * Returns the rungs measured with a submission: the `before` rung and all rungs in checks and
 * predictions.
 */
export const rungsBeside = (lab: Pick<LabFile, 'before' | 'checks' | 'predictions'>): string[] => [
  ...new Set([
    lab.before,
    ...lab.checks.flatMap(rungsOfCheck),
    ...lab.predictions.flatMap(({ against }) => (against === undefined ? [] : [against])),
  ]),
]

/**
 * Returns the lowest profile level that collects every counter used to judge the lab, or `none` if
 * judging uses no counters.
 */
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

/**
 * Returns the ids of labs that form a cycle, in which each lab requires the next lab. Returns null
 * if there is no cycle.
 */
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
