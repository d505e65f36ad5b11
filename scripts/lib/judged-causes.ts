/**
 * Lists the causes of every recorded step and how people judged these causes. docs/evidence/why.md
 * contains the counts. docs/evidence/tables/causes.md contains the steps.
 */
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import { formatRatio } from '../../src-main/domain/metrics/units'
import { md, mdTable, details, mdHtml, mdSentence } from '../../src-main/domain/text/markdown'
import { code } from '../../src-main/domain/messages/sentence'
import { whyOfSteps, type WhyStep } from '../../src-main/domain/why/why-steps'
import { sharedSessions, sharingSessions } from '../../src-main/adapters/disk/shared-sessions'
import { printedCauses } from '../../src-main/services/report/printed-causes'

/**
 * Judgments about a top-ranked cause:
 * - right: the cause is the intended effect of the source change, according to the header and the
 *   source.
 * - effect: the cause is true but is not the reason for the change in time.
 * - wrong: the cause is not true.
 * - empty: no cause is given.
 * - same: the times are equal, so there is no cause.
 */
const judgements = ['right', 'effect', 'wrong', 'empty', 'same'] as const

type Judgement = (typeof judgements)[number]

/** A judged top-ranked cause and its key. If the cause changes, the judgment no longer applies. */
interface Judged {
  cause: string
  verdict: 'right' | 'effect' | 'wrong'
  /** Reason why the cause is wrong. */
  because?: string
}

/** Judgments by recording and by step (`a → b`). */
export type JudgedCauses = Readonly<Record<string, Readonly<Record<string, Judged>>>>

export const judgedPath = 'test/domain/why/judged-causes.json'

export const readJudged = (root: string): JudgedCauses =>
  JSON.parse(readFileSync(join(root, judgedPath), 'utf8')) as JudgedCauses

/**
 * Returns the key of the top-ranked cause, such as `busy: fmaUtilization, stallLongScoreboard`. The
 * key contains no figures, so a judgment stays valid if only figures change.
 */
export const causeKey = ({ why }: WhyStep): string | null => {
  const [cause] = why.causes
  return cause ? `${cause.id}: ${cause.metrics.map(({ id }) => id).join(', ')}` : null
}

export const stepKey = ({ a, b }: WhyStep): string => `${a.id} → ${b.id}`

export interface RecordedSteps {
  recording: string
  title: string
  level: string
  steps: WhyStep[]
}

/** GPU on which the judged steps were recorded. */
const judgedGpu = 'NVIDIA H200'

export async function recordedSteps(recordings: string): Promise<RecordedSteps[]> {
  const names = (await sharingSessions(join(recordings, sharedSessions))).sort()
  const found = await Promise.all(
    names.map(async (recording) => {
      const session = await readSession(join(recordings, recording))
      if (session.device && session.device.name !== judgedGpu) return []
      return [
        {
          recording,
          title: session.ladder.title,
          level: session.settings.profile,
          steps: whyOfSteps(session),
        },
      ]
    }),
  )
  return found.flat()
}

function judgementOf(step: WhyStep, judged: Judged | undefined): Judgement | 'unjudged' {
  const cause = causeKey(step)
  if (step.why.verdict === 'same') return 'same'
  if (cause === null) return 'empty'
  return judged?.cause === cause ? judged.verdict : 'unjudged'
}

function stepText(step: WhyStep, judged: Judged | undefined): string {
  const { a, b, why } = step
  const factor =
    a.timing && b.timing ? `, ${formatRatio(a.timing.medianMs / b.timing.medianMs)} as fast` : ''
  const { groups, notes } = printedCauses(why)
  const judgement = judgementOf(step, judged)
  const because = judgement === 'wrong' && judged?.because ? `: ${judged.because}` : ''
  return [
    `${mdSentence([code(a.id), ' → ', code(b.id)])}${factor} (${judgement}${md(because)})`,
    ...groups.flatMap(({ causes }) =>
      causes.map(({ factor: own, sentence }) => `- **${own}** ${mdSentence(sentence)}`),
    ),
    ...(groups.length === 0 && notes[0] ? [`- ${md(notes[0])}`] : []),
  ].join('\n')
}

export const whyPath = 'docs/evidence/why.md'
export const causesPath = 'docs/evidence/tables/causes.md'

/**
 * Returns the generated part of each document. why.md contains counts by level. causes.md contains
 * counts by recording, followed by all steps.
 */
export function causesParts(
  recorded: readonly RecordedSteps[],
  judged: JudgedCauses,
): (readonly [path: string, part: string])[] {
  const all = recorded.map(({ recording, level, steps }) => {
    const found = steps.map((step) => judgementOf(step, judged[recording]?.[stepKey(step)]))
    const count = (wanted: Judgement | 'unjudged'): number =>
      found.filter((one) => one === wanted).length
    return { recording, level, counts: [...judgements, 'unjudged' as const].map(count) }
  })
  const sums = all[0]!.counts.map((_, index) =>
    all.reduce((sum, { counts }) => sum + counts[index]!, 0),
  )
  const hasUnjudged = sums.at(-1)! > 0
  const columns = hasUnjudged ? [...judgements, 'unjudged'] : judgements
  const row = (name: string, level: string, counts: readonly number[]): string[] => [
    name,
    level,
    ...counts.slice(0, columns.length).map(String),
  ]
  const counts = columns.map((header) => ({ header, align: 'right' as const }))
  const levels = [...new Set(all.map(({ level }) => level))]
  const summary = mdTable(
    [{ header: 'level', align: 'left' }, { header: 'recordings', align: 'right' }, ...counts],
    [...levels, 'all'].map((level) => {
      const own = all.filter((one) => level === 'all' || one.level === level)
      const sum = columns.map((_, index) =>
        own.reduce((total, one) => total + one.counts[index]!, 0),
      )
      return [level, ...[own.length, ...sum].map(String)]
    }),
  )
  const table = mdTable(
    [{ header: 'recording', align: 'left' }, { header: 'level', align: 'left' }, ...counts],
    [
      ...all.map(({ recording, level, counts }) => row(`\`${recording}\``, level, counts)),
      row('all', '', sums),
    ],
  )
  const blocks = recorded.map(({ recording, title, steps }) =>
    details(
      `<code>${mdHtml(recording)}</code>: ${mdHtml(title)}`,
      steps.map((step) => stepText(step, judged[recording]?.[stepKey(step)])).join('\n\n'),
    ),
  )
  return [
    [whyPath, summary],
    [causesPath, [table, ...blocks].join('\n\n')],
  ]
}
