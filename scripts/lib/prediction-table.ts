/**
 * The error of predicted times against recorded ones: rows, figures by class, and the tables of docs/evidence/prediction.md.
 */
import {
  predictionClasses,
  type PredictionClass,
} from '../../src-main/domain/prediction/prediction'
import { mdTable } from '../../src-main/domain/text/markdown'

export const accuracyPath = 'test/captures/prediction/accuracy.json'
export const accuracyDocument = 'docs/evidence/prediction.md'

/** A rung of a recording with its prediction, or why there is none. */
export interface PredictedRow {
  recording: string
  ladder: string
  gpu: string
  rung: string
  /** The recorded median and the L2 cache it was measured with. */
  measuredMs: number
  cache: string
  predicted: { ms: number; lowMs: number; highMs: number; class: PredictionClass } | null
  /** Why there is no prediction. */
  refused?: string
  /** The stall reasons with the most waiting warps, in descending order, if counters were recorded. */
  stalls?: { measured: Stall[]; predicted: Stall[] }
}

interface Stall {
  reason: string
  /** Stalled warps per issued instruction. */
  warps: number
}

interface Rung {
  id: string
  timing?: { medianMs: number } | null
  predicted?: PredictedRow['predicted']
  notPredicted?: { key?: string } | string
  metrics: Record<string, { value: number | null } | undefined>
}

const stallsOf = ({ metrics }: Rung): Stall[] =>
  Object.entries(metrics)
    .filter(([id, metric]) => /^stall(?!Selected)/.test(id) && metric?.value)
    .map(([id, metric]) => ({ reason: id, warps: Number(metric!.value!.toPrecision(4)) }))
    .sort((a, b) => b.warps - a.warps)
    .slice(0, 6)

export function rowsOf(
  recording: string,
  gpu: string,
  predicted: { rungs: Rung[] },
  measured: { rungs: Rung[]; ladder: string; settings: { cacheState?: string } },
): PredictedRow[] {
  return measured.rungs.flatMap((rung) => {
    const own = predicted.rungs.find(({ id }) => id === rung.id)
    if (!rung.timing || !own) return []
    const time = own.predicted
    const [there, here] = [stallsOf(rung), stallsOf(own)]
    const row: PredictedRow = {
      ...{ recording, ladder: measured.ladder, gpu, rung: rung.id },
      measuredMs: rung.timing.medianMs,
      cache: measured.settings.cacheState ?? 'unknown',
      predicted: time
        ? { ms: time.ms, lowMs: time.lowMs, highMs: time.highMs, class: time.class }
        : null,
      ...(there.length > 1 && here.length > 1
        ? { stalls: { measured: there, predicted: here } }
        : {}),
    }
    // A library runs no kernel of ours.
    if (time) return [row]
    if (!own.notPredicted) return []
    const { notPredicted } = own
    return [
      {
        ...row,
        refused: typeof notPredicted === 'string' ? notPredicted : (notPredicted.key ?? '?'),
      },
    ]
  })
}

type Told = PredictedRow & { predicted: NonNullable<PredictedRow['predicted']> }

const isTold = (row: PredictedRow): row is Told => row.predicted !== null

const ratioOf = ({ measuredMs, predicted }: Told): number => predicted.ms / measuredMs

const errorOf = (row: Told): number => Math.abs(ratioOf(row) - 1)

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

const mean = (values: number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

export interface Figures {
  count: number
  /** Mean and median of |predicted / measured − 1|. */
  mean: number
  median: number
  /** Geometric mean of predicted / measured. */
  bias: number
  /** Fraction of the measured times inside the range. */
  inside: number
}

export function figuresOf(rows: readonly PredictedRow[]): Figures {
  const told = rows.filter(isTold)
  return {
    count: told.length,
    mean: mean(told.map(errorOf)),
    median: median(told.map(errorOf)),
    bias: Math.exp(mean(told.map((row) => Math.log(ratioOf(row))))),
    inside: mean(
      told.map(({ measuredMs, predicted: { lowMs, highMs } }) =>
        lowMs <= measuredMs && measuredMs <= highMs ? 1 : 0,
      ),
    ),
  }
}

/**
 * Returns the pairs of one recording whose measured times differ by more than `least`, and the number predicted in
 * the right order.
 */
export function orderOf(
  rows: readonly PredictedRow[],
  least: number,
): { pairs: number; right: number } {
  const told = rows.filter(isTold)
  let [pairs, right] = [0, 0]
  for (const [index, a] of told.entries())
    for (const b of told.slice(index + 1)) {
      if (a.recording !== b.recording) continue
      const ratio = a.measuredMs / b.measuredMs
      if (Math.max(ratio, 1 / ratio) <= 1 + least) continue
      pairs++
      if (a.predicted.ms < b.predicted.ms === ratio < 1) right++
    }
  return { pairs, right }
}

/**
 * Returns how many rungs agree: both top predicted stall reasons are among the top measured ones. Measured reasons
 * within 5 % of all stalls are a tie.
 */
export function stallsAgree(rows: readonly PredictedRow[]): {
  rungs: number
  agree: number
  recordings: string[]
} {
  const compared = rows.flatMap(({ stalls }) => (stalls ? [stalls] : []))
  const agree = compared.filter(({ measured, predicted }) => {
    const all = measured.reduce((sum, { warps }) => sum + warps, 0)
    const least = measured[1]!.warps - 0.05 * all
    const allowed = new Set(
      measured.filter(({ warps }) => warps >= least).map(({ reason }) => reason),
    )
    return predicted.slice(0, 2).every(({ reason }) => allowed.has(reason))
  }).length
  const recordings = new Set(rows.flatMap(({ stalls, recording }) => (stalls ? [recording] : [])))
  return { rungs: compared.length, agree, recordings: [...recordings] }
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

const line = (name: string, rows: readonly PredictedRow[]): string[] => {
  const { count, mean: average, median: middle, bias, inside } = figuresOf(rows)
  const order = orderOf(rows, 0.05)
  return [
    name,
    String(count),
    percent(average),
    percent(middle),
    bias.toFixed(3),
    percent(inside),
    order.pairs === 0 ? '–' : `${order.right} of ${order.pairs}`,
  ]
}

const columns = (headers: readonly string[]) => headers.map((header) => ({ header }))

const head = ['', 'Rungs', 'Mean error', 'Median error', 'Bias', 'In the range', 'Pairs in order']

const usesTensorCores = ({ predicted }: PredictedRow): boolean =>
  predicted?.class === 'tensor' || predicted?.class === 'pipeline'

function groupsOf(rows: readonly PredictedRow[]): [string, PredictedRow[]][] {
  const by = (name: string, keep: (row: PredictedRow) => boolean): [string, PredictedRow[]] => [
    name,
    rows.filter((row) => row.predicted && keep(row)),
  ]
  return [
    by('all', () => true),
    by('without tensor cores', (row) => !usesTensorCores(row)),
    by('with tensor cores', usesTensorCores),
    by('H200', ({ gpu }) => gpu === 'h200'),
    by('H100', ({ gpu }) => gpu === 'h100'),
    ...predictionClasses.map((name) =>
      by(`class ${name}`, ({ predicted }) => predicted?.class === name),
    ),
  ]
}

export function accuracyTables(rows: readonly PredictedRow[]): string {
  if (!rows.some(isTold)) return 'No recording was compared yet.'
  const told = rows.filter(isTold)
  const byRecording = [...new Set(rows.map(({ recording }) => recording))].toSorted()
  const worst = told.toSorted(
    (a, b) => Math.abs(Math.log(ratioOf(b))) - Math.abs(Math.log(ratioOf(a))),
  )
  const refused = rows.filter((row) => !isTold(row))
  const stalls = stallsAgree(rows)
  const wide = orderOf(rows, 0.2)
  return [
    mdTable(
      columns(head),
      groupsOf(rows)
        .filter(([, own]) => own.length > 0)
        .map(([name, own]) => line(name, own)),
    ),
    `Pairs are of one recording and differ by more than 5 %; of those that differ by more than 20 %, ${wide.right} of ${wide.pairs} are in order. The two largest stall reasons are the measured ones in ${stalls.agree} of ${stalls.rungs} rungs, of ${stalls.recordings.join(', ')}; the other recordings have no stall reasons or were not compared with this version.`,
    mdTable(
      columns(['Recording', ...head.slice(1)]),
      byRecording
        .filter((name) => told.some(({ recording }) => recording === name))
        .map((name) =>
          line(
            `\`${name}\``,
            rows.filter(({ recording }) => recording === name),
          ),
        ),
    ),
    'The largest errors:',
    mdTable(
      columns(['Recording', 'Rung', 'Measured', 'Predicted', 'Ratio', 'Class']),
      worst
        .slice(0, 10)
        .map((row) => [
          `\`${row.recording}\``,
          `\`${row.rung}\``,
          `${row.measuredMs.toPrecision(3)} ms`,
          `${row.predicted.ms.toPrecision(3)} ms`,
          ratioOf(row).toFixed(2),
          row.predicted.class,
        ]),
    ),
    `Nothing was predicted of ${refused.length} rungs${refused.length > 0 ? `: ${refused.map(({ recording, rung }) => `\`${rung}\` of ${recording}`).join(', ')}` : ''}.`,
  ].join('\n\n')
}

export function summary(rows: readonly PredictedRow[]): string {
  if (!rows.some(isTold)) return 'No recording was compared yet.'
  return groupsOf(rows)
    .filter(([, own]) => own.length > 0)
    .map(([name, own]) => line(name, own).join('  '))
    .join('\n')
}

/**
 * Returns the factor, upward and downward, that contains a fraction `held` of the measured times of a class. It is
 * the largest over leaving out one ladder at a time, so that no ladder is judged by a range derived from it.
 */
export function heldFactor(rows: readonly PredictedRow[], held: number): number {
  const told = rows.filter(isTold)
  const factorOf = (own: Told[]): number => {
    const off = own
      .map((row) => Math.exp(Math.abs(Math.log(ratioOf(row)))))
      .toSorted((a, b) => a - b)
    return off[Math.min(off.length - 1, Math.ceil(held * off.length) - 1)] ?? 1
  }
  const ladders = [...new Set(told.map(({ ladder }) => ladder))]
  return Math.max(
    ...ladders.map((ladder) => factorOf(told.filter((row) => row.ladder !== ladder))),
    factorOf(told),
  )
}
