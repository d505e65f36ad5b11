/** Advice for a rung of an opened session: its source and deep profile together with what its time is a part of. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { message } from '../../domain/messages/message'
import { formatMs, formatShare } from '../../domain/metrics/units'
import type { Setup } from '../../adapters/machine/machine'
import { nextOf, type Next } from '../../domain/next/next'
import { Past } from '../../domain/next/landing'
import { timeOfRung } from '../../domain/next/time-of-rung'
import { totalProfiledMs, shareOfTotal } from '../../domain/programs/profiled-time'
import { climbs, type RungResult, type Session } from '../../domain/session/session'
import type { OpenedSession } from '../sessions/open-session'

type Opened = Pick<OpenedSession, 'session' | 'sources' | 'deep'>

interface Places {
  assets: Pick<Setup['assets'], 'recordingsDir'>
}

/** The time that a rung's kernels take of its session; of a program, of all of their launches. */
const weightOf = (rung: RungResult): number =>
  rung.profiledTime?.totalMs ?? timeOfRung(rung)?.ms ?? 0

/**
 * The rung that is worth a change first: of a ladder the fastest, which is where an engineer is; of a program or an
 * import, whose kernels do work of their own, the one that takes most of the time. Null where none has a time.
 */
export function rungToChange(session: Session): RungResult | null {
  const timed = session.rungs.filter(
    (rung) =>
      rung.status === 'ok' && timeOfRung(rung) !== null && rung.id !== session.ladder.reference,
  )
  const better = climbs(session)
    ? (a: RungResult, b: RungResult) => timeOfRung(a)!.ms - timeOfRung(b)!.ms
    : (a: RungResult, b: RungResult) => weightOf(b) - weightOf(a)
  return [...timed].sort(better)[0] ?? null
}

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

export async function adviseOn(
  places: Places,
  { session, sources, deep }: Opened,
  rung: RungResult,
): Promise<Next> {
  const profile = await deep(rung.id).catch(() => null)
  const past = await pastOf(places)
  const next = nextOf({ session, rung, deep: profile }, sources[rung.id] ?? null, past)
  const total = climbs(session) ? null : totalProfiledMs(session)
  const share = total === null ? null : shareOfTotal(rung, total)
  if (total === null || share === null || session.rungs.length < 2) return next
  return {
    ...next,
    steps: next.steps.map((step) => ({
      ...step,
      evidence: [
        ...step.evidence,
        message('next.ofProgram', {
          share: formatShare(share),
          total: formatMs(total),
          after: formatMs(total * (1 - share * (1 - 1 / step.speedup.mid))),
        }),
      ],
    })),
  }
}
