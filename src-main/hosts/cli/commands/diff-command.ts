/** `kernel-ladder diff`: shows two rungs of a session side by side. */
import { rungWarnings } from '../../../domain/analysis/comparability'
import { compareRungs } from '../../../domain/analysis/compare'
import { identicalSass, opcodeDelta, stallDelta, stallObstacle } from '../../../domain/session/deep'
import { inEnglish } from '../../../domain/text/english'
import { openNamed } from '../../../services/sessions/open-session'
import { whyBetween } from '../../../services/compare/compare'
import { describeMachineCode } from '../describe/describe-rung'
import { printJson, printText } from '../output'
import { asCompiled } from '../../../domain/ladder/rung'
import { diffSources } from '../../../services/compare/source-diff'
import type { SessionPlaces } from '../../../services/sessions/session-places'
import { namedRung } from './named-rung'
import { describeComparison } from '../describe/describe-comparison'
import { describeWaterfall } from '../describe/describe-waterfall'
import { waterfallOf } from '../../../domain/why/waterfall'
import { whyFields } from '../documents/why-fields'
import { diffDocument } from '../documents/diff'

export async function diffCommand(
  places: SessionPlaces,
  name: string,
  a: string,
  b: string,
  { json }: { json?: boolean },
): Promise<number> {
  const opened = await openNamed(places, name)
  const { session, sources, deep } = opened
  const [rungA, rungB] = [namedRung(session, a), namedRung(session, b)]
  const comparison = compareRungs({ session, rung: rungA }, { session, rung: rungB })
  const why = await whyBetween(opened, rungA, rungB)
  const path = waterfallOf(why, comparison.time.aMs, comparison.time.bMs)
  const warnings = rungWarnings(session.ladder.task, rungA, rungB)
  const [before, after] = [rungA, rungB].map(({ id, params }) => {
    const source = sources[id]
    return source === undefined ? undefined : asCompiled(source, params)
  })
  const hunks = before === undefined || after === undefined ? null : diffSources(before, after)
  const [left, right] = [await deep(rungA.id), await deep(rungB.id)]
  const machineCode =
    left && right
      ? {
          identicalSass: identicalSass(left, right),
          opcodes: opcodeDelta(left, right),
          stalls: stallDelta(left, right),
          noStalls: stallObstacle(left, right),
        }
      : null
  if (json)
    printJson(diffDocument, {
      ...comparison,
      ...whyFields(why),
      path: (path?.bars ?? []).map(({ of: _of, ...bar }) => bar),
      warnings,
      source: { hunks: hunks ?? [] },
      deep: machineCode,
    })
  else {
    printText(describeComparison(comparison, hunks, why))
    if (path) printText(describeWaterfall(path, rungA.id, rungB.id))
    for (const warning of warnings) printText(`warning: ${inEnglish(warning)}`)
    if (machineCode) printText(describeMachineCode(machineCode))
  }
  return 0
}
