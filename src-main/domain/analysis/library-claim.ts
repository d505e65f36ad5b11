/**
 * Determines whether a rung can be called faster than the reference.
 *
 * If launches are interleaved, each launch heats the GPU for the next one. Bursts run on a GPU that
 * was idle beforehand. The power limit lowers the clock during sustained launches. The code is
 * faster only if all three timings agree.
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
  /** The reference's time divided by the rung's time, for each kind of timing in the session. */
  ratios: Partial<Record<Way, number>>
}

/**
 * Returns whether a rung's options, such as FP16 inputs, differ from the run's options. A rung with
 * other data types computes a different product.
 */
export const hasOtherOptions = ({ ladder }: Session, id: string): boolean =>
  ladder.rungs.find((entry) => entry.id === id)?.options !== undefined

/**
 * Returns the claim about a rung. Returns null for the reference, and if the rung or the reference
 * has no time. Also returns null for a rung whose data types differ from the reference's.
 */
export function libraryClaim(session: Session, rung: RungResult): LibraryClaim | null {
  const { timing } = rung
  if (!timing || rung.status !== 'ok' || rung.id === session.ladder.reference) return null
  if (hasOtherOptions(session, rung.id)) return null
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

/** Returns a sentence about a session's fastest rung, or null if there is no reference. */
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
  // A ratio of at most 1 shows that the rung is not faster, so no further run is suggested.
  const isOpen = Object.values(claimed.ratios).every((ratio) => ratio > 1)
  const claim = claimed.claim === 'incomplete' && !isOpen ? 'ratios' : claimed.claim
  return message(`claim.${claim}`, {
    rung: code(rung.id),
    reference: code(session.ladder.reference ?? ''),
    ways: words.reduceRight((rest, part) => message('checks.and', { part, rest })),
  })
}
