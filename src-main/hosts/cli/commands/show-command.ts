/** `kernel-ladder show`: prints a session, or one of its rungs in detail. */
import { readCatalog } from '../../../adapters/catalog/catalog'
import { bottleneckOf } from '../../../domain/analysis/bottleneck'
import { measuredWords, type RungMeasured } from '../../../domain/analysis/rung-measured'
import { type Session } from '../../../domain/session/session'
import { can } from '../../../domain/targets/targets'
import { measuredRungs } from '../../../services/sessions/measured'
import { newestOwn } from '../../../services/sessions/newest-session'
import { openNamed } from '../../../services/sessions/open-session'
import { comparedWith, whyBetween } from '../../../services/compare/compare'
import { describeSteps, describeWhy } from '../describe/describe-why'
import { describeFirst } from '../describe/describe-next'
import { adviseFirst, rungToChange } from '../../../services/next/advise'
import { describeRung } from '../describe/describe-rung'
import { runDocument, sessionFields } from '../documents/run'
import { noteReading, printJson, printText } from '../output'
import { whyOfSteps } from '../../../domain/why/why-steps'
import type { SessionPlaces } from '../../../services/sessions/session-places'
import { currentId } from '../../../domain/ladder/former-ids'
import { namedRung } from './named-rung'
import { sessionText } from '../describe/describe-static'
import { whyFields } from '../documents/why-fields'
import { showRungDocument } from '../documents/show-rung'

export interface ShowOptions {
  rung?: string
  json?: boolean
}

/** Returns this rung's recorded measurements. Omits the session's own recording. */
async function measuredElsewhere(
  places: SessionPlaces,
  { ladder, target }: Session,
  rung: string,
): Promise<RungMeasured | null> {
  const catalog = await readCatalog(places.assets.kernelsDir)
  const measured = (await measuredRungs(places, catalog, ladder.id))[currentId(rung)]
  const isOwn = can(target).replays && target.name === measured?.recording
  return measured && !isOwn ? measured : null
}

export async function showCommand(
  places: SessionPlaces,
  /** Session name. The default is the newest session in the store. */
  name: string | undefined,
  { rung: id, json }: ShowOptions,
): Promise<number> {
  const opened = await openNamed(places, name ?? (await newestOwn(places, noteReading)))
  const { session, folder, deep } = opened
  if (id === undefined) {
    if (json) printJson(runDocument, sessionFields(session, folder))
    else {
      printText([sessionText(session), ...describeSteps(whyOfSteps(session))].join('\n'))
      const first = await rungToChange(places, opened)
      if (!first) return 0
      const next = await adviseFirst(places, opened, first)
      // If there is no step, only the bottleneck is known, which the table above already shows.
      if (next.step) printText(`\n${describeFirst(next, first.id)}`)
    }
    return 0
  }
  const rung = namedRung(session, id)
  const bottleneck = bottleneckOf(session, rung)
  const profile = await deep(id)
  const measured = await measuredElsewhere(places, session, id)
  const before = comparedWith(opened, rung)
  const why = before && (await whyBetween(opened, before, rung))
  if (json)
    printJson(showRungDocument, {
      session: folder,
      rung,
      bottleneck,
      deep: profile,
      measured,
      before: before?.id ?? null,
      ...whyFields(why),
    })
  else {
    printText(describeRung(session, rung, bottleneck, profile))
    if (before && why)
      printText(['', `Compared with ${before.id}:`, ...describeWhy(why)].join('\n'))
    printText(`\n${describeFirst(await adviseFirst(places, opened, rung))}`)
    if (measured) printText(`\nRecorded: ${measuredWords(measured)}`)
  }
  return 0
}
