/** A report for print: one HTML document without scripts, its parts and its style, which Chromium turns into pages. */
import { ratioWarnings } from '../../domain/analysis/comparability'
import { inEnglish } from '../../domain/text/text'
import { formatMs, formatRatio } from '../../domain/metrics/units'
import { halfSpread } from '../../domain/report/summary'
import type { Hunk } from '../compare'
import { printedCauses } from './comparison'
import {
  html,
  htmlCode,
  htmlLines,
  htmlList,
  htmlSentence,
  htmlTable,
  printHtmlTable,
} from './markup'
import {
  dash,
  diagnosticLine,
  legendOf,
  noReason,
  type ReportModel,
  type ReportStep,
} from './model'
import {
  counterTables,
  factTable,
  ladderTable,
  publishedTable,
  stepTable,
  verdictWords,
  waysTable,
} from './tables'
import { placesInPdf, stablePdf, type PdfPrinter } from '../../adapters/print/chromium'
import type { ReportStage } from '../../contract/sessions'

/** The style of a printed report: black on white, one type scale, aligned figures, nothing cut at page breaks. */
export const printStyle = `
@page {
  size: A4;
  margin: 15mm 15mm 15mm 15mm;
  @bottom-left { content: "Kernel Ladder report"; font: 7.5pt Helvetica, Arial, "Liberation Sans", sans-serif; color: #525b67 }
  @bottom-right { content: counter(page) " / " counter(pages); font: 7.5pt Helvetica, Arial, "Liberation Sans", sans-serif; color: #525b67 }
}
* { box-sizing: border-box }
html { color: #171a1f; font: 9pt/1.4 Helvetica, Arial, "Liberation Sans", sans-serif; font-variant-numeric: tabular-nums }
body { margin: 0 }
h1 { margin: 0 0 1mm; font-size: 16pt; line-height: 1.2 }
h2 { margin: 9mm 0 2mm; padding-top: 1.5mm; border-top: 0.7pt solid #171a1f; font-size: 13pt; break-after: avoid }
h3 { margin: 5mm 0 1.2mm; font-size: 10.5pt; break-after: avoid }
h4 { margin: 2.2mm 0 0.8mm; font-size: 9pt; break-after: avoid }
p, ul, ol, dl, figure { margin: 0 0 2mm }
ul, ol { padding-left: 5mm }
li { margin-bottom: 0.5mm }
code, pre { font: 0.88em/1.35 "DejaVu Sans Mono", "Liberation Mono", Menlo, Consolas, monospace }
.sub { color: #525b67 }
.note { max-width: 150mm; white-space: pre-line }
figcaption { margin-top: 1mm; color: #3b434d; font-size: 8.5pt }
.drawn { margin-bottom: 5mm }
.drawn svg { max-height: 114mm }
.best { font-size: 11pt }
.warning { padding: 1mm 2.5mm; border-left: 2.5pt solid #b04a00; background: #fdf3ec }
table { width: 100%; margin: 0 0 3mm; border-collapse: collapse; font-size: 8pt }
thead { display: table-header-group }
tr { break-inside: avoid }
th, td { padding: 0.55mm 1.6mm 0.55mm 0; border-bottom: 0.4pt solid #d9dde2; text-align: left; vertical-align: top; font-weight: 400 }
thead th { border-bottom: 0.7pt solid #525b67; color: #525b67; font-size: 7.5pt; vertical-align: bottom }
th.num, td.num { text-align: right; white-space: nowrap }
thead th.num { white-space: normal }
.num + th:not(.num), .num + td:not(.num) { padding-left: 3mm }
td, tbody th { overflow-wrap: anywhere }
tbody th { min-width: 32mm }
tbody th code { font-size: 7pt }
.published td { white-space: nowrap; font-size: 7.2pt }
sup { font-size: 6.5pt; line-height: 0 }
figure { break-inside: avoid }
svg { display: block; width: 100%; height: auto }
.pairs svg { max-height: 80mm }
.pairs { display: grid; grid-template-columns: 1fr 1fr; gap: 4mm 6mm }
.contents { margin: 5mm 0 0; padding: 0; list-style: none }
.contents li { display: flex; gap: 2mm; align-items: baseline }
.contents li.inner { padding-left: 5mm; font-size: 8.5pt }
.contents i { flex: 1; border-bottom: 0.5pt dotted #8f99a5 }
.contents a { color: inherit; text-decoration: none }
.contents span { min-width: 6mm; text-align: right }
.unmoved { color: #525b67; font-size: 7.5pt }
.diff { margin: 0 0 3mm; padding: 0; border: 0.4pt solid #d9dde2; font-size: 6.2pt; white-space: pre-wrap; overflow-wrap: anywhere; columns: 2; column-gap: 4mm; column-rule: 0.4pt solid #d9dde2 }
.diff span { display: block; padding-left: 0.8em }
.diff .long { padding-left: 2.2em; text-indent: -1.4em }
.diff .hunk { background: #f0f2f4; color: #525b67 }
.diff .added { border-left: 2pt solid #1a5fc4; background: #e9f1fc }
.diff .removed { border-left: 2pt solid #b04a00; background: #fdf0e4 }
.diff .same { border-left: 2pt solid transparent; color: #3b434d }
pre.lines { padding: 1.5mm 2mm; background: #f6f7f9; font-size: 7.5pt; white-space: pre-wrap; overflow-wrap: anywhere }
.hash { font-size: 5.4pt; white-space: nowrap }
`

/** Headings keep their positions; content takes up its space without being drawn. */
export const draftStyle = `
section > * { visibility: hidden }
section > h2, section > h3 { visibility: visible }
`

// The parts of a printed report, each a heading with its content.

/** A heading with its content. */
export interface PrintPart {
  /** The id of the heading, linked from the table of contents. */
  id: string
  /** HTML. */
  title: string
  body: string
  inner?: PrintPart[]
}

export const ladderPart = (model: ReportModel): PrintPart => ({
  id: 'ladder',
  title: 'Ladder',
  body: [
    printHtmlTable(ladderTable(model)),
    ...[waysTable(model)].flatMap((ways) => (ways ? [printHtmlTable(ways)] : [])),
    `<p class="sub">${html(legendOf(model.session))}</p>`,
    ...model.timeNotes.map(
      ({ rung, text }) => `<p class="sub"><code>${html(rung)}</code>: ${html(text)}</p>`,
    ),
    ...ratioWarnings(model.session).map(
      (warning) => `<p class="sub">${html(inEnglish(warning))}</p>`,
    ),
  ].join('\n'),
})

/** The author's published figures beside ours. */
export function publishedPart({ published }: ReportModel): PrintPart[] {
  if (!published) return []
  const { origin, conclusion, rows } = published
  const table = rows.length === 0 ? '' : printHtmlTable(publishedTable(published), 'published')
  const body = `<p>${html(origin)}</p>\n<p>${html(conclusion)}</p>\n${table}`
  return [{ id: 'published', title: 'Published figures beside ours', body }]
}

/** The number of columns that fit on a page beside a rung's name. */
const mostAcross = 8

export function counterPart(model: ReportModel): PrintPart {
  const { notes, absent } = model
  const tables = counterTables(model, mostAcross).map((table) => printHtmlTable(table))
  const body = [
    ...(tables.length > 0 ? tables : ['<p>No counters were collected.</p>']),
    ...(notes.length > 0
      ? [
          '<p class="sub">A number after – refers to the reason:</p>',
          `<ol>${notes.map((reason) => `<li>${html(reason)}</li>`).join('')}</ol>`,
        ]
      : []),
    ...(absent.length > 0
      ? [
          '<h4>No value for any rung</h4>',
          `<ul>${absent.map(({ label, reason }) => `<li>${html(label)}: ${html(reason)}</li>`).join('')}</ul>`,
        ]
      : []),
  ].join('\n')
  return { id: 'counters', title: 'Counters', body }
}

const kinds: Record<string, string> = { '+': 'added', '-': 'removed' }

/** Characters that always fit on a diff line of a column; longer lines wrap, indented below their sign. */
const lineHolds = 60

/** Lines around a change: less than on a screen, since pages do not fold. */
const printedContext = 1

/** Consecutive lines of one kind share an element, because one tag per line would dominate the size of a long report. */
export function htmlDiff(hunks: readonly Hunk[]): string {
  const runs: { look: string; lines: string[] }[] = []
  for (const { oldStart, newStart, lines } of hunks) {
    runs.push({ look: 'hunk', lines: [`lines from ${oldStart}, now from ${newStart}`] })
    for (const line of lines) {
      const kind = kinds[line[0] ?? ''] ?? 'same'
      const isLong = line.length > lineHolds || /[^ -~]/.test(line)
      const look = isLong ? `${kind} long` : kind
      const last = runs.at(-1)!
      if (!isLong && last.look === look) last.lines.push(line)
      else runs.push({ look, lines: [line] })
    }
  }
  const parts = runs.map(
    ({ look, lines }) => `<span class="${look}">${htmlLines(lines.join('\n')) || ' '}</span>`,
  )
  return `<pre class="diff">${parts.join('')}</pre>`
}

/** Partitions by a predicate. */
const split = <T>(all: readonly T[], isTrue: (one: T) => boolean): [T[], T[]] => [
  all.filter(isTrue),
  all.filter((one) => !isTrue(one)),
]

function causeBlock({ why }: Pick<ReportStep, 'why'>): string[] {
  const { groups, unimportant, notes } = printedCauses(why)
  return [
    ...groups.flatMap(({ heading, causes }) => [
      `<h4>${html(heading.replace(/:$/, ''))}</h4>`,
      `<ul>${causes.map(({ share, sentence }) => `<li><b>${share}</b> ${htmlSentence(sentence)}</li>`).join('\n')}</ul>`,
    ]),
    ...(unimportant
      ? [`<p>${html(unimportant.heading)}</p>`, htmlList(unimportant.sentences)]
      : []),
    ...notes.map((note) => `<p>${html(note)}</p>`),
  ]
}

/** Counters that the causes name, and those that moved without mattering. */
const toldBy = ({ causes, unimportant }: ReportStep['why']): Set<string> =>
  new Set([
    ...causes.flatMap(({ metrics }) => metrics.map(({ id }) => id)),
    ...unimportant.map(({ id }) => id),
  ])

/**
 * `hasCounters`: every figure is in the report's tables of counters, so that a step that has causes lists only what
 * bears them and what its author announced.
 */
function stepBody(step: ReportStep, hasCounters: boolean): string {
  const { from, to, comparison, why } = step
  const hunks = step.hunks(printedContext)
  const { time, metrics } = comparison
  const known = metrics.filter(({ a, b }) => a?.value != null || b?.value != null)
  const [unmoved, moved] = split(known, ({ verdict, expected }) => {
    return verdict === 'same' && expected === null
  })
  const told = toldBy(why)
  const isShort = hasCounters && why.causes.length > 0
  const [shown, others] = split(
    moved,
    ({ id, expected }) => !isShort || expected !== null || told.has(id),
  )
  const listed = (words: string, metrics: typeof known): string[] =>
    metrics.length === 0
      ? []
      : [`<p class="unmoved">${words}: ${metrics.map(({ label }) => html(label)).join(', ')}.</p>`]
  return [
    ...(to.idea ? [`<p><i>Idea:</i> ${html(to.idea)}</p>`] : []),
    time.speedup === null
      ? '<p>One of the rungs has no time.</p>'
      : `<p>Time: ${html(formatMs(time.aMs!))} → ${html(formatMs(time.bMs!))}, ${formatRatio(time.speedup)} ± ${html(halfSpread(time.noise!))} as fast, ${verdictWords[time.verdict]}.</p>`,
    ...causeBlock(step),
    ...(known.length === 0 ? ['<p>No counter has a value for either rung.</p>'] : []),
    ...(shown.length === 0 ? [] : [printHtmlTable(stepTable(step, shown))]),
    ...(others.length === 0
      ? []
      : [
          `<p class="unmoved">Moved too, with their figures under Counters: ${others.length} more.</p>`,
        ]),
    ...(hasCounters ? [] : listed(verdictWords.same, unmoved)),
    hunks === null
      ? '<p>The session does not contain both sources, so there is no diff.</p>'
      : hunks.length === 0
        ? '<p>The sources are the same below their headers.</p>'
        : `<h4>${htmlCode(from.file)} → ${htmlCode(to.file)}</h4>\n${htmlDiff(hunks)}`,
  ].join('\n')
}

export const stepParts = ({ steps, sections }: ReportModel): PrintPart[] =>
  steps.map((step, index) => ({
    id: `step-${index}`,
    title: `${htmlCode(step.from.id)} → ${htmlCode(step.to.id)}: ${html(step.to.title)}`,
    body: stepBody(step, sections.includes('matrix')),
  }))

export function troublePart({ troubles }: ReportModel): PrintPart[] {
  if (troubles.length === 0) return []
  const body = troubles
    .map(({ id, title, status, reason, diagnostics }) =>
      [
        `<h4>${htmlCode(id)}: ${html(title)}</h4>`,
        `<p><b>${status}.</b> ${html(inEnglish(reason ?? noReason))}</p>`,
        ...(diagnostics.length > 0
          ? [`<pre class="lines">${htmlLines(diagnostics.map(diagnosticLine).join('\n'))}</pre>`]
          : []),
      ].join('\n'),
    )
    .join('\n')
  return [{ id: 'troubles', title: 'Rungs without a result', body }]
}

export function provenancePart({ facts, session }: ReportModel): PrintPart {
  const values = (value: Readonly<Record<string, number>>): string =>
    Object.entries(value)
      .map(([name, number]) => `${name}=${number}`)
      .join(' ')
  // Kernels of a program or an import have no source.
  const rungs = session.rungs.filter(({ file }) => file !== '')
  const reproduce = facts.find(({ id }) => id === 'reproduce')?.value ?? ''
  const body = [
    printHtmlTable(factTable(facts.filter(({ id }) => id !== 'reproduce'))),
    '<h3>To reproduce</h3>',
    `<pre class="lines">${htmlLines(reproduce)}</pre>`,
    ...(rungs.length === 0
      ? []
      : [
          '<h3>Sources and parameters of each rung</h3>',
          htmlTable(
            [
              { header: 'Rung', align: 'left' },
              { header: 'Source and its SHA-256', align: 'left' },
              { header: 'Parameters', align: 'left' },
              { header: 'Clock before, after' },
              { header: 'Worst relative error' },
            ],
            rungs.map(({ id, file, sourceHash, params, timing, verify }) => [
              htmlCode(id),
              `${htmlCode(file)}<br><span class="hash">${htmlCode(sourceHash)}</span>`,
              html(values(params)),
              timing
                ? `${timing.smClockBeforeMHz ?? dash}, ${timing.smClockAfterMHz ?? dash} MHz`
                : dash,
              verify?.worstRelativeError == null
                ? dash
                : verify.worstRelativeError.toExponential(2),
            ]),
          ),
        ]),
  ].join('\n')
  return { id: 'provenance', title: 'Provenance', body }
}

// A report for print: one HTML document without scripts, which Chromium turns into pages. Its table of contents has
// page numbers once a draft has determined them.

/** Pages by heading id. */
export type PageNumbers = ReadonlyMap<string, number>

export interface PrintDocument {
  title: string
  /** HTML: the small text below the title. */
  sub: string
  /** Paragraphs of its author's. */
  notes: readonly string[]
  warnings: readonly string[]
  parts: readonly PrintPart[]
}

function contents(parts: readonly PrintPart[], pages: PageNumbers): string {
  const entry = ({ id, title }: PrintPart, isInner: boolean): string =>
    `<li${isInner ? ' class="inner"' : ''}><a href="#${id}">${title}</a><i></i><span>${pages.get(id) ?? ''}</span></li>`
  const entries = parts.flatMap((part) => [
    entry(part, false),
    ...(part.inner ?? []).map((inner) => entry(inner, true)),
  ])
  return `<nav aria-label="Contents"><ul class="contents">${entries.join('\n')}</ul></nav>`
}

const part = ({ id, title, body, inner = [] }: PrintPart, level: 2 | 3 = 2): string =>
  `<section><h${level} id="${id}">${title}</h${level}>\n${body}\n${inner.map((one) => part(one, 3)).join('\n')}</section>`

/** Without page numbers it is a draft: laid out like the report, but with little of it drawn. */
export function printPage(document: PrintDocument, pages?: PageNumbers): string {
  const { title, sub, notes, warnings, parts } = document
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${html(title)}</title>
<style>${printStyle}${pages ? '' : draftStyle}</style>
</head>
<body>
<h1>${html(title)}</h1>
<p class="sub">${sub}</p>
${notes.map((note) => `<p class="note">${htmlLines(note)}</p>`).join('\n')}
${warnings.map((warning) => `<p class="warning"><b>Warning:</b> ${html(warning)}</p>`).join('\n')}
${contents(parts, pages ?? new Map())}
${parts.map((one) => part(one)).join('\n')}
</body>
</html>
`
}

// A report as PDF. It is printed twice: a draft determines the page of each heading, and the second print has these
// numbers in its table of contents. The creation date is the session's, so that the same session yields the same
// bytes with the same browser and fonts.

export interface PdfTools {
  printPdf: PdfPrinter
  /** Called at each stage. */
  onStage?: ((stage: ReportStage) => void) | undefined
}

/** `madeOn`: an ISO date, of the report or of the session. */
export async function printPdfReport(
  document: PrintDocument,
  madeOn: string,
  { printPdf, onStage }: PdfTools,
): Promise<Uint8Array> {
  onStage?.('layout')
  const pages = placesInPdf(await printPdf(printPage(document), { draft: true }))
  onStage?.('print')
  return stablePdf(await printPdf(printPage(document, pages)), new Date(madeOn))
}
