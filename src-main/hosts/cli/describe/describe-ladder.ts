/** Prints a session as terminal text. */
import { isTimedTogether } from '../../../domain/programs/profiled-time'
import {
  type RungResult,
  type Session,
  type BurstTiming,
  type SustainedTiming,
  type Timing,
} from '../../../domain/session/session'
import { ratioWarnings } from '../../../domain/analysis/comparability'
import { climbOf, stepWords } from '../../../domain/analysis/climb'
import { claimWords } from '../../../domain/analysis/library-claim'
import { ownGpuMs, timeNotes } from '../../../domain/analysis/time-notes'
import { message } from '../../../domain/messages/message'
import { countedColumns, hasTimes } from '../../../domain/analysis/table-columns'
import {
  leadFigure,
  leadMetric,
  leadOf,
  rateText,
  shareText,
} from '../../../domain/analysis/lead-figure'
import { inEnglish } from '../../../domain/text/english'
import { cardMetricIds, metricDefinition, type MetricValue } from '../../../domain/metrics/metrics'
import { named, problemWord } from '../../../domain/task/problem'
import { can, gpuOfTarget, kindOf } from '../../../domain/targets/targets'
import { formatMs, formatRatio, formatValue } from '../../../domain/metrics/units'
import { table, type Column } from '../table'
import { metric, none } from './figure'
import { columnFor } from '../../../domain/session/noisy-counters'
import { describeDiagnostics, describeWarnings } from './describe-errors'
import { describePublished } from './describe-published'
import {
  hasPredictions,
  predictedColumns,
  predictedEvidence,
  refusedLines,
} from './describe-predicted'

const passesWord = (passes: number): string => `${passes} ${passes === 1 ? 'pass' : 'passes'}`

/** Formats a metric without its unit, because the column header already contains the unit. */
const bareMetric = (value: MetricValue | undefined): string =>
  metric(value).replace(/ (waves|sectors)$/, '')

/** Short column headers. */
export const metricHeaders: Readonly<Record<string, string>> = {
  wavesPerSm: 'waves/SM',
  theoreticalOccupancy: 'occ. theor.',
  achievedOccupancy: 'occ. achvd.',
  sharedLoads: 'shared lds',
  fmaUtilization: 'FMA pipe',
  tensorUtilization: 'tensor pipe',
  dramUtilization: 'DRAM busy',
  sharedLoadBankConflicts: 'confl. ld',
  sharedStoreBankConflicts: 'confl. st',
  sharedLoadStructuralConflicts: 'struct. ld',
  sharedStoreStructuralConflicts: 'struct. st',
  instructions: 'instr.',
  ffmaShare: 'FFMA',
  integerShare: 'integer',
  memoryShare: 'memory',
  controlShare: 'control',
  sharedLoadWavefronts: 'wavefr. ld',
  globalLoadSectorsPerRequest: 'sect./req.',
}

/** Describes in one line how the figures were obtained. */
export function describeOrigin(session: Session): string {
  const { device, settings, target } = session
  const { problem } = session
  const known = gpuOfTarget(target)
  const gpu = device
    ? `${device.name}, cc ${device.computeCapability}, driver ${device.driver ?? 'unknown'}${settings.gpu === undefined ? '' : `, GPU ${settings.gpu}`}`
    : known
      ? null
      : isTimedTogether(session)
        ? 'GPU not named'
        : 'no GPU'
  const { host } = session
  const place =
    known?.name ??
    (host?.job == null ? target.name : `${target.name} (${host.name}, job ${host.job})`)
  const origin = kindOf(target).origin(place, session.createdAt)
  const at = problem
    ? ` at ${[problemWord(problem), named(problem.scalars)].filter(Boolean).join(', ')}`
    : ''
  return [`${session.ladder.title}${at}`, gpu, origin].filter((part) => part !== null).join(' · ')
}

/**
 * Returns the throughput columns. For a memory-bound task, the columns show bytes per second and
 * the percentage of the memory bandwidth.
 */
function leadColumns(session: Session): Column<RungResult>[] {
  const lead = leadOf(session)
  const figure = (rung: RungResult) => leadFigure(session, rung, lead)
  return [
    { header: 'throughput', cell: (rung) => rateText(figure(rung)) || none },
    ...(lead.of === 'bytes' && lead.roof.value.value !== null
      ? [{ header: 'of DRAM', cell: (rung: RungResult) => shareText(figure(rung)) || none }]
      : []),
  ]
}

/**
 * Returns the metrics to show as columns. With times, returns the card-profile metrics, but the
 * utilization of the unit that bounds the task replaces the FMA utilization. Without times, returns
 * the counted metrics.
 */
const countersOf = (session: Session): readonly string[] =>
  hasTimes(session)
    ? cardMetricIds
        .map((id) => (id === 'fmaUtilization' ? leadMetric(session) : columnFor(id, session.rungs)))
        .filter((id) => session.rungs.some(({ metrics }) => metrics[id]?.value != null))
    : countedColumns(session)

/** Returns a note about the bandwidth that the percentages are relative to. */
function leadEvidence(session: Session): string[] {
  const { of, roof } = leadOf(session)
  const { value, unit } = roof.value
  if (of === 'operations' || value === null) return []
  return [
    `throughput: the minimum bytes of a launch over the time; of DRAM: its share of ${formatValue(value, unit)}, ${roof.value.evidence === 'measured' ? 'as measured in this run' : 'as derived from the clocks of the GPU'}`,
  ]
}

/**
 * Returns a note that states which value the errors are relative to. The reference value depends on
 * the task's check.
 */
function errorEvidence({ ladder: { task } }: Session): string {
  const checks = Object.values(task?.check ?? {})
  if (checks.every((check) => 'scale' in check))
    return 'error column: maximum error against FP64, relative to the scale of its rounding errors'
  return checks.some((check) => 'scale' in check)
    ? 'error column: maximum error, relative to the scale of its rounding errors or to the expected value'
    : 'error column: maximum error, relative to the expected value'
}

const burstOf = ({ rungs }: Session): BurstTiming | undefined =>
  rungs.find(({ timing }) => timing?.burst)?.timing?.burst

const sustainedOf = ({ rungs }: Session): SustainedTiming | undefined =>
  rungs.find(({ timing }) => timing?.sustained)?.timing?.sustained

const ratioCell = (ratio: number | null | undefined): string =>
  ratio == null ? none : formatRatio(ratio)

const timeCell = (ms: number | null | undefined): string => (ms == null ? none : formatMs(ms))

const wholeCell = (value: number | null | undefined, unit: string): string =>
  value == null ? none : `${value.toFixed(0)} ${unit}`

type TimeCell = (timing: Timing | null) => string

/** Returns the columns for bursts and sustained launches if the run timed any. */
function otherWays(session: Session): Column<RungResult>[] {
  const column = (header: string, cell: TimeCell): Column<RungResult> => ({
    header,
    cell: ({ timing }) => cell(timing),
  })
  return [
    ...(burstOf(session)
      ? [
          column('burst', (timing) => timeCell(timing?.burst?.medianMs)),
          column('burst to ref.', (timing) => ratioCell(timing?.burst?.ratioToReference)),
        ]
      : []),
    ...(sustainedOf(session)
      ? [
          column('sustained', (timing) => timeCell(timing?.sustained?.medianMs)),
          column('sust. to ref.', (timing) => ratioCell(timing?.sustained?.ratioToReference)),
          column('clock', (timing) => wholeCell(timing?.sustained?.smClockMHz, 'MHz')),
          column('power', (timing) => wholeCell(timing?.sustained?.powerW, 'W')),
        ]
      : []),
  ]
}

function otherWaysEvidence(session: Session): string[] {
  const [burst, sustained] = [burstOf(session), sustainedOf(session)]
  return [
    ...(burst
      ? [`burst: one launch of ${burst.launches} in a row, after ${burst.restSeconds} s of rest`]
      : []),
    ...(sustained
      ? [`sustained: each rung runs by itself for ${sustained.seconds} s, L2 warm`]
      : []),
  ]
}

/** Describes how times were measured, and how much launch overhead short times contain. */
function timeEvidence(session: Session): string[] {
  const { cacheState } = session.settings
  const state = cacheState ? `, L2 ${inEnglish(message(`cacheState.${cacheState}`))}` : ''
  const timings = session.rungs.flatMap(({ timing }) => timing ?? [])
  const short = timings.find((timing) => ownGpuMs(timing) !== null)
  return [
    `times: CUDA events, median${state}; ± half the interquartile range`,
    ...(timings.some(({ referenceMedianMs }) => referenceMedianMs !== null)
      ? [
          'ref. beside: time of the reference, interleaved with the rung; to ref.: speedup over that time',
        ]
      : []),
    ...(short?.emptyMs == null
      ? []
      : [
          `each time includes ${formatMs(short.emptyMs)} that pass between the events even without a kernel; GPU: time on the GPU alone, from CUPTI`,
        ]),
  ]
}

const timeColumns = (session: Session): Column<RungResult>[] => [
  { header: 'time', cell: ({ timing }) => timeCell(timing?.medianMs) },
  {
    header: '±',
    cell: ({ timing }) => (timing ? `${(timing.spread * 50).toFixed(1)}%` : none),
  },
  ...leadColumns(session),
  ...(session.rungs.some(({ timing }) => timing?.referenceMedianMs != null)
    ? [
        {
          header: 'ref. beside',
          cell: ({ timing }: RungResult) => timeCell(timing?.referenceMedianMs),
        },
        {
          header: 'to ref.',
          cell: ({ timing }: RungResult) => ratioCell(timing?.ratioToReference),
        },
      ]
    : []),
  ...otherWays(session),
  { header: 'step', cell: (rung) => stepCell(session, rung) },
  ...(session.rungs.some(({ timing }) => timing && timeNotes(timing).length > 0)
    ? [
        {
          header: 'note',
          align: 'left',
          cell: ({ timing }: RungResult) =>
            timing ? timeNotes(timing).map(inEnglish).join(', ') : '',
        } as const,
      ]
    : []),
]

/**
 * Returns a column with the build options that some rungs lack. Returns no column if all rungs have
 * the same build options.
 */
export function buildColumn({ rungs }: Session): Column<RungResult>[] {
  const own = ({ buildWords = [] }: RungResult): string =>
    buildWords.filter((word) => !rungs.every((rung) => rung.buildWords?.includes(word))).join(' ')
  return rungs.some((rung) => own(rung) !== '')
    ? [{ header: 'built with', align: 'left', cell: (rung) => own(rung) || none }]
    : []
}

/**
 * Returns the speedup over the previous rung in the chain. Names the previous rung unless it is in
 * the row above.
 */
const stepCell = (session: Session, rung: RungResult): string =>
  inEnglish(stepWords(session, rung) ?? none)

/** Describes the total speedup over the steps of one chain. */
function climbLine(session: Session): string[] {
  const climb = climbOf(session)
  return climb
    ? [`climb: ${formatRatio(climb.factor)}, ${climb.rungs.map(({ id }) => id).join(' → ')}`]
    : []
}

export function describeSession(session: Session): string {
  const columns: Column<RungResult>[] = [
    { header: 'rung', align: 'left', cell: ({ id }) => id },
    { header: 'status', align: 'left', cell: ({ status }) => status },
    ...buildColumn(session),
    ...(hasTimes(session) ? timeColumns(session) : []),
    ...(hasPredictions(session) ? predictedColumns(session) : []),
    // Rungs can have different errors because they compute in different precisions.
    ...(session.rungs.some(({ verify }) => verify)
      ? [
          {
            header: 'error',
            cell: ({ verify }: RungResult) => verify?.worstRelativeError?.toExponential(1) ?? none,
          },
        ]
      : []),
    ...countersOf(session).map((id): Column<RungResult> => ({
      header: metricHeaders[id] ?? metricDefinition(id)?.label ?? id,
      cell: ({ metrics }) => bareMetric(metrics[id]),
    })),
  ]
  const troubles = session.rungs.flatMap((rung) =>
    rung.status === 'ok'
      ? []
      : [
          `${rung.id}: ${rung.status}. ${inEnglish(rung.reason ?? '')}`.trimEnd(),
          ...describeDiagnostics(session, rung, 'error'),
        ],
  )
  const claim = claimWords(session)
  // If the number of passes is unknown, an import stores 0.
  const passes = session.rungs.flatMap(({ profile }) => (profile?.passes ? [profile.passes] : []))
  const { knowsRun } = can(session.target)
  const evidence = [
    ...(knowsRun
      ? [
          ...(hasTimes(session) ? timeEvidence(session) : []),
          ...predictedEvidence(session),
          ...otherWaysEvidence(session),
          errorEvidence(session),
          ...(hasTimes(session)
            ? leadEvidence(session)
            : ['counters: from the machine code, executed in the emulator']),
        ]
      : []),
    ...(passes.length > 0
      ? [
          `counters: ${['ncu', ...(session.tools.ncu ? [session.tools.ncu] : [])].join(' ')}, ${passesWord(Math.max(...passes))} per kernel`,
        ]
      : []),
  ].join('; ')
  return [
    describeOrigin(session),
    table(session.rungs, columns),
    evidence,
    ...climbLine(session),
    ...(claim ? [inEnglish(claim)] : []),
    ...preparedLines(session),
    ...(knowsRun ? [`the run took ${session.elapsedSeconds.toFixed(1)} s`] : []),
    ...session.warnings.map((warning) => `warning: ${inEnglish(warning)}`),
    ...ratioWarnings(session).map(inEnglish),
    ...new Set(describeWarnings(session)),
    ...troubles,
    ...refusedLines(session),
    ...describePublished(session),
  ].join('\n')
}

/** Lists the kernels that Python rungs compiled before they were timed. */
const preparedLines = ({ rungs }: Session): string[] => {
  const took = rungs.flatMap(({ id, prepared }) =>
    prepared ? [`${id} ${prepared.seconds.toFixed(1)} s`] : [],
  )
  const most = rungs
    .flatMap(({ prepared }) => prepared?.with ?? [])
    .sort((a, b) => b.length - a.length)
  return took.length === 0
    ? []
    : [`compiled before timing${most[0] === undefined ? '' : ` (${most[0]})`}: ${took.join(', ')}`]
}
