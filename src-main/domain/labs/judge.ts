/** Judges an attempt by its measurements. Pure: the same evidence gives the same outcome. */
import type {
  CorrectnessCheck,
  Lab,
  LabCheck,
  MetricCheck,
  SanitizerCheck,
  StaticCheck,
  TimeCheck,
} from './lab'
import type { CheckResult, LabFigure } from './outcome'
import { message, together, type AnyMessage, type Statement } from '../messages/message'
import { metricDefinition, unavailable, type MetricValue } from '../metrics/metrics'
import { sameSizes, sizesLabel, type Sizes } from '../task/problem'
import { rungOf, type Build, type RungResult, type Session } from '../session/session'
import { formatPredictedMs } from '../metrics/predicted-range'
import type { PredictedTime } from '../session/predicted'
import { boundsOfFigure, keepsTo } from './predicted-bounds'
import { formatMs, formatValue, type Unit } from '../metrics/units'
import { withoutNoise } from '../session/noisy-counters'

/** The submission's id among the rungs of its session. */
export const submissionId = 'submission'

/** The result of one compute-sanitizer tool. */
interface SanitizerVerdict {
  tool: string
  status: 'clean' | 'found' | 'failed' | 'unsupported' | 'not-run'
  reason?: Statement | undefined
  /** Errors, warnings or hazards; null if the tool printed no count. */
  total: number | null
  findings: readonly { place: { line: number | null }; message: string }[]
}

export interface LabEvidence {
  /** null if nothing could be measured; `reason` says why. */
  session: Session | null
  reason: Statement | null
  /** The compiler's result; null if it was not run. */
  build: { resources: Build | null; ok: boolean; reason: Statement | null } | null
  /** By id of the sanitizer check: the result of each of its tools, or why none ran. */
  sanitized: Readonly<Record<string, readonly SanitizerVerdict[] | { reason: Statement }>>
}

interface Verdict {
  status: CheckResult['status']
  sentence: Statement
  figures?: LabFigure[]
}

const passed = (sentence: Statement, figures: LabFigure[] = []): Verdict => ({
  status: 'passed',
  sentence,
  figures,
})
const failed = (sentence: Statement, figures: LabFigure[] = []): Verdict => ({
  status: 'failed',
  sentence,
  figures,
})
const notHere = (sentence: Statement, figures: LabFigure[] = []): Verdict => ({
  status: 'unavailable',
  sentence,
  figures,
})

const measured = (value: number, unit: Unit): MetricValue => ({ value, unit, evidence: 'measured' })
const derived = (value: number, unit: Unit): MetricValue => ({ value, unit, evidence: 'derived' })

const sizes = (all: readonly Sizes[]): string => all.map(sizesLabel).join(', ')

export const metricLabel = (metric: string): Statement =>
  metric === 'time'
    ? message('figures.time')
    : metricDefinition(metric)
      ? message('part.metric', { metric: { metric } })
      : metric

function staticTitle({ maxRegisters, maxSharedBytes, noSpills }: StaticCheck): Statement {
  const first = maxRegisters === undefined
  const parts = [
    ...(first ? [] : [message('checks.atMostRegisters', { most: maxRegisters })]),
    ...(maxSharedBytes === undefined
      ? []
      : [
          message(first ? 'checks.atMostBytesFirst' : 'part.atMostBytes', {
            most: maxSharedBytes,
          }),
        ]),
    ...(noSpills
      ? [message(first && maxSharedBytes === undefined ? 'checks.noSpillsFirst' : 'part.noSpills')]
      : []),
  ]
  return parts.length === 0
    ? ''
    : parts.reduceRight((rest, part) => message('checks.and', { part, rest }))
}

/** What a check requires, if its author gave it no title. */
export function checkTitle(check: LabCheck): Statement {
  if (check.title !== undefined) return check.title
  switch (check.kind) {
    case 'correctness':
      return message('checks.rightAt', { sizes: sizes(check.sizes) })
    case 'sanitizer':
      return message('checks.sanitizerTitle', { tools: check.tools.join(', ') })
    case 'metric':
      return metricLabel(check.metric)
    case 'time':
      return message('checks.timeTitle', check.below)
    case 'static':
      return staticTitle(check)
  }
}

/** Why the submission itself prevented measurement; null if it did not. */
function ownFault(evidence: LabEvidence): Statement | null {
  if (evidence.build && !evidence.build.ok)
    return evidence.build.reason ?? message('checks.notCompiled')
  const own = evidence.session && rungOf(evidence.session, submissionId)
  if (!own || own.status === 'ok' || own.status === 'unsupported' || own.status === 'not-run')
    return null
  return own.reason ?? message('checks.failed')
}

/** Why there is nothing to judge; null if the submission ran. */
function cannot(evidence: LabEvidence): Verdict | null {
  const fault = ownFault(evidence)
  if (fault !== null) return failed(fault)
  const own = evidence.session && rungOf(evidence.session, submissionId)
  if (!own) return notHere(evidence.reason ?? message('checks.nothingMeasured'))
  if (own.status === 'unsupported' || own.status === 'not-run')
    return notHere(own.reason ?? message('checks.didNotRun'))
  return null
}

function judgeCorrectness(check: CorrectnessCheck, evidence: LabEvidence): Verdict {
  if (evidence.build && !evidence.build.ok)
    return failed(evidence.build.reason ?? message('checks.notCompiled'))
  const own = evidence.session && rungOf(evidence.session, submissionId)
  if (!own || own.status === 'unsupported' || own.status === 'not-run')
    return notHere(own?.reason ?? evidence.reason ?? message('checks.nothingMeasured'))
  const usual = evidence.session?.ladder.task?.scalars ?? {}
  const sameScalars = (scalars: Readonly<Record<string, number>>): boolean =>
    Object.entries(scalars).every(
      ([name, value]) => value === (check.scalars[name] ?? usual[name]?.value),
    )
  const verified = check.sizes.map((size) => {
    const done = own.alsoVerified?.find(
      ({ problem }) => sameSizes(problem.sizes, size) && sameScalars(problem.scalars),
    )
    return { label: sizesLabel(size), done }
  })
  const worst = Math.max(...verified.map(({ done }) => done?.verify?.worstRelativeError ?? 0))
  const wrong = verified.find(({ done }) => done && !done.verify?.passed)
  if (wrong)
    return failed(
      message('checks.wrongAt', {
        size: wrong.label,
        why: wrong.done?.reason ?? message('checks.wrong'),
      }),
    )
  const open = verified.filter(({ done }) => !done)
  const fault = ownFault(evidence)
  if (open.length > 0 && fault !== null) return failed(fault)
  if (open.length > 0)
    return notHere(message('checks.notRunAt', { sizes: open.map(({ label }) => label).join(', ') }))
  return passed(message('checks.right', { sizes: sizes(check.sizes), error: worst.toPrecision(2) }))
}

function judgeSanitizer(check: SanitizerCheck, evidence: LabEvidence): Verdict {
  if (evidence.build && !evidence.build.ok)
    return failed(evidence.build.reason ?? message('checks.notCompiled'))
  const sanitized = evidence.sanitized[check.id]
  if (!sanitized) {
    const fault = ownFault(evidence)
    return fault === null
      ? notHere(evidence.reason ?? message('checks.sanitizerNotRun'))
      : failed(fault)
  }
  if ('reason' in sanitized) return notHere(sanitized.reason)
  const runs = check.tools.map((tool) => ({
    tool,
    run: sanitized.find((candidate) => candidate.tool === tool),
  }))
  const found = runs.find(({ run }) => run?.status === 'found')
  if (found?.run) {
    const [first] = found.run.findings
    const counted = { tool: found.tool, total: found.run.total ?? found.run.findings.length }
    const line = first?.place.line
    return failed(
      first && line != null
        ? message('checks.countsInLine', { ...counted, line, text: first.message })
        : message('checks.counts', counted),
    )
  }
  const silent = runs.find(({ run }) => run?.status !== 'clean')
  if (silent)
    return notHere(
      message('checks.noVerdict', {
        tool: silent.tool,
        why: silent.run?.reason ?? message('checks.didNotRun'),
      }),
    )
  return passed(message('checks.nothingFound', { tools: check.tools.join(', ') }))
}

interface Bound {
  sign: '≤' | '≥'
  limit: number
  /** Its possible range, if it is predicted. */
  range: { low: number; high: number }
  /** The origin of the limit; empty if the lab states it directly. */
  from: string
}

const exactly = (limit: number) => ({ limit, range: { low: limit, high: limit } })

function boundsOf(check: MetricCheck, session: Session): Bound[] | { missing: Statement } {
  const bounds: Bound[] = []
  if (check.max !== undefined) bounds.push({ sign: '≤', ...exactly(check.max), from: '' })
  if (check.min !== undefined) bounds.push({ sign: '≥', ...exactly(check.min), from: '' })
  for (const [bound, sign] of [
    [check.below, '≤'],
    [check.above, '≥'],
  ] as const) {
    if (!bound) continue
    const other = rungOf(session, bound.rung)
    const value = other?.metrics[check.metric]
    if (value?.value == null)
      return {
        missing: message('checks.noFigure', {
          rung: bound.rung,
          why: value?.reason ?? message('checks.notMeasured'),
        }),
      }
    const from = bound.factor === 1 ? bound.rung : `${bound.factor} × ${bound.rung}`
    const { low, high } = boundsOfFigure(other, value)
    const range = { low: low * bound.factor, high: high * bound.factor }
    bounds.push({ sign, limit: value.value * bound.factor, range, from })
  }
  return bounds
}

function judgeMetric(metricCheck: MetricCheck, evidence: LabEvidence): Verdict {
  const blocked = cannot(evidence)
  if (blocked) return blocked
  const session = evidence.session!
  const own = rungOf(session, submissionId)
  const others = [metricCheck.below, metricCheck.above].flatMap((bound) =>
    bound ? [rungOf(session, bound.rung)] : [],
  )
  const check = { ...metricCheck, metric: withoutNoise(metricCheck.metric, [own, ...others]) }
  const value = own?.metrics[check.metric]
  const label = metricLabel(check.metric)
  const metric = { metric: check.metric }
  const noisy =
    metricDefinition(check.metric)?.structural !== undefined && value?.evidence === 'measured'
      ? message('checks.withNoise')
      : null
  if (value?.value == null)
    return notHere(
      message('checks.metricMissing', {
        metric,
        why: value?.reason ?? message('checks.notCollected'),
      }),
    )
  const bounds = boundsOf(check, session)
  if ('missing' in bounds) return notHere(bounds.missing)
  const figure = { metric, value: formatValue(value.value, value.unit) }
  const words = ({ sign, limit, from }: Bound): AnyMessage => {
    const bound = { sign, limit: formatValue(limit, value.unit) }
    return from === ''
      ? message('part.bound', bound)
      : message('part.boundFrom', { ...bound, from })
  }
  const figures: LabFigure[] = [
    { label, value },
    ...bounds.map(({ sign, limit, from }) => ({
      label: from === '' ? sign : `${sign} (${from})`,
      value: derived(limit, value.unit),
    })),
  ]
  const kept = bounds.map((bound) => ({
    bound,
    holds: keepsTo(boundsOfFigure(own, value), bound.sign, bound.range),
  }))
  const broken = kept.find(({ holds }) => holds === false)?.bound
  const open = kept.find(({ holds }) => holds === null)?.bound
  if (!broken && open)
    return notHere(
      message('checks.cannotTell', {
        what: message('checks.metricFailed', { ...figure, bound: words(open) }),
      }),
      figures,
    )
  return broken
    ? failed(
        together(message('checks.metricFailed', { ...figure, bound: words(broken) }), noisy),
        figures,
      )
    : passed(
        together(
          message('checks.metricPassed', {
            ...figure,
            bound: bounds
              .map(words)
              .reduceRight((other, bound) => message('part.both', { bound, other })),
          }),
          noisy,
        ),
        figures,
      )
}

const predicted = (ms: number): MetricValue => ({ value: ms, unit: 'ms', evidence: 'predicted' })

/** Decides only if the model's whole error range is on one side of the limit. */
function judgePredicted(check: TimeCheck, own: PredictedTime, other: PredictedTime): Verdict {
  const { rung, factor } = check.below
  const most = factor * (1 + check.noise)
  const holds = keepsTo({ low: own.lowMs, high: own.highMs }, '≤', {
    low: other.lowMs * most,
    high: other.highMs * most,
  })
  const figures: LabFigure[] = [
    { label: metricLabel('time'), value: predicted(own.ms) },
    { label: rung, value: predicted(other.ms) },
    { label: `≤ (${factor} × ${rung})`, value: predicted(other.ms * most) },
  ]
  const figure = {
    ...{ own: formatPredictedMs(own), theirs: formatPredictedMs(other), rung, factor },
    noise: (check.noise * 100).toFixed(1),
  }
  if (holds === null)
    return notHere(
      message('checks.cannotTell', { what: message('checks.predictedTime', figure) }),
      figures,
    )
  return holds
    ? passed(message('checks.fasterPredicted', figure), figures)
    : failed(message('checks.slowerPredicted', figure), figures)
}

function judgeTime(check: TimeCheck, evidence: LabEvidence): Verdict {
  const blocked = cannot(evidence)
  if (blocked) return blocked
  const session = evidence.session!
  const submission = rungOf(session, submissionId)
  const own = submission?.timing
  const other = rungOf(session, check.below.rung)
  const times = submission?.predicted && other?.predicted
  if (times) return judgePredicted(check, submission.predicted!, times)
  const refused = submission?.notPredicted ?? other?.notPredicted
  if (!own && refused) return notHere(refused)
  if (!own) return notHere(message('checks.noTime'))
  if (!other?.timing)
    return notHere(
      message('checks.otherWithoutTime', {
        rung: check.below.rung,
        why: other?.reason ?? message('checks.notMeasured'),
      }),
    )
  const noise = check.noise + own.spread + other.timing.spread
  const limit = other.timing.medianMs * check.below.factor * (1 + noise)
  const ratio = own.medianMs / other.timing.medianMs
  const figures: LabFigure[] = [
    { label: metricLabel('time'), value: measured(own.medianMs, 'ms') },
    { label: check.below.rung, value: measured(other.timing.medianMs, 'ms') },
    { label: `≤ (${check.below.factor} × ${check.below.rung})`, value: derived(limit, 'ms') },
  ]
  const words = message('checks.time', {
    own: formatMs(own.medianMs),
    ratio: ratio.toFixed(3),
    theirs: formatMs(other.timing.medianMs),
    rung: check.below.rung,
    factor: check.below.factor,
    noise: (noise * 100).toFixed(1),
  })
  return own.medianMs <= limit ? passed(words, figures) : failed(words, figures)
}

function judgeStatic(check: StaticCheck, evidence: LabEvidence): Verdict {
  const { build } = evidence
  if (!build) return notHere(evidence.reason ?? message('checks.notBuilt'))
  if (!build.ok || !build.resources) return failed(build.reason ?? message('checks.notCompiled'))
  const { registersPerThread, staticSharedBytes, spillStoreBytes, spillLoadBytes } = build.resources
  if (registersPerThread === null) return failed(message('checks.noKernel'))
  const shared = staticSharedBytes ?? 0
  const spills = (spillStoreBytes ?? 0) + (spillLoadBytes ?? 0)
  const figures: LabFigure[] = [
    { label: metricLabel('registersPerThread'), value: measured(registersPerThread, 'registers') },
    { label: message('checks.staticShared'), value: measured(shared, 'bytes') },
    { label: message('checks.spilled'), value: measured(spills, 'bytes') },
  ]
  const faults = [
    ...(check.maxRegisters !== undefined && registersPerThread > check.maxRegisters
      ? [
          message('part.tooManyRegisters', {
            registers: registersPerThread,
            most: check.maxRegisters,
          }),
        ]
      : []),
    ...(check.maxSharedBytes !== undefined && shared > check.maxSharedBytes
      ? [message('part.tooManyBytes', { bytes: shared, most: check.maxSharedBytes })]
      : []),
    ...(check.noSpills && spills > 0 ? [message('part.spills', { bytes: spills })] : []),
  ]
  return faults.length > 0
    ? failed(message('checks.faults', { faults }), figures)
    : passed(
        message('checks.resources', { registers: registersPerThread, bytes: shared, spills }),
        figures,
      )
}

function judgeCheck(check: LabCheck, evidence: LabEvidence): Verdict {
  switch (check.kind) {
    case 'correctness':
      return judgeCorrectness(check, evidence)
    case 'sanitizer':
      return judgeSanitizer(check, evidence)
    case 'metric':
      return judgeMetric(check, evidence)
    case 'time':
      return judgeTime(check, evidence)
    case 'static':
      return judgeStatic(check, evidence)
  }
}

export const judgeChecks = (lab: Lab, evidence: LabEvidence): CheckResult[] =>
  lab.checks.map((check) => ({
    id: check.id,
    kind: check.kind,
    title: checkTitle(check),
    figures: [],
    ...judgeCheck(check, evidence),
  }))

/** Returns the time or a registry metric of a rung, with its unit and origin. */
export function figureOf(rung: RungResult | undefined, metric: string): MetricValue {
  if (metric === 'time')
    return rung?.timing
      ? measured(rung.timing.medianMs, 'ms')
      : unavailable('ms', rung?.reason ?? message('checks.noTime'))
  return (
    rung?.metrics[metric] ??
    unavailable(
      metricDefinition(metric)?.unit ?? '×',
      rung?.reason ?? message('checks.notCollected'),
    )
  )
}
