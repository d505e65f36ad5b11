/** Advice for a rung of an opened session, from its source, its deep profile and its share of the total time. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { message } from '../../domain/messages/message'
import { formatMs, formatShare } from '../../domain/metrics/units'
import type { Setup } from '../../adapters/machine/machine'
import { nextOf, type FirstStep, type Next } from '../../domain/next/next'
import { Past } from '../../domain/next/landing'
import { timeOfRung } from '../../domain/next/time-of-rung'
import { totalProfiledMs, shareOfTotal } from '../../domain/programs/profiled-time'
import type { DeepProfile } from '../../domain/session/deep'
import { climbs, type RungResult, type Session } from '../../domain/session/session'
import type { OpenedSession } from '../sessions/open-session'

type Opened = Pick<OpenedSession, 'session' | 'sources' | 'deep'>

interface Places {
  assets: Pick<Setup['assets'], 'recordingsDir'>
}

/** Returns the time of a rung's kernels in its session; in a program, the time of all their launches. */
const weightOf = (rung: RungResult): number =>
  rung.profiledTime?.totalMs ?? timeOfRung(rung)?.ms ?? 0

/** Written by `npm run next`. If it is missing or damaged, moves have no ranges. */
const pastFile = 'landed.json'
const noPast: Past = { landed: [], offered: [] }

const read = new Map<string, Promise<Past>>()

/** Read once, since nothing writes the file while the program runs. */
function pastOf({ assets: { recordingsDir } }: Places): Promise<Past> {
  const known = read.get(recordingsDir)
  if (known) return known
  const reading = readFile(join(recordingsDir, pastFile), 'utf8')
    .then((text) => Past.parse(JSON.parse(text)))
    .catch(() => noPast)
  read.set(recordingsDir, reading)
  return reading
}

/** Returns the advice for a rung. In a program, each step also states its saving in the time of all kernels. */
function adviceFor(
  { session, sources }: Pick<OpenedSession, 'session' | 'sources'>,
  rung: RungResult,
  deep: DeepProfile | null,
  past: Past,
): Next {
  const next = nextOf({ session, rung, deep }, sources[rung.id] ?? null, past)
  const part = partOfProgram(session, rung)
  if (part === null) return next
  return {
    ...next,
    steps: next.steps.map((step) => ({
      ...step,
      evidence: [
        ...step.evidence,
        message('next.ofProgram', {
          share: formatShare(part.share),
          total: formatMs(part.total),
          after: formatMs(part.after(step.speedup.mid)),
        }),
      ],
    })),
  }
}

/** Returns the time of all kernels of a program, and the rest if one becomes faster; null for a ladder. */
function partOfProgram(session: Session, rung: RungResult) {
  const total = climbs(session) ? null : totalProfiledMs(session)
  const share = shareOfTotal(rung, total)
  if (total === null || share === null || session.rungs.length < 2) return null
  return { total, share, after: (speedup: number) => total * (1 - share * (1 - 1 / speedup)) }
}

export async function adviseOn(places: Places, opened: Opened, rung: RungResult): Promise<Next> {
  const deep = await opened.deep(rung.id).catch(() => null)
  return adviceFor(opened, rung, deep, await pastOf(places))
}

/** Returns the first step of a rung's advice. */
function firstOf(session: Session, rung: RungResult, { limit, steps }: Next): FirstStep {
  const [first] = steps
  if (!first) return { limit }
  const { id, statement, speedup, msNow, msAfter } = first
  const part = partOfProgram(session, rung)
  const ofTotal = part && { msNow: part.total, msAfter: part.after(speedup.mid) }
  return {
    limit,
    step: { id, statement, speedup, msNow, msAfter, ...(ofTotal ? { ofTotal } : {}) },
  }
}

export const firstStepOf = async (
  places: Places,
  opened: Opened,
  rung: RungResult,
): Promise<FirstStep> => firstOf(opened.session, rung, await adviseOn(places, opened, rung))

/** Number of kernels of a program that get advice, longest first; the others could save little. */
const mostAsked = 50

/**
 * Returns the rung that is worth changing first. In a ladder that is the fastest rung. In a program or an import,
 * whose kernels do different work, it is the kernel whose best step saves the most total time, or the longest if none
 * has a step. Null if no rung has a time.
 */
export async function rungToChange(places: Places, opened: Opened): Promise<RungResult | null> {
  const { session } = opened
  const timed = session.rungs.filter(
    (rung) =>
      rung.status === 'ok' && timeOfRung(rung) !== null && rung.id !== session.ladder.reference,
  )
  if (climbs(session))
    return timed.toSorted((a, b) => timeOfRung(a)!.ms - timeOfRung(b)!.ms)[0] ?? null
  const longest = timed.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, mostAsked)
  const past = await pastOf(places)
  const saving = (rung: RungResult): number => {
    const [first] = adviceFor(opened, rung, null, past).steps
    return first ? weightOf(rung) * (1 - 1 / first.speedup.mid) : 0
  }
  const rated = longest.map((rung) => ({ rung, saved: saving(rung) }))
  return rated.toSorted((a, b) => b.saved - a.saved)[0]?.rung ?? null
}
