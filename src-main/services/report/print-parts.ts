/** Formats a printed report's parts. Each part has a heading and content. */
import { ratioWarnings } from '../../domain/analysis/comparability'
import { inEnglish } from '../../domain/text/english'
import { formatMs, formatRatio } from '../../domain/metrics/units'
import { halfSpread } from '../../domain/report/summary'
import {
  html,
  htmlCode,
  htmlLines,
  htmlList,
  htmlSentence,
  htmlTable,
  printHtmlTable,
} from './html-markup'
import {
  dash,
  diagnosticLine,
  firstStepLines,
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
import type { Hunk } from '../compare/source-diff'
import { printedCauses } from './printed-causes'

/** A heading and the content below it. */
export interface PrintPart {
  /** The heading's id, to which the table of contents links. */
  id: string
  /** Title as HTML. */
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

/** Returns the first suggested step for each rung. */
export function nextPart(model: ReportModel): PrintPart[] {
  const lines = firstStepLines(model)
  if (lines.length === 0) return []
  const body = `<ul>${lines.map(({ rung, text }) => `<li>${htmlCode(rung)}: ${html(text)}</li>`).join('\n')}</ul>`
  return [{ id: 'next', title: 'What to change next', body }]
}

/** Returns the author's published results next to this session's results. */
export function publishedPart({ published }: ReportModel): PrintPart[] {
  if (!published) return []
  const { title, origin, conclusion, rows } = published
  const table = rows.length === 0 ? '' : printHtmlTable(publishedTable(published), 'published')
  const body = `<p>${html(origin)}</p>\n<p>${html(conclusion)}</p>\n${table}`
  return [{ id: 'published', title, body }]
}

/** Number of columns that fit on a page next to a rung's name. */
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

/**
 * Number of characters that always fit on one line in a diff column. Longer lines wrap with an
 * indent.
 */
const lineHolds = 60

/**
 * Number of context lines around a change. A printed diff shows fewer lines than the screen,
 * because paper cannot fold sections.
 */
const printedContext = 1

/**
 * Returns a diff as HTML. Consecutive lines of the same kind share an element, because one tag per
 * line would make a long report much larger.
 */
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

/** Splits a list into the items that match a predicate and the other items. */
const split = <T>(all: readonly T[], isTrue: (one: T) => boolean): [T[], T[]] => [
  all.filter(isTrue),
  all.filter((one) => !isTrue(one)),
]

function causeBlock({ why }: Pick<ReportStep, 'why'>): string[] {
  const { groups, unimportant, notes } = printedCauses(why)
  return [
    ...groups.flatMap(({ heading, causes }) => [
      `<h4>${html(heading.replace(/:$/, ''))}</h4>`,
      `<ul>${causes.map(({ factor: own, sentence }) => `<li><b>${own}</b> ${htmlSentence(sentence)}</li>`).join('\n')}</ul>`,
    ]),
    ...(unimportant
      ? [`<p>${html(unimportant.heading)}</p>`, htmlList(unimportant.sentences)]
      : []),
    ...notes.map((note) => `<p>${html(note)}</p>`),
  ]
}

/**
 * Returns the counters that the causes name, and the counters that changed without affecting the
 * time.
 */
const citedMetrics = ({ causes, unimportant }: ReportStep['why']): Set<string> =>
  new Set([
    ...causes.flatMap(({ metrics }) => metrics.map(({ id }) => id)),
    ...unimportant.map(({ id }) => id),
  ])

/**
 * Returns a step's body. `hasCounters` is set if other tables in the report list all counters. With
 * `hasCounters`, a step with causes lists only the counters that are evidence for the causes or
 * that the author predicted.
 */
function stepBody(step: ReportStep, hasCounters: boolean): string {
  const { from, to, comparison, why } = step
  const hunks = step.hunks(printedContext)
  const { time, metrics } = comparison
  const known = metrics.filter(({ a, b }) => a?.value != null || b?.value != null)
  const [unmoved, moved] = split(known, ({ verdict, expected }) => {
    return verdict === 'same' && expected === null
  })
  const explanation = citedMetrics(why)
  const isShort = hasCounters && why.causes.length > 0
  const [shown, others] = split(
    moved,
    ({ id, expected }) => !isShort || expected !== null || explanation.has(id),
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
          `<p class="unmoved">Also changed, with figures under Counters: ${others.length} more.</p>`,
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
  // Kernels in a program or an import have no source file.
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
