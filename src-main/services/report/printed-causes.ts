/** For a report, formats the reasons that a step is faster or slower. */
import { inEnglish, pieces } from '../../domain/text/english'
import { formatRatio } from '../../domain/metrics/units'
import { Cause, type Why } from '../../domain/why/why'
import type { Sentence } from '../../domain/messages/sentence'
import {
  contributionsOf,
  formatFactor,
  productOf,
  type Contribution,
} from '../../domain/why/contributions'

export interface PrintedCause {
  /** The cause, or null for the unexplained part of the change. */
  cause: Cause | null
  factor: string
  sentence: Sentence
}

export interface PrintedCauses {
  /**
   * Changed nvcc flags, followed by the step's factors, each below a heading. Empty if the step has
   * no changed flags or factors.
   */
  groups: { heading: string; causes: PrintedCause[] }[]
  /** Changes that did not affect the time, below a heading. Null if there are no such changes. */
  unimportant: { heading: string; sentences: Sentence[] } | null
  /**
   * Additional notes, such as the reason that there are no causes, or the profile level that would
   * show more causes.
   */
  notes: string[]
}

const headings: Record<Why['verdict'], string> = {
  better: 'Worse, without affecting the time:',
  worse: 'Better, without affecting the time:',
  same: 'Counters that changed:',
  changed: 'Counters that changed:',
  unknown: 'Counters that changed:',
}

const printedCause = ({ cause, factor }: Contribution): PrintedCause => ({
  cause,
  factor: formatFactor(factor),
  sentence: cause ? pieces(cause.statement) : ['Not explained.'],
})

export function printedCauses(why: Why): PrintedCauses {
  const { verdict, unimportant, needs, reason, flags } = why
  const factors = contributionsOf(why)
  return {
    groups: [
      ...(flags ? [{ heading: inEnglish(flags), causes: [] }] : []),
      ...(factors.length === 0
        ? []
        : [
            {
              heading: `Why, as factors that multiply to ${formatRatio(productOf(factors))} as fast:`,
              causes: factors.map(printedCause),
            },
          ]),
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
