/** Formats a report on one session as a printable document. */
import { inEnglish } from '../../domain/text/english'
import type { ReportSection } from '../../domain/report/frozen-report'
import { chartsOf, printChart, type ReportChart } from './charts'
import { html, htmlCode, htmlList, htmlSentence } from './html-markup'
import { madeWord, type ReportModel } from './model'
import { type PrintDocument } from './print-document'
import {
  counterPart,
  ladderPart,
  nextPart,
  provenancePart,
  publishedPart,
  stepParts,
  troublePart,
  type PrintPart,
} from './print-parts'

function summaryBody({ summary }: ReportModel): string {
  const { best, jumps, unpaid, allPaid, troubles } = summary
  return [
    ...best.map((sentence) => `<p class="best">${htmlSentence(sentence)}</p>`),
    ...(jumps.length > 0 ? ['<h3>Largest improvements</h3>', htmlList(jumps, 'ol')] : []),
    ...(unpaid.length > 0 ? ['<h3>Steps that did not pay off</h3>', htmlList(unpaid)] : []),
    ...(allPaid
      ? ['<p>Every step paid off: each rung is faster than the one before, beyond noise.</p>']
      : []),
    ...(troubles.length > 0 ? ['<h3>Rungs without a result</h3>', htmlList(troubles)] : []),
  ].join('\n')
}

const wide = { width: 672, labelWidth: 220 }
const half = { width: 324, labelWidth: 110 }

/**
 * Whether a chart takes up half the page width. Two counter charts share a row, in the original
 * order.
 */
const isHalf = (chart: ReportChart): boolean => 'bars' in chart && chart.word !== 'throughput'

function chartBody(model: ReportModel): string {
  const charts = chartsOf(model)
  return charts
    .flatMap((chart, index) => {
      if (!isHalf(chart)) return printChart(chart, wide)
      const starts = index === 0 || !isHalf(charts[index - 1]!)
      const next = charts[index + 1]
      return [
        ...(starts ? ['<div class="pairs">'] : []),
        ...printChart(chart, half),
        ...(next && isHalf(next) ? [] : ['</div>']),
      ]
    })
    .join('\n')
}

function partsOf(model: ReportModel): PrintPart[] {
  const ifWanted = (section: ReportSection, parts: () => PrintPart[]): PrintPart[] =>
    model.sections.includes(section) ? parts() : []
  return [
    { id: 'summary', title: 'Summary', body: summaryBody(model) },
    ...ifWanted('ladder', () => [ladderPart(model), ...nextPart(model), ...publishedPart(model)]),
    ...ifWanted('charts', () => [{ id: 'charts', title: 'Charts', body: chartBody(model) }]),
    ...ifWanted('matrix', () => [counterPart(model)]),
    ...ifWanted('compare', () => {
      const steps = stepParts(model)
      return steps.length > 0 ? [{ id: 'steps', title: 'Steps', body: '', inner: steps }] : []
    }),
    ...troublePart(model),
    provenancePart(model),
  ]
}

export function sessionDocument(model: ReportModel): PrintDocument {
  const { session, title, subject, authorNotes, date } = model
  const { completion, createdAt, id, warnings } = session
  return {
    title,
    notes: authorNotes,
    sub: `${subject === null ? '' : `${html(subject)}. `}${htmlCode(id)}, ${madeWord(session)} on ${html(createdAt)}${date === null ? '' : `; report of ${html(date)}`}`,
    warnings: [
      ...warnings.map(inEnglish),
      ...(completion === 'cancelled'
        ? ['the run was cancelled; this is what had finished by then.']
        : []),
    ],
    parts: partsOf(model),
  }
}
