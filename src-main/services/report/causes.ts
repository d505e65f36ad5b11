/** Why a step is faster or slower, as a report prints it. */
import { inEnglish, pieces } from '../../domain/text/text'
import type { Sentence } from '../../domain/messages/message'
import { formatShare } from '../../domain/metrics/units'
import type { Why } from '../../domain/why/why'

export interface PrintedCauses {
  /** With its share of the step before it. */
  causes: { share: string; sentence: Sentence }[]
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

/** Half a percent, which is printed as none. */
const noShare = 0.005

export function printedCauses({
  verdict,
  causes,
  unimportant,
  unexplained,
  needs,
  reason,
}: Why): PrintedCauses {
  const rest = causes.length > 0 && unexplained !== null ? unexplained : 0
  return {
    causes: [
      ...causes.map(({ share, statement }) => ({
        share: formatShare(share),
        sentence: pieces(statement),
      })),
      ...(Math.abs(rest) >= noShare
        ? [{ share: formatShare(rest), sentence: ['Unexplained.'] }]
        : []),
    ],
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
