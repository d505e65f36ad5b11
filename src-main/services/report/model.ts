/**
 * A report's content before it is formatted. All text is scrubbed, and every value has its unit and
 * evidence. The same session always yields the same model, regardless of when and where the model
 * is created.
 */
import { metricDefinitions, cardMetricIds, type MetricValue } from '../../domain/metrics/metrics'
import { rungOf, type Session, type RungResult } from '../../domain/session/session'
import {
  formatValue,
  formatMs,
  formatPercent,
  formatRatio,
  type Unit,
} from '../../domain/metrics/units'
import { message, type Statement } from '../../domain/messages/message'
import type { ReportSection } from '../../domain/report/frozen-report'
import { countedColumns, hasTimes } from '../../domain/analysis/table-columns'
import { leadMetric, leadText } from '../../domain/analysis/lead-figure'
import { stepWords } from '../../domain/analysis/climb'
import { timeNotes } from '../../domain/analysis/time-notes'
import {
  can,
  gpuOfTarget,
  isBuiltOnly,
  isEmulated,
  isPredicted,
} from '../../domain/targets/targets'
import { inEnglish } from '../../domain/text/english'
import { headline, printedProvenance, type PrintedFact } from '../../domain/report/provenance'
import { firstStep, firstStepWords } from '../../domain/next/first-step'
import type { Next } from '../../domain/next/next'
import { scrubNext } from './scrub-next'
import { scrubSession, type Scrubber } from './scrub'
import {
  halfSpread,
  printedSummary,
  stepsOf,
  type PrintedSummary,
  type Step,
} from '../../domain/report/summary'
import { rangeGroups } from '../../domain/programs/range-groups'
import { shareOfTotal, totalProfiledMs } from '../../domain/programs/profiled-time'
import type { Drawing } from '../../domain/report/chart-drawings'
import { asCompiled } from '../../domain/ladder/rung'
import { diffBelowHeaders, diffSources, type Hunk } from '../compare/source-diff'
import { publishedFigures, type PublishedFigures } from './published-figures'

/**
 * A formatted figure. `note` is the 1-based index of the model's note that explains a missing
 * value.
 */
export interface Figure {
  text: string
  evidence: MetricValue['evidence']
  note?: number
}

export interface LadderRow {
  rung: RungResult
  isReference: boolean
  time: Figure
  spread: Figure
  throughput: Figure
  /** Reference time, measured alternately with the rung. */
  beside: Figure
  /** Reference time divided by the rung's time. */
  ratio: Figure
  /**
   * Speedup over the rung on which this rung builds. The text names that rung unless it is in the
   * row above.
   */
  step: Figure
  /**
   * Time per launch in a burst, and its ratio to the reference's time. Absent if the run timed no
   * bursts.
   */
  burst?: { time: Figure; ratio: Figure }
  /**
   * Measurements for several seconds of back-to-back launches. Absent if the run timed no sustained
   * launches.
   */
  sustained?: { time: Figure; ratio: Figure; clock: Figure; power: Figure }
  /** A kernel's times under ncu. Absent unless the session contains kernels instead of rungs. */
  kernel?: { time: Figure; share: Figure; launches: Figure; median: Figure }
  /** Metric values, in the same order as the model's metrics. */
  metrics: Figure[]
  /**
   * Counted metric values, shown instead of times, in the same order as the model's counted
   * metrics.
   */
  counted: Figure[]
  /** NVTX ranges that contain the kernel's launches. */
  range?: string
}

export interface ReportStep extends Step {
  /**
   * Returns the source diff below the headers. The report lists header changes separately. Returns
   * null if the source of either rung is missing.
   */
  hunks(context?: number): Hunk[] | null
}

export interface ReportModel {
  /** The scrubbed session, as the JSON printer writes it. */
  session: Session
  /** Sections in addition to the summary and the provenance. */
  sections: readonly ReportSection[]
  title: string
  /** Description of what was measured. Null unless the author chose the title. */
  subject: string | null
  /** Paragraphs written by the author. */
  authorNotes: readonly string[]
  /** Names of the chosen charts, or null for the defaults. */
  charts: readonly string[] | null
  /** Captions by chart name. */
  captions: Readonly<Record<string, string>>
  drawn: ReadonlyMap<string, Drawing>
  /** The report's date, or null if the user gave no date. */
  date: string | null
  summary: PrintedSummary
  metrics: { id: string; label: string; isAbsent: boolean }[]
  /** Metrics that replace times if nothing was timed. */
  counted: { id: string; label: string }[]
  rows: LadderRow[]
  notes: string[]
  /** Notes about a rung's time, such as `02_tile: did not settle, at the power cap`. */
  timeNotes: { rung: string; text: string }[]
  /** Metrics that have no value for any rung, each with the first recorded reason. */
  absent: { label: string; reason: string }[]
  /** Published results, or null if the ladder's author published no results. */
  published: PublishedFigures | null
  steps: ReportStep[]
  troubles: RungResult[]
  /** Advice without data that identifies a machine or a person, in rung order. */
  next: Next[]
  facts: PrintedFact[]
}

/** The author's choices for a report, and the rendered charts. */
export interface Authored {
  title?: string
  /** The author's paragraphs. */
  notes?: readonly string[]
  /** Names of the charts (default: a few common charts). */
  charts?: readonly string[]
  /** Captions by chart name. */
  captions?: Readonly<Record<string, string>>
  /** Charts that the Charts screen drew, by name. */
  drawn?: ReadonlyMap<string, Drawing>
}

export interface ReportInput {
  session: Session
  /** Source text by rung id. */
  sources: Readonly<Record<string, string>>
  /** Advice by rung id. */
  next?: Readonly<Record<string, Next>>
  scrub: Scrubber
  sections: readonly ReportSection[]
  date: string | null
  authored?: Authored
}

export const dash = '–'

/** Text to show if a session gives no reason. */
export const noReason = 'No reason was recorded.'

/** Whether a session contains kernels that ncu timed one by one. */
const isOfKernels = (session: Session): boolean =>
  !can(session.target).knowsRun && totalProfiledMs(session) !== null

function kernelFigures(rung: RungResult, total: number): NonNullable<LadderRow['kernel']> {
  const { profiledTime: time } = rung
  const share = shareOfTotal(rung, total)
  const figure = (text: string | undefined, evidence: Figure['evidence'] = 'measured'): Figure =>
    text === undefined ? { text: dash, evidence: 'unavailable' } : { text, evidence }
  return {
    time: figure(time && formatMs(time.totalMs)),
    share: figure(share === null ? undefined : formatPercent(100 * share), 'derived'),
    launches: figure(time && `${time.launches}`),
    median: figure(time && formatMs(time.medianMs)),
  }
}

/** Returns the legend for the marks in a table. Every format prints the legend below the table. */
export const legendOf = (session: Session): string =>
  isPredicted(session.target)
    ? 'Times and figures marked ◇ are predicted by a model, with the range of its error; nothing was measured. Figures without a mark are counted by an emulator that executes the machine code. ○ is derived. – is not available.'
    : isEmulated(session.target)
      ? 'Figures without a mark are counted by an emulator that executes the machine code; nothing was timed. ○ is derived from the build, the launch and counted figures. – is not available.'
      : isOfKernels(session)
        ? 'Figures without a mark are measured by ncu, launch by launch (GPU time: the sum over the launches). ○ is derived from measured figures. – is not available.'
        : `Figures without a mark are measured (times: CUDA events, the median${cacheWords(session)}; counters: ncu). ○ is derived from measured figures. – is not available. ± is half the interquartile range over the median.`

const cacheWords = ({ settings: { cacheState } }: Session): string =>
  cacheState ? `, L2 ${inEnglish(message(`cacheState.${cacheState}`))}` : ''

/**
 * Returns the word that precedes the report date. The word depends on how the results were
 * obtained.
 */
export const madeWord = (session: Session): string =>
  isBuiltOnly(session.target)
    ? 'built'
    : isPredicted(session.target)
      ? 'predicted'
      : isEmulated(session.target)
        ? 'emulated'
        : 'measured'

/** Returns a phrase such as `on NVIDIA H200` or `emulated on H200`. */
export function placeWords({ device, target }: Session): string {
  const gpu = device?.name ?? gpuOfTarget(target)?.name ?? 'no GPU'
  if (device) return `on ${gpu}`
  if (isPredicted(target)) return `predicted for ${gpu}`
  if (isEmulated(target)) return `emulated on ${gpu}`
  return `${isBuiltOnly(target) ? 'built for' : 'on'} ${gpu}`
}

/**
 * Adds the unit to a label. A count gets no unit if its label already names the counted objects.
 */
export const withUnit = (label: string, unit: Unit): string =>
  ['inst', 'wavefronts', 'conflicts'].includes(unit) && !label.toLowerCase().includes(unit)
    ? `${label} (${unit})`
    : label

/**
 * Returns the metrics that at least one rung has. The leading metric and the card-level metrics
 * come first, followed by other metrics in registry order and then unknown metrics.
 */
function metricsOf(session: Session): { id: string; label: string }[] {
  const { rungs } = session
  const leads = leadMetric(session)
  const present = new Set(rungs.flatMap(({ metrics }) => Object.keys(metrics)))
  const known = metricDefinitions.filter(({ id }) => present.has(id))
  const isCard = (id: string): boolean => id === leads || cardMetricIds.some((card) => card === id)
  const ordered = [
    ...known.filter(({ id }) => isCard(id)),
    ...known.filter(({ id }) => !isCard(id)),
  ].map(({ id, label, unit }) => ({ id, label: withUnit(label, unit) }))
  const unknown = [...present].filter((id) => !known.some((metric) => metric.id === id)).sort()
  return [...ordered, ...unknown.map((id) => ({ id, label: id }))]
}

export function buildReport(input: ReportInput): ReportModel {
  const { scrub, authored = {} } = input
  const {
    title,
    notes: authorNotes = [],
    charts = null,
    captions = {},
    drawn = new Map(),
  } = authored
  const session = scrubSession(input.session, scrub.sentence)
  const notes: string[] = []
  const noteNumber = (reason: string): number => {
    if (!notes.includes(reason)) notes.push(reason)
    return notes.indexOf(reason) + 1
  }
  const absent = (reason?: Statement): Figure => ({
    text: dash,
    evidence: 'unavailable',
    ...(reason ? { note: noteNumber(inEnglish(reason)) } : {}),
  })
  const metricFigure = (value: MetricValue | undefined): Figure => {
    if (value?.value == null) return absent(value?.reason)
    return { text: formatValue(value.value, value.unit), evidence: value.evidence }
  }
  const metrics = metricsOf(session).map((metric) => ({
    ...metric,
    isAbsent: session.rungs.every(({ metrics: own }) => own[metric.id]?.value == null),
  }))
  const counted = hasTimes(session)
    ? []
    : countedColumns(session).flatMap((id) => metrics.filter((metric) => metric.id === id))
  const has = (way: 'burst' | 'sustained'): boolean =>
    session.rungs.some(({ timing }) => timing?.[way])
  const [bursts, sustained] = [has('burst'), has('sustained')]
  const kernelsMs = isOfKernels(session) ? totalProfiledMs(session) : null
  const row = (rung: RungResult): LadderRow => {
    const { timing } = rung
    const isReference = rung.id === session.ladder.reference
    const figure = (evidence: 'measured' | 'derived', text: string | null | undefined): Figure =>
      text == null ? absent() : { text, evidence }
    const timeFigure = (ms: number | null | undefined): Figure =>
      figure('measured', ms == null ? null : formatMs(ms))
    const ratioFigure = (ratio: number | null | undefined): Figure =>
      figure('derived', ratio == null ? null : formatRatio(ratio))
    const wholeFigure = (value: number | null | undefined, unit: string): Figure =>
      figure('measured', value == null ? null : `${value.toFixed(0)} ${unit}`)
    const step = stepWords(session, rung)
    return {
      rung,
      isReference,
      time: timeFigure(timing?.medianMs),
      spread: figure('derived', timing && halfSpread(timing.spread)),
      throughput: figure('derived', leadText(session, rung) || null),
      beside: timeFigure(isReference ? null : timing?.referenceMedianMs),
      ratio: ratioFigure(timing?.ratioToReference),
      step: figure('derived', step && inEnglish(step)),
      ...(kernelsMs === null ? {} : { kernel: kernelFigures(rung, kernelsMs) }),
      ...(bursts
        ? {
            burst: {
              time: timeFigure(timing?.burst?.medianMs),
              ratio: ratioFigure(timing?.burst?.ratioToReference),
            },
          }
        : {}),
      ...(sustained
        ? {
            sustained: {
              time: timeFigure(timing?.sustained?.medianMs),
              ratio: ratioFigure(timing?.sustained?.ratioToReference),
              clock: wholeFigure(timing?.sustained?.smClockMHz, 'MHz'),
              power: wholeFigure(timing?.sustained?.powerW, 'W'),
            },
          }
        : {}),
      // If no rung has a metric, list the metric once instead of repeating the reason in each cell.
      metrics: metrics.map(({ id, isAbsent }) =>
        isAbsent ? absent() : metricFigure(rung.metrics[id]),
      ),
      counted: counted.map(({ id }) => metricFigure(rung.metrics[id])),
    }
  }
  const groups = rangeGroups(session)
  const steps = stepsOf(session)
  const subject = `${inEnglish(headline(session))}${session.device ? ' ' : ', '}${placeWords(session)}`
  const source = (id: string): string | undefined => input.sources[id]
  return {
    session,
    sections: input.sections,
    title: title ?? subject,
    subject: title === undefined ? null : subject,
    authorNotes,
    charts,
    captions,
    drawn,
    date: input.date,
    summary: printedSummary(session, steps),
    metrics,
    counted,
    rows:
      groups?.flatMap(({ title: range, rungs }) =>
        rungs.map((rung) => ({ ...row(rung), ...(range === null ? {} : { range }) })),
      ) ?? session.rungs.map(row),
    notes,
    timeNotes: session.rungs.flatMap(({ id, timing }) => {
      const found = timing ? timeNotes(timing) : []
      return found.length === 0 ? [] : [{ rung: id, text: found.map(inEnglish).join(', ') }]
    }),
    absent: metrics
      .filter(({ isAbsent }) => isAbsent)
      .map(({ id, label }) => {
        const reasons = session.rungs.flatMap(({ metrics: own }) => own[id]?.reason ?? [])
        return { label, reason: inEnglish(reasons[0] ?? noReason) }
      }),
    published: publishedFigures(session),
    steps: steps.map((step) => {
      const [a, b] = [source(step.from.id), source(step.to.id)]
      return {
        ...step,
        hunks: (context) =>
          a === undefined || b === undefined
            ? null
            : step.from.file === step.to.file
              ? diffSources(
                  asCompiled(scrub.source(a), step.from.params),
                  asCompiled(scrub.source(b), step.to.params),
                  context,
                )
              : diffBelowHeaders(scrub.source(a), scrub.source(b), context),
      }
    }),
    troubles: session.rungs.filter(({ status }) => status !== 'ok'),
    next: session.rungs.flatMap(({ id }) => {
      const next = input.next?.[id]
      return next ? [scrubNext(next, scrub)] : []
    }),
    facts: printedProvenance(session),
  }
}

/** Formats a diagnostic with its location, such as `gemm/01_naive.cu:12: error: …`. */
export const diagnosticLine = ({
  severity,
  file,
  line,
  message,
}: RungResult['diagnostics'][number]): string =>
  `${file === null ? '' : `${file}${line === null ? '' : `:${line}`}: `}${severity}: ${message}`

/** Returns the first step of each rung's advice as text. */
export const firstStepLines = ({ session, next }: ReportModel): { rung: string; text: string }[] =>
  next.map((one) => ({
    rung: one.rung,
    text: firstStepWords(firstStep(session, rungOf(session, one.rung)!, one)),
  }))
