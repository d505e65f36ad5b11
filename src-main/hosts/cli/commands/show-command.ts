/** `kernel-ladder show`, `diff` and `compare`: a session, one of its rungs in depth, or two side by side. */
import { readKernelLibrary } from '../../../adapters/kernels/kernel-library'
import { bottleneckOf } from '../../../domain/analysis/bottleneck'
import { rungWarnings } from '../../../domain/analysis/comparability'
import { compareRungs } from '../../../domain/analysis/compare'
import { identicalSass, opcodeDelta, stallDelta } from '../../../domain/session/deep'
import { inputError } from '../../../domain/errors'
import { message } from '../../../domain/messages/message'
import { inEnglish, meantOr, nearest } from '../../../domain/text/text'
import { measuredWords, type RungMeasured } from '../../../domain/analysis/rung-measured'
import { rungOf, type RungResult, type Session } from '../../../domain/session/session'
import { can } from '../../../domain/target/targets'
import { measuredRungs } from '../../../services/sessions/measured'
import { openNamed, type SessionPlaces } from '../../../services/sessions/sessions'
import { diffSources, comparedWith, whyBetween } from '../../../services/compare'
import { whyOfSteps } from '../../../domain/why/why'
import { describeComparison } from '../describe/describe-ladder'
import { sessionText, describeSessions } from '../describe/describe-sessions'
import { describeSteps, describeWhy } from '../describe/describe-why'
import { describeMachineCode, describeRung } from '../describe/describe-rung'
import {
  diffDocument,
  runDocument,
  sessionFields,
  showRungDocument,
  whyFields,
  compareDocument,
} from '../documents/sessions'
import { printJson, printText } from '../output'
import { compareSessions } from '../../../domain/programs/compare-sessions'
import { unitsOf, type Unit } from '../../../domain/programs/units'

// `kernel-ladder show` and `diff`: a session, one of its rungs in depth, or two side by side.

export interface ShowOptions {
  rung?: string
  json?: boolean
}

/** What the recordings measured for this rung, unless the session is that recording itself. */
async function measuredElsewhere(
  places: SessionPlaces,
  { ladder, target }: Session,
  rung: string,
): Promise<RungMeasured | null> {
  const library = await readKernelLibrary(places.assets.kernelsDir)
  const measured = (await measuredRungs(places, library, ladder.id))[rung]
  const isOwn = can(target).replays && target.name === measured?.recording
  return measured && !isOwn ? measured : null
}

export async function showCommand(
  places: SessionPlaces,
  name: string,
  { rung: id, json }: ShowOptions,
): Promise<number> {
  const opened = await openNamed(places, name)
  const { session, folder, deep } = opened
  if (id === undefined) {
    if (json) printJson(runDocument, sessionFields(session, folder))
    else printText([sessionText(session), ...describeSteps(whyOfSteps(session))].join('\n'))
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
    if (measured) printText(`\nRecorded: ${measuredWords(measured)}`)
  }
  return 0
}

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
  const warnings = rungWarnings(session.ladder.task, rungA, rungB)
  const [before, after] = [sources[a], sources[b]]
  const hunks = before === undefined || after === undefined ? null : diffSources(before, after)
  const [left, right] = [await deep(a), await deep(b)]
  const machineCode =
    left && right
      ? {
          identicalSass: identicalSass(left, right),
          opcodes: opcodeDelta(left, right),
          stalls: stallDelta(left, right),
        }
      : null
  if (json)
    printJson(diffDocument, {
      ...comparison,
      ...whyFields(why),
      warnings,
      source: { hunks: hunks ?? [] },
      deep: machineCode,
    })
  else {
    printText(describeComparison(comparison, hunks, why))
    for (const warning of warnings) printText(`warning: ${inEnglish(warning)}`)
    if (machineCode) printText(describeMachineCode(machineCode))
  }
  return 0
}

export function namedRung(session: Session, id: string): RungResult {
  const rung = rungOf(session, id)
  if (rung) return rung
  const ids = session.rungs.map((one) => one.id)
  throw inputError(
    message('sessions.noRung', { rung: JSON.stringify(id) }),
    meantOr(id, ids, message('sessions.rungs', { rungs: ids.join(', ') })),
  )
}

// `kernel-ladder compare`: two sessions of any kind, their kernels in pairs.

export interface CompareOptions {
  pair?: string[]
  json?: boolean
}

/** `A=B`: ids of the two sessions, which may have an equals sign themselves. */
function parsePair(word: string, left: readonly Unit[], right: readonly Unit[]): [string, string] {
  for (let at = word.indexOf('='); at >= 0; at = word.indexOf('=', at + 1)) {
    const [a, b] = [word.slice(0, at).trim(), word.slice(at + 1).trim()]
    if (left.some(({ id }) => id === a) && right.some(({ id }) => id === b)) return [a, b]
  }
  const [, a, b] = /^([^=]+)=(.+)$/.exec(word) ?? []
  if (a === undefined || b === undefined)
    throw inputError(
      `--pair ${JSON.stringify(word)} is not of the form A=B.`,
      'Name a kernel of the first session and one of the second, as `compare` lists them.',
    )
  const isLeft = !left.some(({ id }) => id === a.trim())
  const [missing, units] = isLeft ? [a.trim(), left] : [b.trim(), right]
  const near = nearest(
    missing,
    units.map(({ id }) => id),
  )
  throw inputError(
    `The ${isLeft ? 'first' : 'second'} session has no kernel ${JSON.stringify(missing)}.`,
    near === null
      ? `It has: ${units
          .slice(0, 10)
          .map(({ id }) => id)
          .join(', ')}.`
      : `Did you mean ${near}?`,
  )
}

export async function compareCommand(
  places: SessionPlaces,
  first: string,
  second: string,
  { pair = [], json }: CompareOptions,
): Promise<number> {
  const [a, b] = [await openNamed(places, first), await openNamed(places, second)]
  const [left, right] = [unitsOf(a.session), unitsOf(b.session)]
  const byHand = pair.map((word) => parsePair(word, left, right))
  const comparison = compareSessions(a.session, b.session, { byHand })
  if (json) printJson(compareDocument, comparison)
  else printText(describeSessions(a.session, b.session, comparison))
  return 0
}
