/**
 * Prints a check against a baseline for a pull request. The output contains the headline, one row
 * per rung, and both sessions' provenance.
 */
import { type BaselineCheck, type RungCheck } from '../../domain/analysis/baseline-check'
import { percentChange } from '../../domain/analysis/time-change'
import { message } from '../../domain/messages/message'
import { inEnglish, pieces } from '../../domain/text/english'
import { headline } from '../../domain/report/provenance'
import type { Session } from '../../domain/session/session'
import { details, md, mdCode, mdCodeCell, mdSentence, mdTable } from '../../domain/text/markdown'
import { formatMs } from '../../domain/metrics/units'
import { factsOf, parameterChanges } from './comparison'
import { list } from './printers/markdown'
import { comparedFactTable } from './tables'
import { dash, placeWords } from './model'
import { originTable, printMdTable } from './markdown-tables'

const signs: Record<RungCheck['verdict'], string> = {
  slower: '▼',
  broken: '✗',
  unresolved: '?',
  faster: '▲',
  same: '=',
  mended: '✓',
  new: '+',
  skipped: '–',
}

const time = (ms: number | null): string => (ms === null ? dash : formatMs(ms))

const row = ({ id, verdict, reasons, status, medianMs, change }: RungCheck): string[] => [
  mdCodeCell(id),
  md(time(medianMs.baseline)),
  md(time(medianMs.now)),
  change ? md(percentChange(change.ratio)) : dash,
  md(
    status.baseline === status.now
      ? (status.now ?? dash)
      : `${status.baseline ?? dash} → ${status.now ?? dash}`,
  ),
  `${signs[verdict]} ${md(inEnglish(message(`rungVerdict.${verdict}`)))}`,
  md(reasons.map(inEnglish).join(' ')),
]

/**
 * Slower and broken rungs come first, then undecided rungs, because readers start at the top of a
 * long table.
 */
const order: RungCheck['verdict'][] = ['slower', 'broken', 'unresolved']
const rank = ({ verdict }: RungCheck): number =>
  order.includes(verdict) ? order.indexOf(verdict) : order.length

const on = (session: Session): string => `${mdCode(session.id)} ${md(placeWords(session))}`

const definition = (threshold: number): string =>
  `A rung is slower if the whole confidence interval of its change is above +${threshold} %, same or faster if none of it is, and unresolved otherwise. ` +
  'Times are measured (CUDA events, the median); the change ○ is derived from them. Its interval is the ratio of the ' +
  'two medians’ 95 % confidence intervals, each widened to the quartiles of its samples.'

export function baselineMarkdown(check: BaselineCheck, baseline: Session, now: Session): string {
  const changes = parameterChanges(baseline, now)
  return `${[
    `## Kernel Ladder: ${mdSentence(pieces(check.headline))}`,
    `${md(inEnglish(headline(baseline)))}. Baseline: ${on(baseline)}. Now: ${on(now)}.`,
    ...check.obstacles.map((obstacle) => `> **Not compared:** ${md(inEnglish(obstacle))}`),
    ...check.notes.map((note) => `> **Note:** ${mdSentence(pieces(note))}`),
    ...[baseline, now].flatMap(({ warnings }, index) =>
      warnings.map(
        (warning) =>
          `> **Warning:** ${md(`${index === 0 ? 'Baseline' : 'Now'}: ${inEnglish(warning)}`)}`,
      ),
    ),
    mdTable(
      [
        { header: 'Rung', align: 'left' },
        { header: 'Baseline' },
        { header: 'Now' },
        { header: 'Change ○' },
        { header: 'Status', align: 'left' },
        { header: 'Verdict', align: 'left' },
        { header: 'Why', align: 'left' },
      ],
      check.rungs.toSorted((a, b) => rank(a) - rank(b)).map(row),
    ),
    md(definition(check.thresholdPercent)),
    ...(changes.length > 0 ? [details('Parameters that changed', list(changes))] : []),
    details('Provenance', printMdTable(comparedFactTable(factsOf(baseline, now)))),
    originTable(baseline, now),
  ].join('\n\n')}\n`
}
