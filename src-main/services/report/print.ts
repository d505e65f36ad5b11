/**
 * A report for print: one HTML document without scripts, that a Chromium turns into pages. Its contents
 * name the page of each heading once a first print has told them.
 */
import type { ReportSection } from '../../domain/frozen-report'
import { barsSvg } from './bars-svg'
import { metricCharts, throughputChart } from './charts'
import { html, htmlCode, htmlSentence } from './html-text'
import type { ReportModel } from './model'
import { printStyle } from './print-style'
import {
  counterPart,
  ladderPart,
  provenancePart,
  publishedPart,
  stepParts,
  troublePart,
  type PrintPart,
} from './print-parts'
import type { Sentence } from '../../domain/sentence'

/** Pages by the id of a heading. */
export type PageNumbers = ReadonlyMap<string, number>

const list = (sentences: readonly Sentence[], tag = 'ul'): string =>
  `<${tag}>${sentences.map((sentence) => `<li>${htmlSentence(sentence)}</li>`).join('')}</${tag}>`

function summaryBody({ summary }: ReportModel): string {
  const { best, jumps, unpaid, allPaid, troubles } = summary
  return [
    ...best.map((sentence) => `<p class="best">${htmlSentence(sentence)}</p>`),
    ...(jumps.length > 0 ? ['<h3>Largest jumps</h3>', list(jumps, 'ol')] : []),
    ...(unpaid.length > 0 ? ['<h3>What did not pay</h3>', list(unpaid)] : []),
    ...(allPaid
      ? ['<p>Every step paid: each is faster than the one before beyond noise.</p>']
      : []),
    ...(troubles.length > 0 ? ['<h3>Without a result</h3>', list(troubles)] : []),
  ].join('\n')
}

function chartBody(model: ReportModel): string {
  const large = throughputChart(model)
  const small = metricCharts(model)
  return [
    ...(large ? [`<figure>${barsSvg(large, { width: 672, labelWidth: 220 })}</figure>`] : []),
    '<div class="pairs">',
    ...small.map((chart) => `<figure>${barsSvg(chart, { width: 324, labelWidth: 110 })}</figure>`),
    '</div>',
  ].join('\n')
}

function partsOf(model: ReportModel): PrintPart[] {
  const told = (section: ReportSection, parts: () => PrintPart[]): PrintPart[] =>
    model.sections.includes(section) ? parts() : []
  const steps = stepParts(model)
  return [
    { id: 'summary', title: 'Summary', body: summaryBody(model) },
    ...told('ladder', () => [ladderPart(model), ...publishedPart(model)]),
    ...told('charts', () => [{ id: 'charts', title: 'Charts', body: chartBody(model) }]),
    ...told('matrix', () => [counterPart(model)]),
    ...told('compare', () =>
      steps.length > 0 ? [{ id: 'steps', title: 'Steps', body: '', inner: steps }] : [],
    ),
    ...troublePart(model),
    provenancePart(model),
  ]
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

export function printDocument(model: ReportModel, pages: PageNumbers = new Map()): string {
  const { session, title, date } = model
  const parts = partsOf(model)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${html(title)}</title>
<style>${printStyle}</style>
</head>
<body>
<h1>${html(title)}</h1>
<p class="sub">${htmlCode(session.id)}, measured on ${html(session.createdAt)}${date === null ? '' : `; report of ${html(date)}`}</p>
${session.warnings.map((warning) => `<p class="warning"><b>Warning:</b> ${html(warning)}</p>`).join('\n')}
${session.completion === 'cancelled' ? '<p class="warning"><b>Warning:</b> the run was cancelled; this is what was finished until then.</p>' : ''}
${contents(parts, pages)}
${parts.map((one) => part(one)).join('\n')}
</body>
</html>
`
}
