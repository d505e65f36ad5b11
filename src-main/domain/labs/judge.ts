/** Judges an attempt by what was measured of it. Pure: the same evidence gives the same outcome. */
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
import { metricDefinition, unavailable, type MetricValue } from '../metrics'
import { problemLabel, type Problem } from '../problem'
import { rungOf, type Build, type RungResult, type Session } from '../session'
import { formatMs, formatValue, type Unit } from '../units'

/** The submission's id among the rungs of its session. */
export const submissionId = 'submission'

/** What one tool of compute-sanitizer came to. */
export interface SanitizerVerdict {
  tool: string
  status: 'clean' | 'found' | 'failed' | 'unsupported' | 'not-run'
  reason?: string | undefined
  /** Errors, warnings or hazards; null where the tool printed no count. */
  total: number | null
  findings: readonly { place: { line: number | null }; message: string }[]
}

export interface LabEvidence {
  /** null where nothing could be measured, for `reason`. */
  session: Session | null
  reason: string | null
  /** What the compiler said; null where it was not asked. */
  build: { resources: Build | null; ok: boolean; reason: string | null } | null
  /** By id of the sanitizer check: what each of its tools came to, or why none ran. */
  sanitized: Readonly<Record<string, readonly SanitizerVerdict[] | { reason: string }>>
}

interface Verdict {
  status: CheckResult['status']
  sentence: string
  figures?: LabFigure[]
}

const passed = (sentence: string, figures: LabFigure[] = []): Verdict => ({
  status: 'passed',
  sentence,
  figures,
})
const failed = (sentence: string, figures: LabFigure[] = []): Verdict => ({
  status: 'failed',
  sentence,
  figures,
})
const notHere = (sentence: string): Verdict => ({ status: 'unavailable', sentence })

const measured = (value: number, unit: Unit): MetricValue => ({ value, unit, evidence: 'measured' })
const derived = (value: number, unit: Unit): MetricValue => ({ value, unit, evidence: 'derived' })

const sizes = (all: readonly Pick<Problem, 'm' | 'n' | 'k'>[]): string =>
  all.map(problemLabel).join(', ')

export const metricLabel = (metric: string): string =>
  metric === 'time' ? 'Time' : (metricDefinition(metric)?.label ?? metric)

/** What a check asks for, where its author gave it no title. */
export function checkTitle(check: LabCheck): string {
  if (check.title !== undefined) return check.title
  switch (check.kind) {
    case 'correctness':
      return `Right at ${sizes(check.sizes)}`
    case 'sanitizer':
      return `compute-sanitizer finds nothing (${check.tools.join(', ')})`
    case 'metric':
      return metricLabel(check.metric)
    case 'time':
      return `At most ${check.below.factor} times the time of ${check.below.rung}`
    case 'static':
      return [
        ...(check.maxRegisters === undefined ? [] : [`At most ${check.maxRegisters} registers`]),
        ...(check.maxSharedBytes === undefined
          ? []
          : [`at most ${check.maxSharedBytes} bytes of shared memory`]),
        ...(check.noSpills ? ['no spills'] : []),
      ].join(', ')
  }
}

/** Why the submission has no figures though the machine could have taken them; null when it has. */
function ownFault(evidence: LabEvidence): string | null {
  if (evidence.build && !evidence.build.ok) return evidence.build.reason ?? 'It does not compile.'
  const own = evidence.session && rungOf(evidence.session, submissionId)
  if (!own || own.status === 'ok' || own.status === 'unsupported' || own.status === 'not-run')
    return null
  return own.reason ?? 'It failed.'
}

/** Why there is nothing to judge; null where the submission ran. */
function cannot(evidence: LabEvidence): Verdict | null {
  const fault = ownFault(evidence)
  if (fault !== null) return failed(fault)
  const own = evidence.session && rungOf(evidence.session, submissionId)
  if (!own) return notHere(evidence.reason ?? 'Nothing was measured.')
  if (own.status === 'unsupported' || own.status === 'not-run')
    return notHere(own.reason ?? 'It did not run.')
  return null
}

function judgeCorrectness(check: CorrectnessCheck, evidence: LabEvidence): Verdict {
  if (evidence.build && !evidence.build.ok)
    return failed(evidence.build.reason ?? 'It does not compile.')
  const own = evidence.session && rungOf(evidence.session, submissionId)
  if (!own || own.status === 'unsupported' || own.status === 'not-run')
    return notHere(own?.reason ?? evidence.reason ?? 'Nothing was measured.')
  const asked = check.sizes.map((size) => {
    const done = own.alsoVerified?.find(
      ({ problem }) =>
        problem.m === size.m &&
        problem.n === size.n &&
        problem.k === size.k &&
        problem.alpha === check.alpha &&
        problem.beta === check.beta,
    )
    return { label: problemLabel(size), done }
  })
  const worst = Math.max(...asked.map(({ done }) => done?.verify?.worstRelativeError ?? 0))
  const wrong = asked.find(({ done }) => done && !done.verify?.passed)
  if (wrong) return failed(`At ${wrong.label}: ${wrong.done?.reason ?? 'the result is wrong.'}`)
  const open = asked.filter(({ done }) => !done)
  const fault = ownFault(evidence)
  if (open.length > 0 && fault !== null) return failed(fault)
  if (open.length > 0)
    return notHere(`It was not run at ${open.map(({ label }) => label).join(', ')}.`)
  return passed(
    `Right at ${sizes(check.sizes)}; the worst relative error is ${worst.toPrecision(2)}.`,
  )
}

function judgeSanitizer(check: SanitizerCheck, evidence: LabEvidence): Verdict {
  if (evidence.build && !evidence.build.ok)
    return failed(evidence.build.reason ?? 'It does not compile.')
  const sanitized = evidence.sanitized[check.id]
  if (!sanitized) {
    const fault = ownFault(evidence)
    return fault === null
      ? notHere(evidence.reason ?? 'compute-sanitizer did not run.')
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
    const place =
      first?.place.line == null ? '' : ` The first is in line ${first.place.line}: ${first.message}`
    return failed(`${found.tool} counts ${found.run.total ?? found.run.findings.length}.${place}`)
  }
  const silent = runs.find(({ run }) => run?.status !== 'clean')
  if (silent)
    return notHere(`${silent.tool} came to no verdict: ${silent.run?.reason ?? 'it did not run.'}`)
  return passed(`${check.tools.join(', ')}: nothing found.`)
}

interface Bound {
  sign: '≤' | '≥'
  limit: number
  /** Where the limit comes from. */
  from: string
}

function boundsOf(check: MetricCheck, session: Session): Bound[] | { missing: string } {
  const bounds: Bound[] = []
  if (check.max !== undefined) bounds.push({ sign: '≤', limit: check.max, from: '' })
  if (check.min !== undefined) bounds.push({ sign: '≥', limit: check.min, from: '' })
  for (const [bound, sign] of [
    [check.below, '≤'],
    [check.above, '≥'],
  ] as const) {
    if (!bound) continue
    const value = rungOf(session, bound.rung)?.metrics[check.metric]
    if (value?.value == null)
      return {
        missing: `${bound.rung} has no figure to compare with: ${value?.reason ?? 'it was not measured.'}`,
      }
    const from = bound.factor === 1 ? bound.rung : `${bound.factor} × ${bound.rung}`
    bounds.push({ sign, limit: value.value * bound.factor, from: ` (${from})` })
  }
  return bounds
}

function judgeMetric(check: MetricCheck, evidence: LabEvidence): Verdict {
  const blocked = cannot(evidence)
  if (blocked) return blocked
  const session = evidence.session!
  const value = rungOf(session, submissionId)?.metrics[check.metric]
  const label = metricLabel(check.metric)
  if (value?.value == null) return notHere(`${label}: ${value?.reason ?? 'it was not collected.'}`)
  const bounds = boundsOf(check, session)
  if ('missing' in bounds) return notHere(bounds.missing)
  const shown = (limit: number): string => formatValue(limit, value.unit)
  const figures: LabFigure[] = [
    { label, value },
    ...bounds.map(({ sign, limit, from }) => ({
      label: `${sign}${from}`,
      value: derived(limit, value.unit),
    })),
  ]
  const broken = bounds.find(({ sign, limit }) =>
    sign === '≤' ? value.value! > limit : value.value! < limit,
  )
  return broken
    ? failed(
        `${label}: ${shown(value.value)}; it has to be ${broken.sign} ${shown(broken.limit)}${broken.from}.`,
        figures,
      )
    : passed(
        `${label}: ${shown(value.value)}, ${bounds.map(({ sign, limit, from }) => `${sign} ${shown(limit)}${from}`).join(' and ')}.`,
        figures,
      )
}

function judgeTime(check: TimeCheck, evidence: LabEvidence): Verdict {
  const blocked = cannot(evidence)
  if (blocked) return blocked
  const session = evidence.session!
  const own = rungOf(session, submissionId)?.timing
  const other = rungOf(session, check.below.rung)
  if (!own) return notHere('It has no time.')
  if (!other?.timing)
    return notHere(`${check.below.rung} has no time: ${other?.reason ?? 'it was not measured.'}`)
  const noise = check.noise + own.spread + other.timing.spread
  const limit = other.timing.medianMs * check.below.factor * (1 + noise)
  const ratio = own.medianMs / other.timing.medianMs
  const figures: LabFigure[] = [
    { label: 'Time', value: measured(own.medianMs, 'ms') },
    { label: check.below.rung, value: measured(other.timing.medianMs, 'ms') },
    { label: `≤ (${check.below.factor} × ${check.below.rung})`, value: derived(limit, 'ms') },
  ]
  const words = `${formatMs(own.medianMs)}, ${ratio.toFixed(3)} times the ${formatMs(other.timing.medianMs)} of ${check.below.rung}; asked for is ${check.below.factor}, with ${(noise * 100).toFixed(1)} % for noise.`
  return own.medianMs <= limit ? passed(words, figures) : failed(words, figures)
}

function judgeStatic(check: StaticCheck, evidence: LabEvidence): Verdict {
  const { build } = evidence
  if (!build) return notHere(evidence.reason ?? 'It was not built.')
  if (!build.ok || !build.resources) return failed(build.reason ?? 'It does not compile.')
  const { registersPerThread, staticSharedBytes, spillStoreBytes, spillLoadBytes } = build.resources
  if (registersPerThread === null) return failed('The file holds no kernel.')
  const shared = staticSharedBytes ?? 0
  const spills = (spillStoreBytes ?? 0) + (spillLoadBytes ?? 0)
  const figures: LabFigure[] = [
    { label: 'Registers per thread', value: measured(registersPerThread, 'registers') },
    { label: 'Static shared memory', value: measured(shared, 'bytes') },
    { label: 'Spills', value: measured(spills, 'bytes') },
  ]
  const faults = [
    ...(check.maxRegisters !== undefined && registersPerThread > check.maxRegisters
      ? [`${registersPerThread} registers a thread, where ${check.maxRegisters} are allowed`]
      : []),
    ...(check.maxSharedBytes !== undefined && shared > check.maxSharedBytes
      ? [`${shared} bytes of static shared memory, where ${check.maxSharedBytes} are allowed`]
      : []),
    ...(check.noSpills && spills > 0
      ? [`registers spill to local memory (${spills} bytes of stores and loads)`]
      : []),
  ]
  return faults.length > 0
    ? failed(`It has ${faults.join('; ')}.`, figures)
    : passed(
        `${registersPerThread} registers a thread, ${shared} bytes of static shared memory, ${spills} bytes of spills.`,
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

/** Time or a registry metric of a rung, with its unit and origin. */
export function figureOf(rung: RungResult | undefined, metric: string): MetricValue {
  if (metric === 'time')
    return rung?.timing
      ? measured(rung.timing.medianMs, 'ms')
      : unavailable('ms', rung?.reason ?? 'It has no time.')
  return (
    rung?.metrics[metric] ??
    unavailable(metricDefinition(metric)?.unit ?? '×', rung?.reason ?? 'It was not collected.')
  )
}
