/**
 * Compares two sessions with the same ladder and problem, such as before and after a change, or on
 * two GPUs. Rejects sessions that cannot be compared. For comparable sessions, lists the
 * differences in the measurement conditions.
 */
import { inEnglish, paragraph, pieces } from '../../domain/text/english'
import { message, together, Statement } from '../../domain/messages/message'
import { type Why, whyOf } from '../../domain/why/why'
import { comparability } from '../../domain/analysis/comparability'
import { leadFigure, leadOf, rateText } from '../../domain/analysis/lead-figure'
import { compareRungs, RungComparison } from '../../domain/analysis/compare'
import { inputError } from '../../domain/errors'
import type { ReportSection } from '../../domain/report/frozen-report'
import { can } from '../../domain/targets/targets'
import { compareSessions } from '../../domain/programs/compare-sessions'
import { rungOf, type RungResult, Session } from '../../domain/session/session'
import { noReason, type ReportInput } from './model'
import { headline, printedProvenance } from '../../domain/report/provenance'
import { scrubSession } from './scrub'
import { code, say, type Sentence } from '../../domain/messages/sentence'
import { paramWords } from '../../domain/session/rung-origins'
import { diffSources, Hunk } from '../compare/source-diff'

export interface ComparedRung {
  a: RungResult
  b: RungResult
  comparison: RungComparison
  why: Why
  /** Throughput in each session. Empty if the rung has no time. */
  rates: readonly [string, string]
  /** Source diff, or null if the source is the same or missing. */
  hunks: Hunk[] | null
}

export interface ComparisonModel {
  /**
   * Summary of the difference between the sessions, with the same wording as in the other formats.
   */
  answer: Sentence
  /** Sections in addition to the summary and the provenance. */
  sections: readonly ReportSection[]
  a: Session
  b: Session
  /**
   * The author's title and paragraphs. If there is no title, the default title names the compared
   * sessions.
   */
  title: string | null
  authorNotes: readonly string[]
  date: string | null
  warnings: Statement[]
  rungs: ComparedRung[]
  /** Rungs that only one session contains, and rungs whose parameters or status differ. */
  changes: Sentence[]
  facts: ComparedFact[]
}

/** One provenance entry, with its value in both sessions. */
export interface ComparedFact {
  id: string
  label: string
  a: string
  b: string
  code?: true
}

export function factsOf(a: Session, b: Session): ComparedFact[] {
  const other = printedProvenance(b)
  return printedProvenance(a).map((fact, index) => ({
    id: fact.id,
    label: fact.label,
    a: fact.value,
    b: other[index]!.value,
    ...(fact.code ? { code: fact.code } : {}),
  }))
}

export const parameterChanges = (a: Session, b: Session): Sentence[] =>
  a.rungs.flatMap((left): Sentence[] => {
    const right = rungOf(b, left.id)
    const [before, after] = [paramWords(left), right ? paramWords(right) : '']
    if (!right || before === after) return []
    return [say`${code(left.id)} has different parameters: ${code(before)} and ${code(after)}.`]
  })

function changesOf(a: Session, b: Session): Sentence[] {
  // In a program's session, ids are only numbers, so kernels cannot be matched by id.
  if (!can(a.target).knowsRun || !can(b.target).knowsRun) return []
  const only = (one: Session, other: Session, which: string): Sentence[] =>
    one.rungs
      .filter(({ id }) => !rungOf(other, id))
      .map(({ id }) => say`${code(id)} is only in the ${which} session.`)
  const statuses = a.rungs.flatMap((left): Sentence[] => {
    const right = rungOf(b, left.id)
    if (!right || right.status === left.status) return []
    const why = right.status === 'ok' ? '' : ` ${inEnglish(right.reason ?? noReason)}`
    return [say`${code(left.id)} was ${left.status} and is now ${right.status}.${why}`]
  })
  return [...only(a, b, 'first'), ...only(b, a, 'second'), ...parameterChanges(a, b), ...statuses]
}

export function buildComparison(before: ReportInput, after: ReportInput): ComparisonModel {
  const a = scrubSession(before.session, before.scrub.sentence)
  const b = scrubSession(after.session, after.scrub.sentence)
  const { refusals, warnings } = comparability(a, b)
  if (refusals.length > 0)
    throw inputError(
      together(message('reports.notComparable'), ...refusals),
      message('reports.nameComparable'),
    )
  const lead = leadOf(a)
  const compared = compareSessions(a, b)
  const seen = new Set<string>()
  const rungs = compared.pairs.flatMap(({ sideA, sideB }): ComparedRung[] => {
    const [left, right] = [rungOf(a, sideA.rung), rungOf(b, sideB.rung)]
    if (!left || !right || seen.has(left.id)) return []
    seen.add(left.id)
    const [from, to] = [before.sources[left.id], after.sources[right.id]]
    const hunks =
      from === undefined || to === undefined || from === to
        ? null
        : diffSources(before.scrub.source(from), after.scrub.source(to))
    const comparison = compareRungs({ session: a, rung: left }, { session: b, rung: right })
    const rates = [
      rateText(leadFigure(a, left, lead)),
      rateText(leadFigure(b, right, lead)),
    ] as const
    const why = whyOf({ session: a, rung: left }, { session: b, rung: right })
    return [{ a: left, b: right, comparison, why, rates, hunks }]
  })
  if (rungs.length === 0 && compared.fused.length === 0)
    throw inputError(message('reports.nothingInCommon'), message('reports.seeRungs'))
  return {
    answer: paragraph(compared.answer),
    sections: before.sections,
    a,
    b,
    title: before.authored?.title ?? null,
    authorNotes: before.authored?.notes ?? [],
    date: before.date,
    warnings: [
      ...warnings,
      ...a.warnings.map((what) => message('guard.ofFirst', { what })),
      ...b.warnings.map((what) => message('guard.ofSecond', { what })),
    ],
    rungs,
    changes: changesOf(a, b),
    facts: factsOf(a, b),
  }
}

/** Returns the main cause for each rung that became faster or slower. */
export const firstCauses = ({ rungs }: ComparisonModel): Sentence[] =>
  rungs.flatMap(({ a, why }): Sentence[] => {
    const [cause] = why.causes
    return cause ? [[code(a.id), ': ', ...pieces(cause.statement)]] : []
  })

export const comparisonSubject = ({ a }: ComparisonModel): string =>
  `${inEnglish(headline(a))}: two sessions`

export const comparisonTitle = (model: ComparisonModel): string =>
  model.title ?? comparisonSubject(model)

export const comparisonLegend =
  'Times are measured (CUDA events, the median); ○ is derived from them. ± is half the sum of both relative interquartile ranges; a change within the full sum, or below half a percent, is = same.'
