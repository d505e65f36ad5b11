/** Formats a comparison of two sessions as a printable document. */
import { inEnglish } from '../../domain/text/english'
import type { ReportSection } from '../../domain/report/frozen-report'
import { chartFigures, pairChart } from './charts'
import { madeWord, placeWords } from './model'
import { html, htmlCode, htmlList, htmlSentence, htmlTable, printHtmlTable } from './html-markup'
import { type PrintDocument } from './print-document'
import {
  comparisonLegend,
  comparisonSubject,
  comparisonTitle,
  firstCauses,
  type ComparedRung,
  type ComparisonModel,
} from './comparison'
import { comparedFactTable, movedCounters, movedTable, timeTable } from './tables'
import { rungOrigins } from '../../domain/session/rung-origins'
import { htmlDiff, type PrintPart } from './print-parts'

const name = ({ a }: ComparedRung): string => `${htmlCode(a.id)}: ${html(a.title)}`

function summaryPart(model: ComparisonModel): PrintPart {
  const { a, b, changes } = model
  const one = (label: string, session: typeof a): string =>
    `<li>${label}: ${htmlCode(session.id)} ${html(placeWords(session))}, ${madeWord(session)} on ${html(session.createdAt)}</li>`
  const body = [
    `<p class="best">${htmlSentence(model.answer)}</p>`,
    `<ul>${one('First', a)}${one('Second', b)}</ul>`,
    ...(changes.length > 0 ? ['<h3>Changes besides the times</h3>', htmlList(changes)] : []),
  ]
  return { id: 'summary', title: 'Summary', body: body.join('\n') }
}

function timePart(model: ComparisonModel): PrintPart {
  const causes = firstCauses(model)
  const body = [
    printHtmlTable(timeTable(model.rungs)),
    `<p class="sub">${html(comparisonLegend)}</p>`,
    ...(causes.length > 0 ? ['<h3>First causes</h3>', htmlList(causes)] : []),
  ]
  return { id: 'times', title: 'Times', body: body.join('\n') }
}

/** Returns the rungs that have changed counters, and those counters. */
const counterParts = ({ rungs }: ComparisonModel): PrintPart[] =>
  rungs.flatMap((rung, index) => {
    const moved = movedCounters(rung)
    if (moved.length === 0) return []
    const body = printHtmlTable(movedTable(moved))
    return [{ id: `counters-${index}`, title: name(rung), body }]
  })

const sourceParts = ({ rungs }: ComparisonModel): PrintPart[] =>
  rungs.flatMap((rung, index) => {
    const { hunks } = rung
    if (hunks === null || hunks.length === 0) return []
    return [{ id: `source-${index}`, title: name(rung), body: htmlDiff(hunks) }]
  })

function provenancesPart(model: ComparisonModel): PrintPart {
  const facts = printHtmlTable(comparedFactTable(model.facts))
  const origins = htmlTable(
    [
      { header: 'Rung', align: 'left' },
      { header: 'In', align: 'left' },
      { header: 'Source and its SHA-256', align: 'left' },
      { header: 'Parameters', align: 'left' },
    ],
    rungOrigins(model.a, model.b).map(({ id, which, file, sourceHash, params }) => [
      htmlCode(id),
      which,
      `${htmlCode(file)}<br><span class="hash">${htmlCode(sourceHash)}</span>`,
      html(params),
    ]),
  )
  const body = [facts, '<h3>Sources and parameters of each rung</h3>', origins].join('\n')
  return { id: 'provenance', title: 'Provenance', body }
}

function comparisonParts(model: ComparisonModel): PrintPart[] {
  const ifWanted = (section: ReportSection, parts: () => PrintPart[]): PrintPart[] =>
    model.sections.includes(section) ? parts() : []
  const group = (id: string, title: string, inner: PrintPart[], none: string): PrintPart[] => [
    { id, title, body: inner.length > 0 ? '' : `<p>${none}</p>`, inner },
  ]
  return [
    summaryPart(model),
    ...ifWanted('ladder', () => [timePart(model)]),
    ...ifWanted('charts', () => {
      const chart = pairChart(model)
      const body = chart ? chartFigures(chart, { width: 672, labelWidth: 220 }).join('\n') : ''
      return chart ? [{ id: 'charts', title: 'Charts', body }] : []
    }),
    ...ifWanted('matrix', () =>
      group('counters', 'Counters that changed', counterParts(model), 'No counter changed.'),
    ),
    ...ifWanted('compare', () =>
      group('sources', 'Sources', sourceParts(model), 'No source in both sessions changed.'),
    ),
    provenancesPart(model),
  ]
}

export function comparisonDocument(model: ComparisonModel): PrintDocument {
  const { a, title, authorNotes, date, warnings } = model
  return {
    title: comparisonTitle(model),
    notes: authorNotes,
    sub: `${title === null ? '' : `${html(comparisonSubject(model))}. `}${htmlCode(a.id)} beside ${htmlCode(model.b.id)}${date === null ? '' : `; report of ${html(date)}`}`,
    warnings: warnings.map(inEnglish),
    parts: comparisonParts(model),
  }
}
