/**
 * Finds advice for a rung in an opened session. The advice is based on the source, the deep
 * profile, and the rung's fraction of the session's total kernel time.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { message } from '../../domain/messages/message'
import { formatMs, formatShare } from '../../domain/metrics/units'
import type { Setup } from '../../adapters/machine/machine'
import { firstStep, type FirstStep } from '../../domain/next/first-step'
import { isAdvisable } from '../../domain/next/limit'
import { nextOf, type Next } from '../../domain/next/next'
import { Past } from '../../domain/next/landing'
import { programPart } from '../../domain/next/program-part'
import { timeOfRung } from '../../domain/next/time-of-rung'
import type { DeepProfile } from '../../domain/session/deep'
import { climbs, type RungResult } from '../../domain/session/session'
import type { OpenedSession } from '../sessions/open-session'

type Opened = Pick<OpenedSession, 'session' | 'sources' | 'deep'>

interface Places {
  assets: Pick<Setup['assets'], 'recordingsDir'>
}

/**
 * Returns the total time that a rung's kernels take in its session. In a program, the time includes
 * all launches of the kernels.
 */
const weightOf = (rung: RungResult): number =>
  rung.profiledTime?.totalMs ?? timeOfRung(rung)?.ms ?? 0

/**
 * File written by `npm run next`. If the file is missing or damaged, the suggested moves have no
 * ranges.
 */
const pastFile = 'landed.json'
const noPast: Past = { landed: [], offered: [] }

const read = new Map<string, Promise<Past>>()

/** Read the file only once, because it does not change while the program runs. */
function pastOf({ assets: { recordingsDir } }: Places): Promise<Past> {
  const known = read.get(recordingsDir)
  if (known) return known
  const reading = readFile(join(recordingsDir, pastFile), 'utf8')
    .then((text) => Past.parse(JSON.parse(text)))
    .catch(() => noPast)
  read.set(recordingsDir, reading)
  return reading
}

/**
 * Returns the advice for a rung. For a program, each step also contains the time saved as a
 * fraction of the total kernel time.
 */
function adviceFor(
  { session, sources }: Pick<OpenedSession, 'session' | 'sources'>,
  rung: RungResult,
  deep: DeepProfile | null,
  past: Past,
): Next {
  const next = nextOf({ session, rung, deep }, sources[rung.id] ?? null, past)
  const part = programPart(session, rung)
  if (part === null) return next
  return {
    ...next,
    steps: next.steps.map((step) => ({
      ...step,
      evidence: [
        ...step.evidence,
        message('next.ofProgram', {
          share: formatShare(part.share),
          total: formatMs(part.totalMs),
          after: formatMs(part.totalMsAfter(step.speedup.mid)),
        }),
      ],
    })),
  }
}

export async function adviseOn(places: Places, opened: Opened, rung: RungResult): Promise<Next> {
  const deep = await opened.deep(rung.id).catch(() => null)
  return adviceFor(opened, rung, deep, await pastOf(places))
}

export const adviseFirst = async (
  places: Places,
  opened: Opened,
  rung: RungResult,
): Promise<FirstStep> => firstStep(opened.session, rung, await adviseOn(places, opened, rung))

/**
 * Returns advice by rung id for all rungs that have enough data. For a program or an import,
 * includes only the longest kernels.
 */
export async function adviseOnAll(places: Places, opened: Opened): Promise<Record<string, Next>> {
  const { session } = opened
  const longest = session.rungs.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, mostAsked)
  const advised: Record<string, Next> = {}
  for (const rung of climbs(session) ? session.rungs : longest)
    if (isAdvisable(session, rung)) advised[rung.id] = await adviseOn(places, opened, rung)
  return advised
}

/**
 * Maximum number of a program's kernels that get advice, longest first. Changing any of the
 * remaining kernels would save little time.
 */
const mostAsked = 50

/**
 * Returns the rung that is worth changing first, or null if no rung has a time. In a ladder, the
 * function returns the fastest rung. The kernels in a program or an import do different work.
 * Therefore, for a program or an import, the function returns the kernel whose best step saves the
 * most kernel time. If there is no advice for any kernel, the function returns the longest kernel.
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
