/**
 * Formats a report as CSV. Values have full precision.
 *
 * The long form has one row per value, `rung,metric,value,unit,evidence,reason`. Rows with an empty
 * rung column contain the provenance. The wide form has one row per rung, with units in the column
 * names. `timing.…`, `verify.…`, and `build.…` are names from the session schema.
 */
import { message, type Statement } from '../../../domain/messages/message'
import { inEnglish } from '../../../domain/text/english'
import { climbs, type RungResult, type Timing } from '../../../domain/session/session'
import { stepTo } from '../../../domain/analysis/climb'
import type { TimeDelta } from '../../../domain/analysis/compare'
import { leadFigure, leadOf } from '../../../domain/analysis/lead-figure'
import { metricDefinition } from '../../../domain/metrics/metrics'
import type { ComparisonModel } from '../comparison'
import type { ReportModel } from '../model'
import type { Printer } from './printer'
import { rungOrigins } from '../../../domain/session/rung-origins'
import { csvTable, type Cell } from '../../../domain/text/csv'

interface Field {
  id: string
  unit: string
  evidence: 'measured' | 'derived' | 'predicted'
  of: (rung: RungResult) => number | null | undefined
  /** Reason that the field has no value, if known. */
  why?: (rung: RungResult) => Statement | null | undefined
}

/** Fields that occur only in a session with predicted times. */
const ofPredictions: readonly Field[] = (['ms', 'lowMs', 'highMs'] as const).map((name) => ({
  id: `predicted.${name}`,
  unit: 'ms',
  evidence: 'predicted',
  of: ({ predicted }) => predicted?.[name],
  why: ({ notPredicted }) => notPredicted,
}))

const evidenceOf = (ms: number | null, predicted: object | null | undefined): string =>
  ms === null ? 'unavailable' : predicted ? 'predicted' : 'measured'

/**
 * Whether a rung's time is predicted in one session and measured in the other. A predicted and a
 * measured time have no ratio.
 */
const isMixed = ({ predicted }: TimeDelta): boolean =>
  predicted !== undefined && (predicted.a === null) !== (predicted.b === null)

const ofEverySession: readonly Field[] = [
  { id: 'timing.medianMs', unit: 'ms', evidence: 'measured', of: ({ timing }) => timing?.medianMs },
  { id: 'timing.spread', unit: '1', evidence: 'derived', of: ({ timing }) => timing?.spread },
  { id: 'timing.samples', unit: '1', evidence: 'measured', of: ({ timing }) => timing?.samples },
  { id: 'timing.gflops', unit: 'GFLOP/s', evidence: 'derived', of: ({ timing }) => timing?.gflops },
  {
    id: 'timing.ratioToReference',
    unit: '×',
    evidence: 'derived',
    of: ({ timing }) => timing?.ratioToReference,
  },
  {
    id: 'timing.referenceMedianMs',
    unit: 'ms',
    evidence: 'measured',
    of: ({ timing }) => timing?.referenceMedianMs,
  },
  {
    id: 'timing.smClockBeforeMHz',
    unit: 'MHz',
    evidence: 'measured',
    of: ({ timing }) => timing?.smClockBeforeMHz,
  },
  {
    id: 'timing.smClockAfterMHz',
    unit: 'MHz',
    evidence: 'measured',
    of: ({ timing }) => timing?.smClockAfterMHz,
  },
  {
    id: 'verify.worstRelativeError',
    unit: '1',
    evidence: 'measured',
    of: ({ verify }) => verify?.worstRelativeError,
  },
  {
    id: 'build.registersPerThread',
    unit: 'registers',
    evidence: 'measured',
    of: ({ build }) => build?.registersPerThread,
  },
  {
    id: 'build.staticSharedBytes',
    unit: 'bytes',
    evidence: 'measured',
    of: ({ build }) => build?.staticSharedBytes,
  },
  {
    id: 'build.spillStoreBytes',
    unit: 'bytes',
    evidence: 'measured',
    of: ({ build }) => build?.spillStoreBytes,
  },
  {
    id: 'build.spillLoadBytes',
    unit: 'bytes',
    evidence: 'measured',
    of: ({ build }) => build?.spillLoadBytes,
  },
]

/** Fields that are missing from older sessions. */
const ofRecentSessions: readonly Field[] = [
  {
    id: 'timing.late',
    unit: '1',
    evidence: 'measured',
    of: ({ timing }) => timing?.late,
  },
  {
    id: 'timing.emptyMs',
    unit: 'ms',
    evidence: 'measured',
    of: ({ timing }) => timing?.emptyMs,
  },
  {
    id: 'timing.gpuMs',
    unit: 'ms',
    evidence: 'measured',
    of: ({ timing }) => timing?.gpuMs,
  },
  {
    id: 'timing.clockMHz',
    unit: 'MHz',
    evidence: 'measured',
    of: ({ timing }) => timing?.clockMHz,
  },
  {
    id: 'timing.referenceClockMHz',
    unit: 'MHz',
    evidence: 'measured',
    of: ({ timing }) => timing?.referenceClockMHz,
  },
]

const ofSustained: readonly Field[] = [
  {
    id: 'timing.sustained.medianMs',
    unit: 'ms',
    evidence: 'measured',
    of: ({ timing }) => timing?.sustained?.medianMs,
  },
  {
    id: 'timing.sustained.ratioToReference',
    unit: '×',
    evidence: 'derived',
    of: ({ timing }) => timing?.sustained?.ratioToReference,
  },
  {
    id: 'timing.sustained.smClockMHz',
    unit: 'MHz',
    evidence: 'measured',
    of: ({ timing }) => timing?.sustained?.smClockMHz,
  },
  {
    id: 'timing.sustained.powerW',
    unit: 'W',
    evidence: 'measured',
    of: ({ timing }) => timing?.sustained?.powerW,
  },
]

const ofBursts: readonly Field[] = [
  {
    id: 'timing.burst.medianMs',
    unit: 'ms',
    evidence: 'measured',
    of: ({ timing }) => timing?.burst?.medianMs,
  },
  {
    id: 'timing.burst.ratioToReference',
    unit: '×',
    evidence: 'derived',
    of: ({ timing }) => timing?.burst?.ratioToReference,
  },
]

/**
 * Returns the CSV fields for a session. For a memory-bound task, the fields include throughput
 * values that are not in the session schema.
 */
function fieldsOf({ session }: ReportModel): readonly Field[] {
  const lead = leadOf(session)
  const has = (holds: (timing: Timing) => unknown): boolean =>
    session.rungs.some(({ timing }) => timing && holds(timing))
  const step: Field = {
    id: 'step',
    unit: '×',
    evidence: 'derived',
    of: (rung) => stepTo(session, rung)?.factor,
    why: () => message('reports.noStep'),
  }
  const fields = [
    ...ofEverySession,
    ...(session.prediction ? ofPredictions : []),
    ...(has(({ late }) => late !== undefined) ? ofRecentSessions : []),
    ...(has(({ burst }) => burst) ? ofBursts : []),
    ...(has(({ sustained }) => sustained) ? ofSustained : []),
    ...(has(() => true) && climbs(session) ? [step] : []),
  ]
  if (lead.of === 'operations') return fields
  const figure = (rung: RungResult) => leadFigure(session, rung, lead)
  return [
    ...fields,
    {
      id: 'throughput',
      unit: 'GB/s',
      evidence: 'derived',
      of: (rung) => figure(rung)?.rate.value,
    },
    {
      id: 'throughput.ofDram',
      unit: '%',
      evidence: 'derived',
      of: (rung) => figure(rung)?.share,
      why: (rung) => figure(rung)?.aboveRoof,
    },
  ]
}

const reasonText = (reason: Statement | undefined): string =>
  reason === undefined ? '' : inEnglish(reason)

const noTime = ({ status }: RungResult): string =>
  status === 'ok' ? 'It was not recorded.' : `The rung's status is ${status}.`

function rungLines(model: ReportModel, rung: RungResult): Cell[][] {
  const { metrics } = model
  const { id, title, status, reason, sourceHash } = rung
  return [
    [id, 'title', title, '', '', ''],
    [id, 'status', status, '', '', reasonText(reason)],
    [id, 'sourceHash', sourceHash, '', '', ''],
    ...Object.entries(rung.params).map(([name, value]): Cell[] => [
      id,
      `param.${name}`,
      value,
      '',
      '',
      '',
    ]),
    ...fieldsOf(model).map(({ id: field, unit, evidence, of, why }): Cell[] => {
      const value = of(rung) ?? null
      const reason = ((rung.timing ?? rung.notPredicted) && why?.(rung)) ?? null
      return value === null
        ? [id, field, null, unit, 'unavailable', reason ? reasonText(reason) : noTime(rung)]
        : [id, field, value, unit, evidence, '']
    }),
    ...metrics.flatMap(({ id: metric }): Cell[][] => {
      const found = rung.metrics[metric]
      return found
        ? [[id, metric, found.value, found.unit, found.evidence, reasonText(found.reason)]]
        : []
    }),
    // For an import, include all values that ncu reported, under their ncu names.
    ...Object.entries(rung.ncuMetrics ?? {}).map(([name, { value, unit }]): Cell[] => [
      id,
      name,
      value,
      unit,
      value === null ? 'unavailable' : 'measured',
      '',
    ]),
  ]
}

/** Returns CSV rows with the facts, warnings, and date that apply to the whole session. */
const sessionLines = ({ facts, session, date }: ReportModel): Cell[][] => [
  ...facts.map(({ id, value }): Cell[] => ['', id, value, '', '', '']),
  ...session.warnings.map((warning): Cell[] => ['', 'warning', inEnglish(warning), '', '', '']),
  ...(date === null ? [] : [['', 'reportDate', date, '', '', '']]),
]

const printLong = (model: ReportModel): string =>
  csvTable(
    ['rung', 'metric', 'value', 'unit', 'evidence', 'reason'],
    [...sessionLines(model), ...model.session.rungs.flatMap((rung) => rungLines(model, rung))],
  )

function printWide(model: ReportModel): string {
  const { metrics, session, facts, date } = model
  const fields = fieldsOf(model)
  const unitOf = (id: string): string =>
    metricDefinition(id)?.unit ??
    session.rungs.find(({ metrics: own }) => own[id])?.metrics[id]?.unit ??
    ''
  const inUnit = (id: string, unit: string): string => (unit === '1' ? id : `${id} [${unit}]`)
  const rows = session.rungs.map((rung): Cell[] => [
    rung.id,
    rung.title,
    rung.status,
    reasonText(rung.reason),
    ...fields.map(({ of }) => of(rung) ?? null),
    ...metrics.flatMap(({ id }): Cell[] => {
      const found = rung.metrics[id]
      return [found?.value ?? null, found?.evidence ?? 'unavailable']
    }),
    rung.sourceHash,
    ...facts.map(({ value }) => value),
    session.warnings.map(inEnglish).join(' '),
    ...(date === null ? [] : [date]),
  ])
  return csvTable(
    [
      'rung',
      'title',
      'status',
      'reason',
      ...fields.map(({ id, unit }) => inUnit(id, unit)),
      ...metrics.flatMap(({ id }) => [inUnit(id, unitOf(id)), `${id} evidence`]),
      'sourceHash',
      ...facts.map(({ id }) => id),
      'warnings',
      ...(date === null ? [] : ['reportDate']),
    ],
    rows,
  )
}

function printComparison(model: ComparisonModel): string {
  const { rungs, facts, warnings, date } = model
  const shared: Cell[][] = [
    ...facts.map(({ id, a, b }): Cell[] => ['', id, a, b, '', null, '', '', '']),
    ...rungOrigins(model.a, model.b).flatMap(({ id, which, file, sourceHash, params }): Cell[][] =>
      Object.entries({ file, sourceHash, params }).map(([what, value]) => [
        id,
        what,
        which === 'second' ? '' : value,
        which === 'first' ? '' : value,
        ...['', null, '', '', ''],
      ]),
    ),
    ...warnings.map((warning): Cell[] => [
      '',
      'warning',
      inEnglish(warning),
      '',
      '',
      null,
      '',
      '',
      '',
    ]),
    ...(date === null ? [] : [['', 'reportDate', date, '', '', null, '', '', '']]),
  ]
  const lines = rungs.flatMap(({ a, b, comparison: { time, metrics } }): Cell[][] => [
    [a.id, 'status', a.status, b.status, '', null, '', '', ''],
    [
      a.id,
      'timing.medianMs',
      time.aMs,
      time.bMs,
      'ms',
      time.aMs === null || time.bMs === null || isMixed(time) ? null : time.bMs / time.aMs,
      time.verdict,
      evidenceOf(time.aMs, time.predicted?.a),
      evidenceOf(time.bMs, time.predicted?.b),
    ],
    ...metrics.map((delta): Cell[] => [
      a.id,
      delta.id,
      delta.a?.value ?? null,
      delta.b?.value ?? null,
      delta.unit,
      delta.ratio,
      delta.verdict,
      delta.a?.evidence ?? 'unavailable',
      delta.b?.evidence ?? 'unavailable',
    ]),
  ])
  return csvTable(
    ['rung', 'metric', 'a', 'b', 'unit', 'b/a', 'verdict', 'evidence a', 'evidence b'],
    [...shared, ...lines],
  )
}

export const csvPrinter: Printer = {
  session: (model, { wide }) => (wide ? printWide(model) : printLong(model)),
  comparison: printComparison,
}
