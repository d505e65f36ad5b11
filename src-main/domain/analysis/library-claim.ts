/**
 * Whether a rung may be called faster than the reference. Interleaved launches run in each other's heat, bursts on a
 * rested GPU, sustained ones at the clock that their own power allows: only where all three agree is it the code. Pure.
 */
import { message, type AnyMessage, type Statement } from '../messages/message'
import { formatRatio } from '../metrics/units'
import type { RungResult, Session, Timing } from '../session/session'
import { code } from '../messages/sentence'

const claims = ['faster', 'slower', 'mixed', 'incomplete'] as const
type Claim = (typeof claims)[number]

const ways = ['single', 'burst', 'sustained'] as const
type Way = (typeof ways)[number]

const ratioOf: Record<Way, (timing: Timing) => number | null | undefined> = {
  single: ({ ratioToReference }) => ratioToReference,
  burst: ({ burst }) => burst?.ratioToReference,
  sustained: ({ sustained }) => sustained?.ratioToReference,
}

interface LibraryClaim {
  claim: Claim
  /** The reference's time over the rung's, by the ways that the session has. */
  ratios: Partial<Record<Way, number>>
}

/** Null without a time beside the reference's, for the reference itself, and for a rung with other types than the reference. */
export function libraryClaim({ ladder }: Session, rung: RungResult): LibraryClaim | null {
  const { timing } = rung
  if (!timing || rung.status !== 'ok' || rung.id === ladder.reference) return null
  // With other types than the reference it is no faster product, but another one.
  if (ladder.rungs.find(({ id }) => id === rung.id)?.options) return null
  const known = ways.flatMap((way): [Way, number][] => {
    const ratio = ratioOf[way](timing)
    return ratio == null ? [] : [[way, ratio]]
  })
  if (known.length === 0) return null
  const all = (holds: (ratio: number) => boolean): boolean =>
    known.length === ways.length && known.every(([, ratio]) => holds(ratio))
  const claim = all((ratio) => ratio > 1)
    ? 'faster'
    : all((ratio) => ratio < 1)
      ? 'slower'
      : known.length < ways.length
        ? 'incomplete'
        : 'mixed'
  return { claim, ratios: Object.fromEntries(known) }
}

/** In a sentence, about the fastest rung of a session; null without one that has a reference beside it. */
export function claimWords(session: Session): AnyMessage | null {
  const beside = session.rungs.flatMap((rung) => {
    const claimed = libraryClaim(session, rung)
    return claimed ? [{ rung, claimed }] : []
  })
  if (beside.length === 0) return null
  const { rung, claimed } = beside.reduce((best, one) =>
    one.rung.timing!.medianMs < best.rung.timing!.medianMs ? one : best,
  )
  const words = ways.flatMap((way): Statement[] => {
    const ratio = claimed.ratios[way]
    return ratio === undefined ? [] : [message(`claim.${way}`, { ratio: formatRatio(ratio) })]
  })
  // A ratio of at most 1 settles that it is not faster: no further run is asked for.
  const isOpen = Object.values(claimed.ratios).every((ratio) => ratio > 1)
  const claim = claimed.claim === 'incomplete' && !isOpen ? 'ratios' : claimed.claim
  return message(`claim.${claim}`, {
    rung: code(rung.id),
    reference: code(session.ladder.reference ?? ''),
    ways: words.reduceRight((rest, part) => message('checks.and', { part, rest })),
  })
}
