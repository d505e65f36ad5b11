/** Prints a report as GitHub Markdown with tables and collapsible source diffs. */
import { ratioWarnings } from '../../../domain/analysis/comparability'
import { inEnglish } from '../../../domain/text/english'
import type { ReportSection } from '../../../domain/report/frozen-report'
import { formatMs, formatRatio } from '../../../domain/metrics/units'
import {
  details,
  fenced,
  md,
  mdCode,
  mdCodeCell,
  mdHtml,
  mdSentence,
  mdTable,
} from '../../../domain/text/markdown'
import {
  comparedFactTable,
  counterTables,
  movedCounters,
  movedTable,
  timeTable,
  factTable,
  ladderTable,
  publishedTable,
  stepTable,
  verdictWords,
  waysTable,
} from '../tables'
import {
  comparisonLegend,
  comparisonSubject,
  comparisonTitle,
  firstCauses,
  type ComparedRung,
  type ComparisonModel,
} from '../comparison'
import { chartsOf, mdChart, mdPicture, pairChart } from '../charts'
import {
  dash,
  diagnosticLine,
  firstStepLines,
  legendOf,
  placeWords,
  noReason,
  type ReportModel,
  type ReportStep,
} from '../model'
import { halfSpread } from '../../../domain/report/summary'
import type { Printer } from './printer'
import type { Sentence } from '../../../domain/messages/sentence'
import type { Hunk } from '../../compare/source-diff'
import { printedCauses } from '../printed-causes'
import { originTable, printMdTable } from '../markdown-tables'

export const list = (sentences: readonly Sentence[]): string =>
  sentences.map((sentence) => `- ${mdSentence(sentence)}`).join('\n')

/** Splits a note into paragraphs at blank lines. */
const mdParagraphs = (note: string): string[] =>
  note
    .split(/\n\s*\n/)
    .map(md)
    .filter(Boolean)

/** Approximate number of columns that GitHub shows next to a rung's name without scrolling. */
const mostAcross = 8

const patchText = (hunks: readonly Hunk[]): string =>
  hunks
    .flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
      ...lines,
    ])
    .join('\n')

function sourceBlock({ hunks: diff, from, to }: ReportStep): string {
  const hunks = diff()
  if (hunks === null) return 'The session does not contain both sources, so there is no diff.'
  if (hunks.length === 0) return 'The sources are the same below their headers.'
  const count = (sign: string): number =>
    hunks.flatMap(({ lines }) => lines).filter((line) => line.startsWith(sign)).length
  return details(
    `Source diff: ${mdHtml(from.file)} → ${mdHtml(to.file)}, ${count('+')} lines added, ${count('-')} removed`,
    fenced(patchText(hunks), 'diff'),
  )
}

function causeBlock({ why }: Pick<ReportStep, 'why'>): string[] {
  const { groups, unimportant, notes } = printedCauses(why)
  return [
    ...groups.map(
      ({ heading, causes }) =>
        `${heading}\n\n${causes.map(({ factor: own, sentence }) => `- **${own}** ${mdSentence(sentence)}`).join('\n')}`,
    ),
    ...(unimportant ? [`${unimportant.heading}\n\n${list(unimportant.sentences)}`] : []),
    ...notes.map(md),
  ]
}

function stepSection(step: ReportStep): string[] {
  const { from, to, comparison } = step
  const { time, metrics } = comparison
  const timeLine =
    time.speedup === null
      ? 'One of the rungs has no time.'
      : `Time: ${formatMs(time.aMs!)} → ${formatMs(time.bMs!)}, ${formatRatio(time.speedup)} ± ${halfSpread(time.noise!)} as fast, ${verdictWords[time.verdict]}.`
  const known = metrics.filter(({ a, b }) => a?.value != null || b?.value != null)
  return [
    `### ${mdCode(from.id)} → ${mdCode(to.id)}: ${md(to.title)}`,
    ...(to.idea ? [`_Idea:_ ${md(to.idea)}.`.replace(/\.\.$/, '.')] : []),
    timeLine,
    ...causeBlock(step),
    ...(known.length === 0
      ? ['No counter has a value for either rung.']
      : [printMdTable(stepTable(step, known))]),
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

/**
 * Returns the source file table. Omits kernels in a program or an import, because they have no
 * source file.
 */
const sourceTable = ({ session }: ReportModel): string[] => {
  const rungs = session.rungs.filter(({ file }) => file !== '')
  if (rungs.length === 0) return []
  return [
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
        rungs.map(({ id, file, sourceHash, params, timing, verify }) => [
          mdCodeCell(id),
          mdCodeCell(file),
          mdCodeCell(sourceHash),
          mdCodeCell(
            Object.entries(params)
              .map(([name, number]) => `${name}=${number}`)
              .join(' '),
          ),
          timing
            ? `${timing.smClockBeforeMHz ?? dash}, ${timing.smClockAfterMHz ?? dash} MHz`
            : dash,
          verify?.worstRelativeError == null ? dash : verify.worstRelativeError.toExponential(2),
        ]),
      ),
    ),
  ]
}

const isTold = ({ sections }: ReportModel, section: ReportSection): boolean =>
  sections.includes(section)

/**
 * Returns the table of rungs with their times, and the table of their counters. A legend follows
 * each table.
 */
function ladderSection(model: ReportModel): string[] {
  const { notes, absent } = model
  const hasLadder = isTold(model, 'ladder')
  const hasMatrix = isTold(model, 'matrix')
  if (!hasLadder && !hasMatrix) return []
  const numbered = hasMatrix && notes.length > 0
  return [
    hasLadder ? '## Ladder' : '## Counters',
    ...(hasLadder
      ? [ladderTable(model), waysTable(model)].flatMap((one) => (one ? [printMdTable(one)] : []))
      : []),
    ...(hasMatrix ? counterTables(model, mostAcross).map(printMdTable) : []),
    md(
      numbered
        ? `${legendOf(model.session)} A number after – refers to the reason.`
        : legendOf(model.session),
    ),
    ...(hasLadder && model.timeNotes.length > 0
      ? [model.timeNotes.map(({ rung, text }) => `- ${mdCode(rung)}: ${md(text)}`).join('\n')]
      : []),
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

function nextSection(model: ReportModel): string[] {
  const lines = firstStepLines(model)
  if (lines.length === 0) return []
  return [
    '## What to change next',
    lines.map(({ rung, text }) => `- ${mdCode(rung)}: ${md(text)}`).join('\n'),
  ]
}

function publishedSection({ published }: ReportModel): string[] {
  if (!published) return []
  const { title, origin, conclusion, rows } = published
  return [
    `## ${title}`,
    md(origin),
    md(conclusion),
    ...(rows.length === 0 ? [] : [printMdTable(publishedTable(published))]),
  ]
}

/**
 * Prints a session. `pictures` is the folder that contains the charts, next to the report file. If
 * `pictures` is null, the charts are omitted.
 */
function printSession(model: ReportModel, pictures: string | null = null): string {
  const { session, summary, facts, steps, date } = model
  const parts = [
    `# ${md(model.title)}`,
    ...(model.subject === null ? [] : [md(model.subject)]),
    ...model.authorNotes.flatMap(mdParagraphs),
    ...(date === null ? [] : [`Report of ${md(date)}.`]),
    ...session.warnings.map((warning) => `> **Warning:** ${md(inEnglish(warning))}`),
    ...(session.completion === 'cancelled'
      ? ['> **Warning:** the run was cancelled; this is what had finished by then.']
      : []),
    '## Summary',
    ...summary.best.map(mdSentence),
    ...(summary.jumps.length > 0 ? ['Largest improvements:', list(summary.jumps)] : []),
    ...(summary.unpaid.length > 0 ? ['Steps that did not pay off:', list(summary.unpaid)] : []),
    ...(summary.allPaid
      ? ['Every step paid off: each rung is faster than the one before, beyond noise.']
      : []),
    ...(summary.troubles.length > 0 ? ['Rungs without a result:', list(summary.troubles)] : []),
    ...ladderSection(model),
    ...(isTold(model, 'ladder') ? [...nextSection(model), ...publishedSection(model)] : []),
    ...(isTold(model, 'charts') && pictures !== null
      ? ['## Charts', ...chartsOf(model).flatMap((chart) => mdChart(chart, pictures))]
      : []),
    ...(isTold(model, 'compare') && steps.length > 0
      ? ['## Steps', ...steps.flatMap(stepSection)]
      : []),
    ...troubleSection(model),
    '## Provenance',
    printMdTable(factTable(facts.filter(({ id }) => id !== 'reproduce'))),
    ...sourceTable(model),
    'To reproduce:',
    ...facts.filter(({ id }) => id === 'reproduce').map(({ value }) => fenced(value, 'sh')),
  ]
  return `${parts.join('\n\n')}\n`
}

function counterBlock(rung: ComparedRung): string[] {
  const { a } = rung
  const moved = movedCounters(rung)
  if (moved.length === 0) return []
  const table = printMdTable(movedTable(moved))
  return [details(`<code>${mdHtml(a.id)}</code>: counters that changed`, table)]
}

const diffBlock = ({ a, hunks }: ComparedRung): string[] =>
  hunks === null || hunks.length === 0
    ? []
    : [details(`<code>${mdHtml(a.id)}</code>: source diff`, fenced(patchText(hunks), 'diff'))]

const warningLines = ({ warnings }: ComparisonModel): string[] =>
  warnings.map((warning) => `> **Warning:** ${md(inEnglish(warning))}`)

/**
 * Prints a comparison. `pictures` is the folder that contains the chart, next to the report file.
 * If `pictures` is null, the chart is omitted.
 */
function printComparison(model: ComparisonModel, pictures: string | null = null): string {
  const ifWanted = (section: ReportSection, parts: () => string[]): string[] =>
    model.sections.includes(section) ? parts() : []
  const headed = (heading: string, blocks: string[]): string[] =>
    blocks.length > 0 ? [heading, ...blocks] : []
  const chart = pairChart(model)
  const causes = firstCauses(model)
  return `${[
    `# ${md(comparisonTitle(model))}`,
    ...(model.title === null ? [] : [md(comparisonSubject(model))]),
    ...model.authorNotes.flatMap(mdParagraphs),
    ...(model.date === null ? [] : [`Report of ${md(model.date)}.`]),
    ...warningLines(model),
    mdSentence(model.answer),
    `First: ${mdCode(model.a.id)} ${md(placeWords(model.a))}. Second: ${mdCode(model.b.id)} ${md(placeWords(model.b))}.`,
    ...(model.changes.length > 0 ? [list(model.changes)] : []),
    ...ifWanted('ladder', () => [
      '## Times',
      printMdTable(timeTable(model.rungs)),
      md(comparisonLegend),
      ...headed('First causes:', causes.length > 0 ? [list(causes)] : []),
    ]),
    ...ifWanted('charts', () =>
      headed('## Charts', chart && pictures !== null ? [mdPicture(chart, pictures)] : []),
    ),
    ...ifWanted('matrix', () => headed('## Counters', model.rungs.flatMap(counterBlock))),
    ...ifWanted('compare', () => headed('## Sources', model.rungs.flatMap(diffBlock))),
    '## Provenance',
    printMdTable(comparedFactTable(model.facts)),
    originTable(model.a, model.b),
  ].join('\n\n')}\n`
}

export const markdownPrinter: Printer = {
  session: (model, { pictures }) => printSession(model, pictures),
  comparison: (model, { pictures }) => printComparison(model, pictures),
}
