/**
 * Measurements of a ladder rung, and of the step from the previous rung to this rung. The
 * measurements are computed from the recordings on every request, and are neither stored nor
 * written into the rung's source file.
 */
import { z } from 'zod'
import { compareRungs, type MetricDelta } from './compare'
import type { Ladder, LadderRung } from '../ladder/ladder'
import { metricDefinition } from '../metrics/metrics'
import { named, Problem, problemWord, Scalars } from '../task/problem'
import { resultOf, type Task } from '../task/task'
import { message } from '../messages/message'
import { inEnglish } from '../text/english'
import { Identifier, Parameters } from '../ladder/rung'
import { CacheState, type RungResult, type Session } from '../session/session'
import { formatMs, formatRatio, formatValue, units } from '../metrics/units'

const MeasuredStep = z.object({
  metric: z.string(),
  unit: z.enum(units),
  /**
   * Values for the previous rung and for this rung. Null if no recording of the step has the
   * metric.
   */
  from: z.number().nullable(),
  to: z.number().nullable(),
  moved: z.enum(['up', 'down', 'same']).nullable(),
  /**
   * The change that the rung's current header predicts, and whether the measurement agrees. Absent
   * if there is no prediction.
   */
  expected: z.enum(['up', 'down', 'same']).optional(),
  met: z.boolean().nullable().optional(),
  /** Name of the recording that contains this metric, if it is not the rung's main recording. */
  recording: z.string().optional(),
})
type MeasuredStep = z.infer<typeof MeasuredStep>

export const RungMeasured = z.object({
  /** Name of the recording. `recorded:<recording>` opens it. */
  recording: z.string(),
  device: z.string().nullable(),
  problem: Problem.nullable(),
  /** Problem scalars that differ from the task's defaults. */
  unusual: Scalars,
  medianMs: z.number(),
  /** L2 contents while this rung and the previous rung were timed. */
  cacheState: CacheState,
  /** The previous rung, with its non-default parameters. */
  before: z.object({ id: Identifier, medianMs: z.number(), params: Parameters }).nullable(),
  /**
   * Reference time divided by this rung's time. The reference's id is `to`. `alone` describes the
   * reference's result if the reference was built without this rung's flags, and is null otherwise.
   */
  reference: z
    .object({ to: Identifier, ratio: z.number(), alone: z.string().nullable() })
    .nullable(),
  /**
   * The metrics that the header expects to change, and the tensor pipe's utilization if the pipe is
   * busy. If no other metric is listed, the list contains the FMA pipe's utilization.
   */
  steps: z.array(MeasuredStep),
  /** Ids of this rung and the previous rung if their code has changed since the measurement. */
  changed: z.array(Identifier),
})
export type RungMeasured = z.infer<typeof RungMeasured>

/** A recording, and its source files keyed by rung id. */
export interface MeasuredRecording {
  name: string
  session: Session
  sources: Readonly<Record<string, string>>
}

/** The current source of a rung. */
export interface RungToday {
  id: string
  file: string
  params: readonly { name: string; default: number }[]
  text: string
}

/**
 * The rung to compare with: the previous variant of the same file, or the rung that this rung
 * builds on.
 */
interface Before {
  after: RungToday | null
  variant: LadderRung | undefined
}

interface Finding {
  recording: MeasuredRecording
  rung: RungResult
  before: RungResult | null
}

/**
 * Returns the source lines that are neither blank nor comments. A recording remains valid for a
 * rung while the rung's code lines are unchanged.
 */
export const codeOf = (text: string): string =>
  text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '' && !line.trimStart().startsWith('//'))
    .join('\n')

const unusual = ({ params }: RungToday, rung: RungResult): Parameters =>
  Object.fromEntries(
    params.flatMap(({ name, default: usual }) => {
      const value = rung.params[name]
      return value === undefined || value === usual ? [] : [[name, value]]
    }),
  )

const hasParams = (rung: RungResult, params: Parameters): boolean =>
  Object.entries(params).every(([name, value]) => rung.params[name] === value)

/**
 * Returns the rung with the ladder's parameters, and the previous rung. For a variant, the previous
 * rung is the previous variant of its file. Otherwise, the previous rung is the rung that this rung
 * builds on, with default parameters if possible.
 */
function findIn(
  recording: MeasuredRecording,
  { id, file, params }: LadderRung,
  { after, variant }: Before,
): Finding[] {
  const timed = recording.session.rungs.filter(({ timing }) => timing !== null)
  const rung = timed.find((one) => (one.file === file || one.id === id) && hasParams(one, params))
  if (!rung) return []
  const base = variant && timed.find((one) => one.file === file && hasParams(one, variant.params))
  if (base) return [{ recording, rung, before: base }]
  const ofBefore = after ? timed.filter((one) => one.file === after.file) : []
  const usual = ofBefore.find((one) => after && Object.keys(unusual(after, one)).length === 0)
  return [{ recording, rung, before: usual ?? ofBefore[0] ?? null }]
}

/** Returns whether a recording was made at size 4096. Recordings at size 4096 are preferred. */
const is4096 = ({ session }: MeasuredRecording): boolean => {
  const sizes = Object.values(session.problem?.sizes ?? {})
  return sizes.length > 0 && sizes.every((size) => size === 4096)
}

/**
 * Returns a rung's recordings. The first recording contains the rung and, if possible, the previous
 * rung. Other recordings of the same problem on the same GPU follow, because they may have
 * additional counters. Recordings made on the same GPU as the first given recording are preferred.
 */
function findRung(
  ladder: string,
  rung: LadderRung,
  before: Before,
  recordings: readonly MeasuredRecording[],
): Finding[] {
  const usual = recordings[0]?.session.device?.name
  const isUsual = ({ session }: MeasuredRecording): number => Number(session.device?.name === usual)
  const findings = recordings
    .filter(({ session }) => session.ladder.id === ladder)
    .sort(
      (a, b) =>
        isUsual(b) - isUsual(a) ||
        Number(is4096(b)) - Number(is4096(a)) ||
        (a.name < b.name ? -1 : 1),
    )
    .flatMap((recording) => findIn(recording, rung, before))
  const first = findings.find(({ before }) => before) ?? findings[0]
  if (!first) return []
  const problem = ({ recording: { session } }: Finding): string =>
    JSON.stringify([session.problem, session.device?.name])
  return [first, ...findings.filter((one) => one !== first && problem(one) === problem(first))]
}

function stepOf(
  { recording: { session }, rung, before }: Finding,
  expect: LadderRung['header']['expect'],
  metric: string,
): MetricDelta | null {
  if (!before) return null
  // Use the current header's expectation, because the recorded header may be older.
  const { metrics } = compareRungs(
    { session, rung: before },
    { session, rung: { ...rung, expect } },
  )
  const delta = metrics.find(({ id }) => id === metric)
  return delta?.a?.value != null && delta.b?.value != null ? delta : null
}

function stepsOf({ header: { expect } }: LadderRung, findings: readonly Finding[]): MeasuredStep[] {
  const [first] = findings
  if (!first?.before) return []
  const wanted = expect.map(({ metric }) => metric)
  // The tensor pipe also executes a few instructions that are not matrix products. Below one
  // percent, the tensor pipe is considered idle.
  const tensorBusy = first.rung.metrics['tensorUtilization']?.value ?? 0
  if (tensorBusy >= 1 && !wanted.includes('tensorUtilization')) wanted.push('tensorUtilization')
  if (wanted.length === 0) wanted.push('fmaUtilization')
  return wanted.flatMap((metric): MeasuredStep[] => {
    const direction = expect.find((one) => one.metric === metric)?.direction
    for (const finding of findings) {
      const delta = stepOf(finding, expect, metric)
      if (!delta) continue
      const { unit, a, b, verdict, expected } = delta
      return [
        {
          metric,
          unit,
          from: a!.value,
          to: b!.value,
          moved: verdict === 'same' || !delta.delta ? 'same' : delta.delta > 0 ? 'up' : 'down',
          ...(expected ? { expected: expected.direction, met: expected.met } : {}),
          ...(finding === first ? {} : { recording: finding.recording.name }),
        },
      ]
    }
    const unit = metricDefinition(metric)?.unit
    if (!unit) return []
    const judged = direction ? { expected: direction, met: null } : {}
    return [{ metric, unit, from: null, to: null, moved: null, ...judged }]
  })
}

/** Returns the measurements of the ladder's rungs, keyed by rung id. */
export function measuredOf(
  ladder: Ladder,
  today: ReadonlyMap<string, RungToday>,
  recordings: readonly MeasuredRecording[],
  /** Returns whether two sources compile to the same machine code. */
  compilesAlike: (then: string, now: string) => boolean,
): Record<string, RungMeasured> {
  const byFile = new Map([...today.values()].map((source) => [source.file, source]))
  const isChanged = ({ recording }: Finding, { id, file }: RungResult): boolean => {
    const [then, now] = [recording.sources[id], byFile.get(file)?.text]
    if (then === undefined || now === undefined) return false
    const [before, after] = [codeOf(then), codeOf(now)]
    return before !== after && !compilesAlike(before, after)
  }
  const measured = ladder.rungs.flatMap((rung, index): [string, RungMeasured][] => {
    const isVariant = rung.id !== rung.header.id
    const variant = isVariant
      ? ladder.rungs.slice(0, index).findLast(({ file }) => file === rung.file)
      : undefined
    const named = (rung.header.after && today.get(rung.header.after)) || null
    const after = (variant && byFile.get(rung.file)) ?? named
    const findings = findRung(ladder.id, rung, { after, variant }, recordings)
    const [first] = findings
    if (!first?.rung.timing) return []
    const { session, name } = first.recording
    const { timing } = first.rung
    const { reference } = session.ladder
    const { before } = first
    return [
      [
        rung.id,
        {
          recording: name,
          device: session.device?.name ?? null,
          problem: session.problem,
          unusual: unusualScalars(session.ladder.task, session.problem),
          medianMs: timing.medianMs,
          cacheState: timing.cacheState,
          before: before?.timing
            ? {
                id: before.id,
                medianMs: before.timing.medianMs,
                params: after ? unusual(after, before) : {},
              }
            : null,
          reference:
            reference === null || reference === first.rung.id || timing.ratioToReference === null
              ? null
              : {
                  to: reference,
                  ratio: timing.ratioToReference,
                  alone: first.rung.flags.length > 0 ? resultOf(session.ladder.task) : null,
                },
          steps: stepsOf(rung, findings),
          changed: (before ? [before, first.rung] : [first.rung])
            .filter((one) => isChanged(first, one))
            .map(({ id }) => id),
        },
      ],
    ]
  })
  return Object.fromEntries(measured)
}

function unusualScalars(task: Task | null, problem: Problem | null): Scalars {
  const scalars = Object.entries(problem?.scalars ?? {})
  return Object.fromEntries(scalars.filter(([name, value]) => task?.scalars[name]?.value !== value))
}

/** Returns a value's change as text, such as `15.3 → 32.2 %`. */
function valueWords({ unit, moved, from, to }: MeasuredStep): string {
  if (from === null || to === null) return 'not collected'
  const [a, b] = [formatValue(from, unit), formatValue(to, unit)]
  if (a !== b) return `${a.endsWith(` ${unit}`) ? a.slice(0, -unit.length - 1) : a} → ${b}`
  // The two values print as the same text, so print the change as a percentage.
  return moved === 'same' || from === 0
    ? b
    : `${b}, ${to > from ? '+' : '-'}${Math.abs((to / from - 1) * 100).toPrecision(1)} %`
}

function stepWords(step: MeasuredStep): string {
  const { metric, moved, expected, met, recording } = step
  const way = moved === 'same' ? 'stayed' : `went ${moved}`
  const judged =
    expected === undefined || moved === null
      ? ''
      : met
        ? ` (${expected} as expected)`
        : ` (expected ${expected}, ${way})`
  return `${metric} ${valueWords(step)}${judged}${recording ? ` in ${recording}` : ''}`
}

/**
 * Returns a summary of a rung's measurements as text. An example is `NVIDIA H200 at 4096³ f32 after
 * 04_thread_tile_1d (gemm-fp32-h200-4096): time 6.85 ms → 4.44 ms (1.55×), …`.
 */
export function measuredWords(measured: RungMeasured): string {
  const { device, problem, unusual, before, reference, medianMs, cacheState } = measured
  const { recording, changed, steps } = measured
  const params = Object.entries(before?.params ?? {}).map(([name, value]) => `${name} ${value}`)
  const where = [
    device ?? 'an unnamed GPU',
    problem &&
      ` at ${problemWord(problem)}${Object.keys(unusual).length > 0 ? `, ${named(unusual)},` : ''}`,
    before && ` after ${before.id}${params.length > 0 ? ` with ${params.join(', ')}` : ''}`,
    ` (${recording}, L2 ${inEnglish(message(`cacheState.${cacheState}`))}${changed.length > 0 ? `, before the code of ${changed.join(' and ')} changed` : ''})`,
  ]
  const now = formatMs(medianMs)
  const time = before
    ? `${formatMs(before.medianMs)} → ${now} (${formatRatio(before.medianMs / medianMs)})`
    : now
  const ratio =
    reference && reference.to !== before?.id
      ? `, ${formatRatio(reference.ratio)} as fast as ${reference.to}${reference.alone === null ? '' : `, which computes ${reference.alone} only`}`
      : ''
  return `${where.filter(Boolean).join('')}: ${[`time ${time}${ratio}`, ...steps.map(stepWords)].join('; ')}`
}
