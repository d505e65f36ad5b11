/** A report as Markdown for GitHub: tables, and source diffs that open on a click. */
import { ratioWarnings } from '../../domain/analysis/comparability'
import { inEnglish } from '../../domain/text/wording'
import type { ReportSection } from '../../domain/report/frozen-report'
import type { MetricValue } from '../../domain/metrics/metrics'
import { formatMs, formatRatio, formatValue } from '../../domain/metrics/units'
import type { Verdict } from '../../domain/analysis/compare'
import type { Hunk } from '../source-diff'
import {
  details,
  fenced,
  md,
  mdCode,
  mdCodeCell,
  mdHtml,
  mdSentence,
  mdTable,
} from '../../domain/text/markdown'
import { ladderColumns, ladderFigures } from './ladder-columns'
import { chartsOf, mdPicture } from './charts'
import {
  dash,
  diagnosticLine,
  legend,
  withUnit,
  type Figure,
  type LadderRow,
  type ReportModel,
  type ReportStep,
  noReason,
} from './model'
import type { PrintedFact } from '../../domain/report/provenance'
import { halfSpread } from '../../domain/report/summary'
import type { Sentence } from '../../domain/messages/sentence'

export const verdictWords: Record<Verdict, string> = {
  better: '▲ better',
  worse: '▼ worse',
  changed: '◆ changed',
  same: '= same',
  unknown: '? unknown',
}

export const list = (sentences: readonly Sentence[]): string =>
  sentences.map((sentence) => `- ${mdSentence(sentence)}`).join('\n')

const figure = ({ text, evidence, note }: Figure): string =>
  `${md(text)}${evidence === 'derived' ? ' ○' : ''}${note === undefined ? '' : ` <sup>${note}</sup>`}`

const rungCell = ({ rung, isReference }: LadderRow): string =>
  `${mdCodeCell(rung.id)}${isReference ? ' (reference)' : ''}`

const ladderTable = ({ rows }: ReportModel): string =>
  mdTable(
    ladderColumns,
    rows.map((row) => [
      rungCell(row),
      md(row.rung.title),
      row.rung.status,
      ...ladderFigures(row).map(md),
    ]),
  )

/** About as many columns as GitHub shows beside a rung's name without scrolling. */
const mostAcross = 8

function counterTables({ metrics, rows }: ReportModel): string[] {
  const shown = metrics.flatMap(({ label, isAbsent }, index) =>
    isAbsent ? [] : [{ label, index }],
  )
  const tables: string[] = []
  // Of one width, so that no table is left with a single column.
  const across = Math.ceil(shown.length / Math.ceil(shown.length / mostAcross))
  for (let at = 0; at < shown.length; at += across)
    tables.push(
      mdTable(
        [
          { header: 'Rung', align: 'left' },
          ...shown.slice(at, at + across).map(({ label }) => ({ header: md(label) })),
        ],
        rows.map((row) => [
          rungCell(row),
          ...shown.slice(at, at + across).map(({ index }) => figure(row.metrics[index]!)),
        ]),
      ),
    )
  return tables
}

const metricCell = (metric: MetricValue | null): string =>
  metric?.value == null ? dash : md(formatValue(metric.value, metric.unit))

export const patchText = (hunks: readonly Hunk[]): string =>
  hunks
    .flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
      ...lines,
    ])
    .join('\n')

function sourceBlock({ hunks, from, to }: ReportStep): string {
  if (hunks === null) return 'The session does not hold both sources, so there is no diff.'
  if (hunks.length === 0) return 'The sources are the same.'
  const count = (sign: string): number =>
    hunks.flatMap(({ lines }) => lines).filter((line) => line.startsWith(sign)).length
  return details(
    `Source diff: ${mdHtml(from.file)} → ${mdHtml(to.file)}, ${count('+')} lines added, ${count('-')} removed`,
    fenced(patchText(hunks), 'diff'),
  )
}

const arrows = { up: '↑', down: '↓', same: '=' } as const

function stepSection(step: ReportStep): string[] {
  const { from, to, comparison } = step
  const { time, metrics } = comparison
  const timeLine =
    time.speedup === null
      ? 'One of them has no time.'
      : `Time: ${formatMs(time.aMs!)} → ${formatMs(time.bMs!)}, ${formatRatio(time.speedup)} ± ${halfSpread(time.noise!)} as fast, ${verdictWords[time.verdict]}.`
  const known = metrics.filter(({ a, b }) => a?.value != null || b?.value != null)
  return [
    `### ${mdCode(from.id)} → ${mdCode(to.id)}: ${md(to.title)}`,
    ...(to.idea ? [`_Idea:_ ${md(to.idea)}.`.replace(/\.\.$/, '.')] : []),
    timeLine,
    ...(known.length === 0
      ? ['No counter has a value on either side.']
      : [
          mdTable(
            [
              { header: 'Counter', align: 'left' },
              { header: mdCodeCell(from.id) },
              { header: mdCodeCell(to.id) },
              { header: 'After / before ○' },
              { header: 'Verdict', align: 'left' },
              { header: 'Announced', align: 'left' },
            ],
            known.map(({ label, unit, a, b, ratio, verdict, expected }) => [
              md(withUnit(label, unit)),
              metricCell(a),
              metricCell(b),
              ratio === null ? dash : formatRatio(ratio),
              md(verdictWords[verdict]),
              expected === null
                ? ''
                : `${arrows[expected.direction]} ${expected.met === null ? 'not known' : expected.met ? '✓ came true' : '✗ did not'}`,
            ]),
          ),
        ]),
    sourceBlock(step),
  ]
}

const troubleSection = ({ troubles }: ReportModel): string[] =>
  troubles.length === 0
    ? []
    : [
        '## Rungs without a result',
        ...troubles.flatMap(({ id, title, status, reason, diagnostics }) => [
          `### ${mdCode(id)}: ${md(title)}`,
          `**${status}.** ${md(inEnglish(reason ?? noReason))}`,
          ...(diagnostics.length > 0
            ? [fenced(diagnostics.map(diagnosticLine).join('\n'), 'text')]
            : []),
        ]),
      ]

export const factTable = (facts: readonly PrintedFact[]): string =>
  mdTable(
    [
      { header: 'What', align: 'left' },
      { header: 'Value', align: 'left' },
    ],
    facts.map(({ label, value: text, code }) => [md(label), code ? mdCodeCell(text) : md(text)]),
  )

const sourceTable = ({ session }: ReportModel): string =>
  details(
    'Sources and parameters of each rung',
    mdTable(
      [
        { header: 'Rung', align: 'left' },
        { header: 'Source', align: 'left' },
        { header: 'SHA-256', align: 'left' },
        { header: 'Parameters', align: 'left' },
        { header: 'Clock before, after', align: 'right' },
        { header: 'Worst relative error' },
      ],
      session.rungs.map(({ id, file, sourceHash, params, timing, verify }) => [
        mdCodeCell(id),
        mdCodeCell(file),
        mdCodeCell(sourceHash),
        mdCodeCell(
          Object.entries(params)
            .map(([name, number]) => `${name}=${number}`)
            .join(' '),
        ),
        timing ? `${timing.smClockBeforeMHz ?? dash}, ${timing.smClockAfterMHz ?? dash} MHz` : dash,
        verify?.worstRelativeError == null ? dash : verify.worstRelativeError.toExponential(2),
      ]),
    ),
  )

const isTold = ({ sections }: ReportModel, section: ReportSection): boolean =>
  sections.includes(section)

/** The rungs with their times, and the matrix of their counters; what the marks mean is below either. */
function ladderSection(model: ReportModel): string[] {
  const { notes, absent } = model
  const hasLadder = isTold(model, 'ladder')
  const hasMatrix = isTold(model, 'matrix')
  if (!hasLadder && !hasMatrix) return []
  const numbered = hasMatrix && notes.length > 0
  return [
    hasLadder ? '## Ladder' : '## Counters',
    ...(hasLadder ? [ladderTable(model)] : []),
    ...(hasMatrix ? counterTables(model) : []),
    md(numbered ? `${legend} A number behind – names the reason.` : legend),
    ...ratioWarnings(model.session).map((warning) => md(inEnglish(warning))),
    ...(numbered ? [notes.map((reason, index) => `${index + 1}. ${md(reason)}`).join('\n')] : []),
    ...(hasMatrix && absent.length > 0
      ? [
          details(
            `Counters without a value on any rung: ${absent.length}`,
            absent.map(({ label, reason }) => `- ${md(label)}: ${md(reason)}`).join('\n'),
          ),
        ]
      : []),
  ]
}

function publishedSection({ published }: ReportModel): string[] {
  if (!published) return []
  const { origin, conclusion, columns, rows } = published
  return [
    '## Published figures beside ours',
    md(origin),
    md(conclusion),
    ...(rows.length === 0
      ? []
      : [
          mdTable(
            [
              { header: 'Rung', align: 'left' },
              { header: 'Whose', align: 'left' },
              ...columns.map((column) => ({ header: md(column) })),
            ],
            rows.flatMap(({ id, theirs, ours }) => [
              [mdCodeCell(id), 'published', ...theirs.map(md)],
              ['', 'here', ...ours.map(md)],
            ]),
          ),
        ]),
  ]
}

/** `pictures`: the folder beside it that holds the charts; without one they are left out. */
export function printMarkdown(model: ReportModel, pictures: string | null = null): string {
  const { session, summary, facts, steps, date } = model
  const parts = [
    `# ${md(model.title)}`,
    ...(date === null ? [] : [`Report of ${md(date)}.`]),
    ...session.warnings.map((warning) => `> **Warning:** ${md(inEnglish(warning))}`),
    ...(session.completion === 'cancelled'
      ? ['> **Warning:** the run was cancelled; this is what was finished until then.']
      : []),
    '## Summary',
    ...summary.best.map(mdSentence),
    ...(summary.jumps.length > 0 ? ['Largest jumps:', list(summary.jumps)] : []),
    ...(summary.unpaid.length > 0 ? ['What did not pay:', list(summary.unpaid)] : []),
    ...(summary.allPaid
      ? ['Every step paid: each is faster than the one before beyond noise.']
      : []),
    ...(summary.troubles.length > 0 ? ['Without a result:', list(summary.troubles)] : []),
    ...ladderSection(model),
    ...(isTold(model, 'ladder') ? publishedSection(model) : []),
    ...(isTold(model, 'charts') && pictures !== null
      ? ['## Charts', ...chartsOf(model).map((chart) => mdPicture(chart, pictures))]
      : []),
    ...(isTold(model, 'compare') && steps.length > 0
      ? ['## Steps', ...steps.flatMap(stepSection)]
      : []),
    ...troubleSection(model),
    '## Provenance',
    factTable(facts.filter(({ id }) => id !== 'reproduce')),
    sourceTable(model),
    'To reproduce:',
    ...facts.filter(({ id }) => id === 'reproduce').map(({ value }) => fenced(value, 'sh')),
  ]
  return `${parts.join('\n\n')}\n`
}
