/** Advice for a rung of an opened session: its source and deep profile together with what its time is a part of. */
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

/** The time that a rung's kernels take of its session; of a program, of all of their launches. */
const weightOf = (rung: RungResult): number =>
  rung.profiledTime?.totalMs ?? timeOfRung(rung)?.ms ?? 0

/** Written by `npm run next`; a damaged or missing file is no past, and its moves have no ranges. */
const pastFile = 'landed.json'
const noPast: Past = { landed: [], offered: [] }

const read = new Map<string, Promise<Past>>()

/** Read once, since nothing writes it while the program runs. */
function pastOf({ assets: { recordingsDir } }: Places): Promise<Past> {
  const known = read.get(recordingsDir)
  if (known) return known
  const reading = readFile(join(recordingsDir, pastFile), 'utf8')
    .then((text) => Past.parse(JSON.parse(text)))
    .catch(() => noPast)
  read.set(recordingsDir, reading)
  return reading
}

/** Advice for a rung by what was read of it. In a program, each step also says what it saves of all kernels' time. */
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

/** The time of all kernels of a program, and what is left of it if one of them becomes faster; null of a ladder. */
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

/** The first step of a rung's advice. */
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

/** Kernels of a program that are asked for their steps, the longest first; what the others save is little. */
const mostAsked = 50

/**
 * The rung that is worth a change first: of a ladder the fastest, which is where an engineer is; of a program or an
 * import, whose kernels do work of their own, the one whose best step saves most of the time of all kernels, or the
 * longest if none has a step. Null where none has a time.
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
