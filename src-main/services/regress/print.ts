/** Formats the verdicts as Markdown for a pull request and as JUnit XML for a test report. */
import { percentChange } from '../../domain/analysis/time-change'
import { formatMs } from '../../domain/metrics/units'
import { roundPercent, type RegressReport, type RegressRung } from '../../domain/regress/report'
import type { RegressVerdict } from '../../domain/regress/verdict'
import { problemWord } from '../../domain/task/problem'
import { md, mdCode, mdCodeCell, mdTable } from '../../domain/text/markdown'
import { inEnglish } from '../../domain/text/english'
import { html } from '../report/html-markup'

/**
 * Slower and broken rungs come first, then undecided rungs, because readers start at the top of a
 * long table.
 */
const order: readonly RegressVerdict[] = ['slower', 'broken', 'unresolved']

export const byVerdict = (rungs: readonly RegressRung[]): RegressRung[] => {
  const rank = ({ verdict }: RegressRung): number => (order.indexOf(verdict) + 4) % 4
  return rungs.toSorted((a, b) => rank(a) - rank(b))
}

export const time = (ms: number | null): string => (ms === null ? '–' : formatMs(ms))

/** Formats a change with its interval, such as `+1.02 % (+0.95 % to +1.10 %)`. */
export const changeOf = ({ ratio, interval }: RegressRung): string =>
  ratio === null || interval === null
    ? '–'
    : `${percentChange(ratio)} (${percentChange(interval.low)} to ${percentChange(interval.high)})`

export const cyclesOf = ({ cycles }: RegressRung): string =>
  cycles === null ? '–' : percentChange(cycles.ratio)

/** Returns a description of the old code's origin. */
export const againstOf = ({ against }: RegressReport): string =>
  against.kind === 'session'
    ? `the session ${against.name}`
    : `${against.name} (${against.commit.slice(0, 12)})`

/** Returns a paragraph that explains the method behind the verdicts. */
export function howDecided({
  thresholdPercent,
  askedPercent,
  sameCode,
  confidence,
}: RegressReport): string {
  const limit = roundPercent(thresholdPercent)
  const spread = sameCode === null ? '' : ` (here up to ${roundPercent(sameCode.percent)} %)`
  const why =
    thresholdPercent > askedPercent
      ? `more than the ${roundPercent(askedPercent)} % requested, because unchanged code varies by that much on this machine`
      : `the larger of the requested threshold and the variation of unchanged code on this machine${spread}`
  return (
    `Old and new were built and measured alternately on this GPU. A rung is slower or faster if the whole ${100 * confidence} % interval ` +
    `of its change is beyond ±${limit} %, ${why}; the same if the interval is inside; and unresolved otherwise. ` +
    'If a rung’s own unchanged code varies by more than that, the rung must change by more than this variation.'
  )
}

const row = (rung: RegressRung): string[] => [
  mdCodeCell(rung.id),
  md(time(rung.oldMs)),
  md(time(rung.newMs)),
  md(changeOf(rung)),
  md(cyclesOf(rung)),
  rung.verdict,
  md(rung.reason === null ? '' : inEnglish(rung.reason)),
]

export const regressMarkdown = (report: RegressReport): string =>
  `${[
    `## Kernel Ladder: ${md(report.headline)}`,
    `${mdCode(report.ladder)} at ${md(problemWord(report.problem))} on ${md(report.gpu.name)}, against ${md(againstOf(report))}.`,
    ...report.notes.map((note) => `> **Note:** ${md(inEnglish(note))}`),
    mdTable(
      [
        { header: 'Rung', align: 'left' },
        { header: 'Old' },
        { header: 'New' },
        { header: 'Time change' },
        { header: 'Cycle change' },
        { header: 'Verdict', align: 'left' },
        { header: 'Why', align: 'left' },
      ],
      byVerdict(report.rungs).map(row),
    ),
    md(howDecided(report)),
  ].join('\n\n')}\n`

/** Escapes text as in HTML, and replaces two characters that XML forbids. */
const xml = (text: string): string => html(text).replace(/[\ufffe\uffff]/g, '\ufffd')

const sentence = (rung: RegressRung): string =>
  [
    rung.ratio === null ? '' : `${changeOf(rung)} in time`,
    rung.reason === null ? '' : inEnglish(rung.reason),
  ]
    .filter(Boolean)
    .join('. ')

function testcase(report: RegressReport, rung: RegressRung): string {
  const open = `  <testcase classname="${xml(report.ladder)}" name="${xml(rung.id)}" time="${((rung.newMs ?? 0) / 1000).toFixed(9)}"`
  const text = xml(sentence(rung))
  if (rung.verdict === 'slower' || rung.verdict === 'broken')
    return `${open}>\n    <failure type="${rung.verdict}" message="${text}"/>\n  </testcase>`
  if (['unresolved', 'skipped', 'gone', 'new'].includes(rung.verdict))
    return `${open}>\n    <skipped message="${xml(rung.verdict)}${text === '' ? '' : `: ${text}`}"/>\n  </testcase>`
  return `${open}/>`
}

/**
 * Returns one test case per rung. Slower and broken rungs fail, and undecided rungs are skipped.
 */
export function regressJunit(report: RegressReport): string {
  const count = (...wanted: RegressVerdict[]): number =>
    report.rungs.filter(({ verdict }) => wanted.includes(verdict)).length
  const counts = `tests="${report.rungs.length}" failures="${count('slower', 'broken')}" skipped="${count('unresolved', 'skipped', 'gone', 'new')}"`
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    ` <testsuite name="${xml(`kernel-ladder regress ${report.ladder}`)}" ${counts}>`,
    ...report.rungs.map((rung) => testcase(report, rung)),
    ' </testsuite>',
    '</testsuites>',
  ].join('\n')}\n`
}
