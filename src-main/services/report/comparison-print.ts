/** Two sessions side by side, in each format. */
import type { Session } from '../../domain/session/session'
import type { ReportSection } from '../../domain/report/frozen-report'
import { mdPicture, pairChart } from './charts'
import { counts, type ComparedRung, type ComparisonModel } from './comparison'
import { csvTable, type Cell } from '../../domain/text/csv'
import { list, patchText } from './markdown'
import { printMdTable } from './md-table'
import { comparedFactTable, movedCounters, movedTable, timeTable, timeTexts } from './tables'
import {
  details,
  fenced,
  md,
  mdCode,
  mdCodeCell,
  mdHtml,
  mdTable,
} from '../../domain/text/markdown'
import { inEnglish } from '../../domain/text/wording'
import { rungOrigins } from '../../domain/session/rung-origins'
import { headline } from '../../domain/report/provenance'
import { tex, texCode, texComment } from './tex-text'

const title = ({ a }: ComparisonModel): string => inEnglish(headline(a))

function counterBlock(rung: ComparedRung): string[] {
  const { a } = rung
  const moved = movedCounters(rung)
  if (moved.length === 0) return []
  const table = printMdTable(movedTable(moved))
  return [details(`<code>${mdHtml(a.id)}</code>: counters that moved`, table)]
}

const sourceBlock = ({ a, hunks }: ComparedRung): string[] =>
  hunks === null || hunks.length === 0
    ? []
    : [details(`<code>${mdHtml(a.id)}</code>: source diff`, fenced(patchText(hunks), 'diff'))]

const warningLines = ({ warnings }: ComparisonModel): string[] =>
  warnings.map((warning) => `> **Warning:** ${md(inEnglish(warning))}`)

export const comparisonLegend =
  'Times are measured (CUDA events, the median); ○ is derived from them. ± is half the sum of both interquartile ranges over their medians; a change inside the whole of it is = same.'

export const originTable = (a: Session, b: Session): string =>
  details(
    'Sources and parameters of each rung',
    mdTable(
      [
        { header: 'Rung', align: 'left' },
        { header: 'In', align: 'left' },
        { header: 'Source', align: 'left' },
        { header: 'SHA-256', align: 'left' },
        { header: 'Parameters', align: 'left' },
      ],
      rungOrigins(a, b).map(({ id, which, file, sourceHash, params }) => [
        mdCodeCell(id),
        which,
        mdCodeCell(file),
        mdCodeCell(sourceHash),
        mdCodeCell(params),
      ]),
    ),
  )

/** `pictures`: the folder beside it that holds the chart; without one it is left out. */
export function comparisonMarkdown(model: ComparisonModel, pictures: string | null = null): string {
  const told = (section: ReportSection, parts: () => string[]): string[] =>
    model.sections.includes(section) ? parts() : []
  const headed = (heading: string, blocks: string[]): string[] =>
    blocks.length > 0 ? [heading, ...blocks] : []
  const chart = pairChart(model)
  return `${[
    `# ${md(title(model))}: two sessions`,
    ...(model.date === null ? [] : [`Report of ${md(model.date)}.`]),
    ...warningLines(model),
    md(counts(model)),
    `First: ${mdCode(model.a.id)} on ${md(model.a.device?.name ?? 'no GPU')}. Second: ${mdCode(model.b.id)} on ${md(model.b.device?.name ?? 'no GPU')}.`,
    ...(model.changes.length > 0 ? [list(model.changes)] : []),
    ...told('ladder', () => [
      '## Times',
      printMdTable(timeTable(model.rungs)),
      md(comparisonLegend),
    ]),
    ...told('charts', () =>
      headed('## Charts', chart && pictures !== null ? [mdPicture(chart, pictures)] : []),
    ),
    ...told('matrix', () => headed('## Counters', model.rungs.flatMap(counterBlock))),
    ...told('compare', () => headed('## Sources', model.rungs.flatMap(sourceBlock))),
    '## Provenance',
    printMdTable(comparedFactTable(model.facts)),
    originTable(model.a, model.b),
  ].join('\n\n')}\n`
}

export function comparisonCsv(model: ComparisonModel): string {
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

export function comparisonTex(model: ComparisonModel): string {
  const { a, b, rungs, facts, warnings, changes, date } = model
  const cells = (rung: ComparedRung): string =>
    [texCode(rung.a.id), ...timeTexts(rung).slice(0, 4).map(tex)].join(' & ')
  const notes = [
    tex(comparisonLegend),
    ...warnings.map((warning) => `Warning: ${tex(inEnglish(warning))}`),
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
    ...rungOrigins(model.a, model.b).map(({ id, which, file, sourceHash, params }) =>
      texComment(`${id} (${which}): ${file}, ${params}, SHA-256 ${sourceHash}`),
    ),
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
