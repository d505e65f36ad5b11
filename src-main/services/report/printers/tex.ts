/** The ladder as a LaTeX booktabs table, with the meaning and provenance of the figures below it. */
import { ratioWarnings } from '../../../domain/analysis/comparability'
import { inEnglish } from '../../../domain/text/wording'
import { rungOrigins } from '../../../domain/session/rung-origins'
import {
  comparisonLegend,
  comparisonTitle,
  type ComparedRung,
  type ComparisonModel,
} from '../comparison'
import { dash, legend, type LadderRow, type ReportModel, noReason } from '../model'
import { tex, texCode, texComment, texSentence } from '../tex-text'
import { timeTexts } from '../tables'
import type { Printer } from './printer'

const rowLine = ({
  rung,
  isReference,
  time,
  spread,
  throughput,
  ratio,
  step,
}: LadderRow): string => {
  const name = `${texCode(rung.id)} & ${tex(rung.title)}${isReference ? ' (reference)' : ''}`
  // A rung without a time shows the reason in place of its figures.
  const figures = rung.timing
    ? [time, spread, throughput, ratio, step].map(({ text }) => tex(text)).join(' & ')
    : `\\multicolumn{5}{c}{${tex(rung.status)}}`
  const status = rung.timing && rung.status !== 'ok' ? ` (${tex(rung.status)})` : ''
  return `    ${name}${status} & ${figures} \\\\`
}

/** A second table, so that the first keeps its width. */
function publishedTable({ published, session }: ReportModel): string[] {
  if (!published || published.rows.length === 0) return []
  const { origin, conclusion, columns, rows } = published
  return [
    '\\begin{table}',
    '  \\centering\\footnotesize',
    `  \\caption{Published figures beside ours. ${tex(origin)}}`,
    `  \\label{tab:${label(session.id)}-published}`,
    '  \\begin{tabular}{llrr}',
    '    \\toprule',
    '    Rung & Figure & Published & Here \\\\',
    '    \\midrule',
    // One row per figure, because side by side they would not fit on a page.
    ...rows.flatMap(({ id, theirs, ours }) =>
      columns.flatMap((column, index) =>
        theirs[index] === dash
          ? []
          : [
              `    ${[texCode(id), ...[column, theirs[index]!, ours[index]!].map(tex)].join(' & ')} \\\\`,
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

/** A label that is valid in LaTeX. */
const label = (text: string): string => text.replaceAll(/[^A-Za-z0-9:.-]/g, '-')

function printSession(model: ReportModel): string {
  const { session, summary, rows, facts, troubles, date } = model
  const notes = [
    tex(legend),
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
  return [
    texComment('Needs \\usepackage{booktabs}.'),
    ...(date === null ? [] : [texComment(`Report of ${date}.`)]),
    ...session.rungs.map(({ id, file, sourceHash }) =>
      texComment(`${id}: ${file}, SHA-256 ${sourceHash}`),
    ),
    '\\begin{table}',
    // Fits 165 mm of text.
    '  \\centering\\footnotesize\\setlength{\\tabcolsep}{3pt}',
    `  \\caption{${tex(model.title)}. ${summary.best.map(texSentence).join(' ')}}`,
    `  \\label{tab:${label(session.id)}}`,
    '  \\begin{tabular}{llrrrrr}',
    '    \\toprule',
    `    Rung & What & Time & ${tex('±')} & ${tex('Throughput ○')} & ${tex('To ref. ○')} & ${tex('To prev. ○')} \\\\`,
    '    \\midrule',
    ...rows.map(rowLine),
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
    ...publishedTable(model),
  ].join('\n')
}

function printComparison(model: ComparisonModel): string {
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
    `  \\caption{${tex(comparisonTitle(model))}. First: ${tex(a.device?.name ?? 'no GPU')}, ${tex(a.id)}. Second: ${tex(b.device?.name ?? 'no GPU')}, ${tex(b.id)}.}`,
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
