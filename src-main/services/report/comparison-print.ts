/** Two sessions side by side, in each format, and the summary for continuous integration. */
import { formatGflops, formatMs, formatRatio, formatValue } from '../../domain/units'
import { sessionSchemaVersion } from '../../domain/session'
import type { ComparedRung, ComparisonModel, Regressions } from './comparison'
import { csvTable, type Cell } from '../../domain/text/csv'
import { list, patchText, verdictWords } from './markdown'
import { details, fenced, md, mdCode, mdCodeCell, mdTable } from '../../domain/text/markdown'
import { dash, withUnit } from './model'
import { inEnglish } from '../../domain/messages/message'
import { headline } from '../../domain/provenance'
import { halfSpread } from '../../domain/summary'
import { tex, texCode, texComment } from './tex-text'
import { visibleJson } from '../../domain/text/visible'

const title = ({ a }: ComparisonModel): string => inEnglish(headline(a))

const timeWords = (ms: number | null): string => (ms === null ? dash : formatMs(ms))
const factorWords = (factor: number | null): string =>
  factor === null ? dash : formatRatio(factor)

/** The cells of a rung's line in a table of times; the first is its id. */
function timeCells({ a, b, comparison: { time } }: ComparedRung): string[] {
  return [
    timeWords(time.aMs),
    timeWords(time.bMs),
    factorWords(time.speedup),
    time.noise === null ? dash : halfSpread(time.noise),
    a.timing ? formatGflops(a.timing.gflops) : dash,
    b.timing ? formatGflops(b.timing.gflops) : dash,
    a.status === b.status ? a.status : `${a.status} → ${b.status}`,
    verdictWords[time.verdict],
  ]
}

const timeTable = ({ rungs }: ComparisonModel): string =>
  mdTable(
    [
      { header: 'Rung', align: 'left' },
      { header: 'Time, first' },
      { header: 'Time, second' },
      { header: 'Times as fast ○' },
      { header: '±' },
      { header: 'Throughput, first ○' },
      { header: 'Throughput, second ○' },
      { header: 'Status', align: 'left' },
      { header: 'Verdict', align: 'left' },
    ],
    rungs.map((rung) => [mdCodeCell(rung.a.id), ...timeCells(rung).map(md)]),
  )

/** Counters that moved; those that did not are in the CSV. */
function counterBlock({ a, comparison: { metrics } }: ComparedRung): string[] {
  const moved = metrics.filter(({ verdict }) => !['same', 'unknown'].includes(verdict))
  if (moved.length === 0) return []
  const table = mdTable(
    [
      { header: 'Counter', align: 'left' },
      { header: 'First' },
      { header: 'Second' },
      { header: 'Second / first ○' },
      { header: 'Verdict', align: 'left' },
    ],
    moved.map((delta) => [
      md(withUnit(delta.label, delta.unit)),
      md(formatValue(delta.a!.value!, delta.unit)),
      md(formatValue(delta.b!.value!, delta.unit)),
      factorWords(delta.ratio),
      md(verdictWords[delta.verdict]),
    ]),
  )
  return [details(`<code>${md(a.id)}</code>: counters that moved`, table)]
}

const sourceBlock = ({ a, hunks }: ComparedRung): string[] =>
  hunks === null || hunks.length === 0
    ? []
    : [details(`<code>${md(a.id)}</code>: source diff`, fenced(patchText(hunks), 'diff'))]

const warningLines = ({ warnings }: ComparisonModel): string[] =>
  warnings.map((warning) => `> **Warning:** ${md(warning)}`)

const legend =
  'Times are measured (CUDA events, the median); ○ is derived from them. ± is half the sum of both interquartile ranges over their medians; a change inside the whole of it is = same.'

const factTable = ({ facts }: ComparisonModel): string =>
  mdTable(
    [
      { header: 'What', align: 'left' },
      { header: 'First', align: 'left' },
      { header: 'Second', align: 'left' },
    ],
    facts.map(({ label, a, b, code }) => [md(label), ...[a, b].map(code ? mdCodeCell : md)]),
  )

export const comparisonMarkdown = (model: ComparisonModel): string =>
  `${[
    `# ${md(title(model))}: two sessions`,
    ...(model.date === null ? [] : [`Report of ${md(model.date)}.`]),
    ...warningLines(model),
    `First: ${mdCode(model.a.id)} on ${md(model.a.device?.name ?? 'no GPU')}. Second: ${mdCode(model.b.id)} on ${md(model.b.device?.name ?? 'no GPU')}.`,
    ...(model.changes.length > 0 ? [list(model.changes)] : []),
    '## Times',
    timeTable(model),
    md(legend),
    ...(model.rungs.some((rung) => counterBlock(rung).length > 0)
      ? ['## Counters', ...model.rungs.flatMap(counterBlock)]
      : []),
    ...(model.rungs.some((rung) => sourceBlock(rung).length > 0)
      ? ['## Sources', ...model.rungs.flatMap(sourceBlock)]
      : []),
    '## Provenance',
    factTable(model),
  ].join('\n\n')}\n`

export function comparisonCsv({ rungs, facts, warnings, date }: ComparisonModel): string {
  const shared: Cell[][] = [
    ...facts.map(({ id, a, b }): Cell[] => ['', id, a, b, '', null, '', '', '']),
    ...warnings.map((warning): Cell[] => ['', 'warning', warning, '', '', null, '', '', '']),
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
      time.aMs === null || time.bMs === null ? null : time.bMs / time.aMs,
      time.verdict,
      time.aMs === null ? 'unavailable' : 'measured',
      time.bMs === null ? 'unavailable' : 'measured',
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

export const comparisonJson = ({ a, b, date, warnings, rungs }: ComparisonModel): string =>
  visibleJson({
    schema: sessionSchemaVersion,
    ...(date === null ? {} : { reportDate: date }),
    warnings,
    a,
    b,
    rungs: rungs.map(({ a: { id }, comparison, hunks }) => ({
      id,
      ...comparison,
      source: { hunks },
    })),
  })

export function comparisonTex(model: ComparisonModel): string {
  const { a, b, rungs, facts, warnings, changes, date } = model
  const cells = (rung: ComparedRung): string =>
    [texCode(rung.a.id), ...timeCells(rung).slice(0, 4).map(tex)].join(' & ')
  const notes = [
    tex(legend),
    ...warnings.map((warning) => `Warning: ${tex(warning)}`),
    ...changes.map((sentence) =>
      sentence.map((piece) => tex(typeof piece === 'string' ? piece : piece.code)).join(' '),
    ),
    ...facts.map(({ label, a: left, b: right, code }) => {
      const set = code ? texCode : tex
      return left === right
        ? `${tex(label)}: ${set(left)}.`
        : `${tex(label)}: ${set(left)}; second: ${set(right)}.`
    }),
  ]
  return [
    texComment('Needs \\usepackage{booktabs}.'),
    ...(date === null ? [] : [texComment(`Report of ${date}.`)]),
    '\\begin{table}',
    '  \\centering',
    `  \\caption{${tex(title(model))}. First: ${tex(a.device?.name ?? 'no GPU')}, ${tex(a.id)}. Second: ${tex(b.device?.name ?? 'no GPU')}, ${tex(b.id)}.}`,
    '  \\begin{tabular}{lrrrr}',
    '    \\toprule',
    `    Rung & First & Second & ${tex('Times as fast ○')} & ${tex('±')} \\\\`,
    '    \\midrule',
    ...rungs.map((rung) => `    ${cells(rung)} \\\\`),
    '    \\bottomrule',
    '  \\end{tabular}',
    '',
    '  \\smallskip',
    '  \\begin{minipage}{\\linewidth}',
    '    \\footnotesize\\raggedright',
    ...notes.map((note) => `    ${note}`),
    '  \\end{minipage}',
    '\\end{table}',
    '',
  ].join('\n')
}

/** For a pull request: the verdict first, then the table. The first session is the baseline. */
export function ciMarkdown(
  model: ComparisonModel,
  { slower, broken }: Regressions,
  thresholdPercent: number,
): string {
  const bad = slower.length + broken.length
  const faster = model.rungs.filter(({ comparison }) => comparison.time.verdict === 'better').length
  return `${[
    `## Kernel Ladder: ${bad === 0 ? `no rung got more than ${thresholdPercent} % slower` : `${bad} of ${model.rungs.length} rungs got worse`}`,
    `${md(title(model))}. Baseline (first): ${mdCode(model.a.id)} on ${md(model.a.device?.name ?? 'no GPU')}. Now (second): ${mdCode(model.b.id)} on ${md(model.b.device?.name ?? 'no GPU')}. ${faster} of ${model.rungs.length} rungs got faster beyond the spread of both.`,
    ...warningLines(model),
    ...(bad > 0 ? [list([...broken, ...slower])] : []),
    ...(model.changes.length > 0
      ? [details('Rungs and statuses that changed', list(model.changes))]
      : []),
    timeTable(model),
    `A rung counts as slower when its median time grew by more than ${thresholdPercent} % and by more than both spreads explain. ${md(legend)}`,
    details('Provenance', factTable(model)),
  ].join('\n\n')}\n`
}
