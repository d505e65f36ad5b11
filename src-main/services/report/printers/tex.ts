/**
 * Prints a ladder as a LaTeX booktabs table, followed by the meaning and provenance of the numbers.
 * Additional tables list the counters. Text paragraphs list each step's causes.
 */
import { ratioWarnings } from '../../../domain/analysis/comparability'
import { inEnglish } from '../../../domain/text/english'
import type { ReportSection } from '../../../domain/report/frozen-report'
import { formatRatio } from '../../../domain/metrics/units'
import {
  comparisonLegend,
  comparisonTitle,
  type ComparedRung,
  type ComparisonModel,
} from '../comparison'
import {
  dash,
  legendOf,
  placeWords,
  type Figure,
  type LadderRow,
  type ReportModel,
  noReason,
} from '../model'
import { counterTables, timeTexts, waysTable, type Cell } from '../tables'
import type { Printer } from './printer'
import { rungOrigins } from '../../../domain/session/rung-origins'
import { printedCauses } from '../printed-causes'
import { tex, texCode, texComment, texSentence } from '../latex-markup'

/**
 * Returns the counted metrics that fit next to a rung's name. The counter tables contain all other
 * metrics.
 */
const countedHere = ({ counted }: ReportModel): number[] =>
  counted.flatMap(({ id }, index) =>
    ['integerShare', 'controlShare', 'wavesPerSm', 'theoreticalOccupancy'].includes(id)
      ? []
      : [index],
  )

/**
 * Returns the column headings. The columns show kernel times under ncu, rung times, or counted
 * metrics if nothing was timed.
 */
const figureHeadings = (model: ReportModel): string[] =>
  model.rows[0]?.kernel
    ? ['GPU time', 'Share ○', 'Launches', 'Median launch'].map(tex)
    : model.counted.length > 0
      ? countedHere(model).map((index) => narrow(tex(model.counted[index]!.label), 16))
      : ['Time', '±', 'Throughput ○', 'Ref.', 'To ref. ○', 'Step ○'].map(tex)

/** Returns a heading that wraps within a narrow column. */
const narrow = (heading: string, mm: number): string =>
  `\\parbox[b]{${mm}mm}{\\raggedleft ${heading}}`

const rowLine = (row: LadderRow, counted: readonly number[]): string => {
  const { rung, isReference, time, spread, throughput, beside, ratio, step, kernel } = row
  const name = `${texCode(rung.id)} & ${tex(rung.title)}${isReference ? ' (reference)' : ''}`
  const joined = (all: readonly Figure[]): string => all.map(({ text }) => tex(text)).join(' & ')
  if (kernel) {
    const { time: inAll, share, launches, median } = kernel
    return `    ${name} & ${joined([inAll, share, launches, median])} \\\\`
  }
  if (counted.length > 0 && rung.status === 'ok')
    return `    ${name} & ${joined(counted.map((index) => row.counted[index]!))} \\\\`
  // If a rung has no results, its row shows the reason.
  const figures = rung.timing
    ? joined([time, spread, throughput, beside, ratio, step])
    : `\\multicolumn{${counted.length || 6}}{c}{${tex(rung.status)}}`
  const status = rung.timing && rung.status !== 'ok' ? ` (${tex(rung.status)})` : ''
  return `    ${name}${status} & ${figures} \\\\`
}

/** Returns the published results as a second table, because a combined table would be too wide. */
function publishedTable({ published, session }: ReportModel): string[] {
  if (!published || published.rows.length === 0) return []
  const { title, origin, conclusion, columns, rows, hasOurs } = published
  return [
    '\\begin{table}',
    '  \\centering\\footnotesize',
    `  \\caption{${tex(title)}. ${tex(origin)}}`,
    `  \\label{tab:${label(session.id)}-published}`,
    `  \\begin{tabular}{llr${hasOurs ? 'r' : ''}}`,
    '    \\toprule',
    `    Rung & Figure & Published${hasOurs ? ' & Here' : ''} \\\\`,
    '    \\midrule',
    // Print one value per row, because two values per row would not fit on a page.
    ...rows.flatMap(({ id, theirs, ours }) =>
      columns.flatMap((column, index) =>
        theirs[index] === dash
          ? []
          : [
              `    ${[texCode(id), ...[column, theirs[index]!, ...(hasOurs ? [ours[index]!] : [])].map(tex)].join(' & ')} \\\\`,
            ],
      ),
    ),
    '    \\bottomrule',
    '  \\end{tabular}',
    '',
    '  \\smallskip',
    '  \\begin{minipage}{\\linewidth}',
    `    \\footnotesize\\raggedright ${tex(conclusion)}`,
    '  \\end{minipage}',
    '\\end{table}',
    '',
  ]
}

/**
 * Returns bursts and sustained launches as a separate table, because a combined table would be too
 * wide.
 */
function waysTexTable(model: ReportModel): string[] {
  const ways = waysTable(model)
  if (!ways) return []
  return [
    '\\begin{table}',
    '  \\centering\\footnotesize',
    `  \\caption{Bursts and sustained launches. ${tex(model.title)}}`,
    `  \\label{tab:${label(model.session.id)}-ways}`,
    `  \\begin{tabular}{l*{${ways.columns.length - 1}}{r}}`,
    '    \\toprule',
    `    ${ways.columns.map(cellTex).join(' & ')} \\\\`,
    '    \\midrule',
    ...ways.rows.map((row) => `    ${row.map(cellTex).join(' & ')} \\\\`),
    '    \\bottomrule',
    '  \\end{tabular}',
    '\\end{table}',
    '',
  ]
}

/** Returns a valid LaTeX label. */
const label = (text: string): string => text.replaceAll(/[^A-Za-z0-9:.-]/g, '-')

/** Returns the author's paragraphs, which come before the tables. */
const noteLines = (notes: readonly string[]): string[] =>
  notes.flatMap((note) => [
    ...note
      .split(/\n\s*\n/)
      .map(tex)
      .filter(Boolean)
      .flatMap((paragraph) => [paragraph, '']),
  ])

/** Maximum number of counters that fit next to a rung's name in 165 mm of text. */
const mostAcross = 5

const cellTex = ({ text, code, mark = '', note }: Cell): string =>
  `${code ? texCode(text) : tex(text)}${tex(mark)}${note === undefined ? '' : `\\textsuperscript{${note}}`}`

/**
 * Returns the tables that list every counter that at least one rung has. The reasons for missing
 * values follow the last table.
 */
function counterTexTables(model: ReportModel): string[] {
  const tables = counterTables(model, mostAcross)
  return tables.flatMap(({ columns, rows }, index) => {
    const isLast = index === tables.length - 1
    return [
      '\\begin{table}',
      '  \\centering\\footnotesize\\setlength{\\tabcolsep}{3pt}',
      `  \\caption{Counters${tables.length > 1 ? `, ${index + 1} of ${tables.length}` : ''}. ${tex(model.title)}}`,
      `  \\label{tab:${label(model.session.id)}-counters-${index + 1}}`,
      `  \\begin{tabular}{l*{${columns.length - 1}}{r}}`,
      '    \\toprule',
      `    ${columns.map((column, place) => (place === 0 ? cellTex(column) : narrow(cellTex(column), 23))).join(' & ')} \\\\`,
      '    \\midrule',
      ...rows.map((row) => `    ${row.map(cellTex).join(' & ')} \\\\`),
      '    \\bottomrule',
      '  \\end{tabular}',
      ...(isLast && model.notes.length > 0
        ? [
            '',
            '  \\smallskip',
            '  \\begin{minipage}{\\linewidth}',
            '    \\footnotesize\\raggedright',
            ...model.notes.map(
              (reason, place) => `    \\textsuperscript{${place + 1}} ${tex(reason)}\\par`,
            ),
            '  \\end{minipage}',
          ]
        : []),
      '\\end{table}',
      '',
    ]
  })
}

/** Returns each step with its causes. Uses LaTeX's built-in lists, which need no package. */
function stepLines({ steps }: ReportModel): string[] {
  if (steps.length === 0) return []
  return [
    '\\paragraph{Why each step is faster or slower.}',
    ...steps.flatMap(({ from, to, comparison: { time }, why }) => {
      const { groups, unimportant, notes } = printedCauses(why)
      const factor = time.speedup === null ? 'no time' : tex(formatRatio(time.speedup))
      const causeLines = [
        ...groups.flatMap(({ heading, causes }) => [
          tex(heading),
          ...causes.map(
            ({ factor: own, sentence }) => `\\textbf{${tex(own)}} ${texSentence(sentence)}`,
          ),
        ]),
        ...(unimportant
          ? [`${tex(unimportant.heading)} ${unimportant.sentences.map(texSentence).join(' ')}`]
          : []),
        ...notes.map(tex),
      ]
      return [
        '',
        `\\noindent ${texCode(from.id)} $\\rightarrow$ ${texCode(to.id)} (${tex(to.title)}): ${factor}.`,
        ...(causeLines.length > 0
          ? ['\\begin{itemize}', ...causeLines.map((one) => `  \\item ${one}`), '\\end{itemize}']
          : []),
      ]
    }),
    '',
  ]
}

function ladderLines(model: ReportModel): string[] {
  const { session, summary, rows, facts, troubles } = model
  const counted = countedHere(model)
  const notes = [
    tex(legendOf(session)),
    ...model.timeNotes.map(({ rung, text }) => `${texCode(rung)}: ${tex(text)}.`),
    ...ratioWarnings(session).map((warning) => tex(inEnglish(warning))),
    ...facts.map(
      ({ label: what, value, code }) => `${tex(what)}: ${code ? texCode(value) : tex(value)}.`,
    ),
    ...session.warnings.map((warning) => `Warning: ${tex(inEnglish(warning))}`),
    ...troubles.map(
      ({ id, status, reason }) =>
        `${texCode(id)} is ${tex(status)}: ${tex(inEnglish(reason ?? noReason))}`,
    ),
  ]
  const subject = model.subject === null ? '' : ` ${tex(model.subject)}.`
  const headings = figureHeadings(model)
  return [
    '\\begin{table}',
    // With this font size and column spacing, the table fits a text width of 165 mm.
    '  \\centering\\footnotesize\\setlength{\\tabcolsep}{3pt}',
    `  \\caption{${tex(model.title)}.${subject} ${summary.best.map(texSentence).join(' ')}}`,
    `  \\label{tab:${label(session.id)}}`,
    `  \\begin{tabular}{ll${headings.map(() => 'r').join('')}}`,
    '    \\toprule',
    `    Rung & What & ${headings.join(' & ')} \\\\`,
    '    \\midrule',
    ...rows.map((row) => rowLine(row, counted)),
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
    ...waysTexTable(model),
    ...publishedTable(model),
  ]
}

function printSession(model: ReportModel): string {
  const { session, date } = model
  const ifWanted = (section: ReportSection, lines: () => string[]): string[] =>
    model.sections.includes(section) ? lines() : []
  return [
    texComment('Needs \\usepackage{booktabs}.'),
    ...(date === null ? [] : [texComment(`Report of ${date}.`)]),
    ...session.rungs.map(({ id, file, sourceHash }) =>
      texComment(`${id}: ${file}, SHA-256 ${sourceHash}`),
    ),
    ...noteLines(model.authorNotes),
    ...ifWanted('ladder', () => ladderLines(model)),
    ...ifWanted('matrix', () => counterTexTables(model)),
    ...ifWanted('compare', () => stepLines(model)),
  ].join('\n')
}

function printComparison(model: ComparisonModel): string {
  const { a, b, answer, rungs, facts, warnings, changes, date } = model
  const cells = (rung: ComparedRung): string =>
    [texCode(rung.a.id), ...timeTexts(rung).slice(0, 4).map(tex)].join(' & ')
  const notes = [
    texSentence(answer),
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
    ...noteLines(model.authorNotes),
    '\\begin{table}',
    '  \\centering',
    `  \\caption{${tex(comparisonTitle(model))}. First: ${tex(a.id)} ${tex(placeWords(a))}. Second: ${tex(b.id)} ${tex(placeWords(b))}.}`,
    '  \\begin{tabular}{lrrrr}',
    '    \\toprule',
    `    Rung & First & Second & ${tex('Speedup ○')} & ${tex('±')} \\\\`,
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

export const texPrinter: Printer = { session: printSession, comparison: printComparison }
