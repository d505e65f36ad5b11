/** Why a step is faster or slower, as a report prints it. */
import { inEnglish, pieces } from '../../domain/text/english'
import { formatShare } from '../../domain/metrics/units'
import { Cause, type Why } from '../../domain/why/why'
import type { Sentence } from '../../domain/messages/sentence'
import { contributionsOf, type Contribution } from '../../domain/why/contributions'

interface PrintedCause {
  /** null for what is unexplained. */
  cause: Cause | null
  share: string
  sentence: Sentence
}

interface PrintedCauses {
  /** What made the step what it is, and then what worked against it; neither if there are no causes. */
  groups: { heading: string; causes: PrintedCause[] }[]
  /** What moved and did not matter, under its heading; null if nothing did. */
  unimportant: { heading: string; sentences: Sentence[] } | null
  /** What else there is to say: why there are no causes, and which level would tell more. */
  notes: string[]
}

const headings: Record<Why['verdict'], string> = {
  better: 'Worse, and it did not matter:',
  worse: 'Better, and it did not matter:',
  same: 'What moved:',
  changed: 'What moved:',
  unknown: 'What moved:',
}

const printedCause = ({ cause, share }: Contribution): PrintedCause => ({
  cause,
  share: formatShare(share),
  sentence: cause ? pieces(cause.statement) : ['Unexplained.'],
})

export function printedCauses(why: Why): PrintedCauses {
  const { verdict, unimportant, needs, reason } = why
  const { along, against } = contributionsOf(why)
  const [done, undone] = verdict === 'worse' ? ['added', 'saved'] : ['saved', 'added']
  const groups = [
    { heading: `Why, with the share of the time ${done}:`, causes: along },
    { heading: `What ${undone} time, relative to the time ${done}:`, causes: against },
  ]
  return {
    groups: groups
      .filter(({ causes }) => causes.length > 0)
      .map(({ heading, causes }) => ({ heading, causes: causes.map(printedCause) })),
    unimportant:
      unimportant.length === 0
        ? null
        : {
            heading: headings[verdict],
            sentences: unimportant.map(({ statement }) => pieces(statement)),
          },
    notes: [...(reason ? [inEnglish(reason)] : []), ...(needs ? [inEnglish(needs.statement)] : [])],
  }
}
