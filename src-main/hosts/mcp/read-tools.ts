/** Defines the read-only tools, which return data from sessions, recordings and ladders. */
import { climbOf } from '../../domain/analysis/climb'
import { claimWords } from '../../domain/analysis/library-claim'
import { z } from 'zod'
import { readCatalog } from '../../adapters/catalog/catalog'
import { SessionRef } from '../../contract'
import { inputError } from '../../domain/errors'
import { compareSessions } from '../../domain/programs/compare-sessions'
import { heatKinds, sassOfLine, type DeepProfile } from '../../domain/session/deep'
import { can, parseTarget } from '../../domain/targets/targets'
import { inEnglish } from '../../domain/text/english'
import { openLadder } from '../../services/folders/open'
import { measuredRungs } from '../../services/sessions/measured'
import {
  defaultRecordingRef,
  openSession,
  type OpenedSession,
} from '../../services/sessions/open-session'
import { comparedWith, whyBetween } from '../../services/compare/compare'
import { adviseOn, rungToChange } from '../../services/next/advise'
import { message } from '../../domain/messages/message'
import { formatMs } from '../../domain/metrics/units'
import { type AddTool, type Workplace } from './tool'
import {
  adviceFacts,
  causeSummary,
  instructionFacts,
  isTimed,
  limitFacts,
  lineFacts,
  namedRung,
  nextFacts,
  rungFacts,
  rungSummary,
  sessionFacts,
  whyFacts,
} from './facts'
import { nearest } from '../../domain/text/nearest'
import { recordedRef } from '../../domain/session/session-ref'
import { mountedRef } from '../../services/sessions/session-places'
import { listAll } from '../../services/sessions/list-sessions'
import { counted, page, pageInput, rounded } from './answers'

const sessionInput = z
  .string()
  .min(1)
  .max(4096)
  .describe('a session as listed by `sessions`, `recorded`, recorded:<name>, or a folder')

const rungInput = z.string().min(1).max(200).describe('the id of a rung, as listed by `session`')

/** Opens a session by name, or a session folder within an allowed folder. */
export async function opened({ setup, fence }: Workplace, name: string): Promise<OpenedSession> {
  const target = parseTarget(name)
  if (target && can(target).replays && target.name === null)
    return openSession(setup, await defaultRecordingRef(setup))
  if (!SessionRef.safeParse(name).success) {
    const mounted = await fence.within(name)
    return openSession({ ...setup, mounted }, mountedRef(mounted))
  }
  try {
    return await openSession(setup, name)
  } catch (error) {
    const near = nearest(
      name,
      (await listAll(setup)).map(({ ref }) => ref),
    )
    throw near === null || near === name
      ? error
      : inputError(`There is no session ${JSON.stringify(name)}.`, `Did you mean ${near}?`)
  }
}

/** Opens a ladder by id or path. A ladder folder must be within an allowed folder. */
export async function openedLadder({ setup, fence }: Workplace, name: string) {
  const shipped = await readCatalog(setup.assets.kernelsDir)
  const ids = shipped.ladders.map(({ id }) => id)
  if (ids.includes(name)) return openLadder(setup, name)
  const near = /[\\/]/.test(name) ? null : nearest(name, ids)
  if (near !== null)
    throw inputError(`There is no ladder ${JSON.stringify(name)}.`, `Did you mean ${near}?`)
  return openLadder(setup, await fence.within(name))
}

async function deepOf(session: OpenedSession, rung: string): Promise<DeepProfile> {
  const profile = await session.deep(rung)
  if (profile) return profile
  throw inputError(
    `${rung} has no counters by line in this session.`,
    'To get them, use --profile deep, a .ncu-rep recorded with --set full --import-source yes, or another session of the same ladder.',
  )
}

/**
 * Maximum number of fusions to list, largest first. A program with a loop can have any number of
 * fusions.
 */
const mostFused = 20

export function addReadTools(add: AddTool, place: Workplace): void {
  const { setup } = place

  add('ladders', {
    title: 'List ladders',
    description:
      'Read-only. Lists the built-in CUDA kernel ladders, or the rungs of one ladder with their ideas and recorded times.',
    input: {
      ladder: z.string().max(4096).optional().describe('an id, or a ladder folder'),
      ...pageInput,
    },
    effect: 'reads',
    async answer({ ladder, ...wanted }) {
      if (ladder === undefined) {
        const { ladders } = await readCatalog(setup.assets.kernelsDir)
        const all = ladders.map(({ id, title, rungs }) => ({ id, title, rungs: rungs.length }))
        return { summary: `${counted(all.length, 'ladder')} that ship.`, ...page(all, wanted) }
      }
      const { catalog, id } = await openedLadder(place, ladder)
      const file = catalog.ladders.find((one) => one.id === id)!
      const measured = await measuredRungs(setup, catalog, id)
      const rungs = file.rungs.map((entry) => {
        const header = catalog.rungs.get(entry.id)?.header
        const rung = entry.as ?? entry.id
        const found = measured[rung]
        return {
          rung,
          title: entry.title ?? header?.title ?? null,
          idea: header?.idea ?? null,
          file: catalog.rungs.get(entry.id)?.file ?? null,
          ms: rounded(found?.medianMs),
          toReference: rounded(found?.reference?.ratio),
          l2: found?.cacheState ?? null,
          recording: found === undefined ? null : recordedRef(found.recording),
        }
      })
      return { summary: `${file.title}: ${counted(rungs.length, 'rung')}.`, ...page(rungs, wanted) }
    },
  })

  add('sessions', {
    title: 'List sessions',
    description:
      'Read-only. Lists the user’s sessions, newest first, then the built-in recordings, each with its problem, GPU, and profile level.',
    input: pageInput,
    effect: 'reads',
    async answer(wanted) {
      const all = await listAll(setup)
      return {
        summary: `${counted(all.length, 'session')}.`,
        ...page(all.map(sessionFacts), wanted),
      }
    },
  })

  add('session', {
    title: 'Show a session',
    description:
      'Read-only. Lists the rungs or kernels of a session, each with its status, time in milliseconds, and limit.',
    input: { session: sessionInput, ...pageInput },
    effect: 'reads',
    async answer({ session: name, ...wanted }) {
      const { session } = await opened(place, name)
      const gpu = session.device?.name ?? 'no GPU'
      const [climb, claim] = [climbOf(session), claimWords(session)]
      return {
        summary: `${session.ladder.title} on ${gpu}: ${counted(session.rungs.length, 'rung')}.`,
        ...page(
          session.rungs.map((rung) => rungFacts(session, rung)),
          wanted,
        ),
        climb: climb && {
          factor: rounded(climb.factor),
          rungs: climb.rungs.map(({ id }) => id),
        },
        claim: claim && inEnglish(claim),
        warnings: session.warnings.map((one) => inEnglish(one)),
      }
    },
  })

  add('why', {
    title: 'Why is this kernel slow, or faster than the previous one?',
    description:
      'Read-only. Shows what limits a kernel and the counters that show it, why it is faster or slower than another kernel (as speed factors), its hottest source lines, and ncu’s advice.',
    input: {
      session: sessionInput,
      rung: rungInput,
      against: rungInput
        .optional()
        .describe('the rung to compare it with (default: the previous rung)'),
    },
    effect: 'reads',
    async answer({ session: name, rung: id, against }) {
      const found = await opened(place, name)
      const { session } = found
      const rung = namedRung(session, id)
      const before = against === undefined ? comparedWith(found, rung) : namedRung(session, against)
      const why = before && before.id !== rung.id ? await whyBetween(found, before, rung) : null
      const profile = await found.deep(id)
      const [own, cause] = [`${rungSummary(session, rung)}.`, why && causeSummary(why)]
      // If nothing was timed, mention the changed counters first.
      const sentences = isTimed(rung) ? [own, cause] : [cause, own]
      return {
        summary: sentences.filter((sentence) => sentence !== null).join(' '),
        ...rungFacts(session, rung),
        limit: limitFacts(session, rung),
        against: before?.id ?? null,
        ...(why === null ? {} : whyFacts(why)),
        hottestLines:
          profile === null ? [] : lineFacts(profile, 'samples', rung, found.sources).slice(0, 5),
        advice: profile === null ? [] : adviceFacts(profile),
      }
    },
  })

  add('next', {
    title: 'What to change next in a kernel, and how much time it would save',
    description:
      'Read-only. Suggests up to five changes to a kernel, best first. Each has its source lines, counters, cost, the time in milliseconds now and after the change (as a range), and a step of a built-in ladder that made the change. Without a rung, uses the rung or kernel that is most worth changing. `limit` states whether the kernel is at a hardware limit.',
    input: {
      session: sessionInput,
      rung: rungInput
        .optional()
        .describe('default: the fastest rung, or the kernel whose change saves the most time'),
    },
    effect: 'reads',
    async answer({ session: name, rung: id }) {
      const found = await opened(place, name)
      const rung =
        id === undefined ? await rungToChange(setup, found) : namedRung(found.session, id)
      if (!rung) throw inputError(message('next.noRung'), message('next.nameRung'))
      const next = await adviseOn(setup, found, rung)
      const [first] = next.steps
      const limit = inEnglish(next.limit)
      return {
        summary: first
          ? `${rung.id}: ${limit} ${inEnglish(first.statement)} ${formatMs(first.msNow)} → ${formatMs(first.msAfter.low)} to ${formatMs(first.msAfter.high)}.`
          : `${rung.id}: ${limit}`,
        ...nextFacts(next),
      }
    },
  })

  add('compare', {
    title: 'Compare two sessions',
    description:
      'Read-only. Compares two sessions of any kind by pairs of rungs or kernels, each with its times in milliseconds, the ratio b / a, and a verdict. The largest change is first.',
    input: { a: sessionInput, b: sessionInput, ...pageInput },
    effect: 'reads',
    async answer({ a, b, ...wanted }) {
      const [first, second] = [await opened(place, a), await opened(place, b)]
      const { answer, pairs, fused, onlyA, onlyB, comparable } = compareSessions(
        first.session,
        second.session,
      )
      const titleIn =
        ({ session }: OpenedSession) =>
        (id: string): string =>
          namedRung(session, id).title
      const [titleA, titleB] = [titleIn(first), titleIn(second)]
      const rows = pairs
        .toSorted((x, y) => Math.abs(y.change ?? 0) - Math.abs(x.change ?? 0))
        .map(({ a: from, b: to, sideA, sideB, by, timeA, timeB, ratio, verdict, moved }) => ({
          ...{ a: from, titleA: titleA(from), b: to, titleB: titleB(to), by, verdict },
          ...{ msA: rounded(timeA), msB: rounded(timeB), ratio: rounded(ratio) },
          ...(sideA.cacheState === null ? {} : { l2A: sideA.cacheState }),
          ...(sideB.cacheState === null ? {} : { l2B: sideB.cacheState }),
          ...(moved.length === 0 ? {} : { moved: moved.map((one) => inEnglish(one)) }),
        }))
      return {
        summary: answer.map((sentence) => inEnglish(sentence)).join(' '),
        comparable: comparable.ok,
        reasons: comparable.reasons.map((one) => inEnglish(one)),
        fused: fused.slice(0, mostFused).map(({ from, to, timeA, timeB, ratio, verdict }) => ({
          ...{ from, titlesA: from.map(titleA), to, titlesB: to.map(titleB), verdict },
          ...{ msA: rounded(timeA), msB: rounded(timeB), ratio: rounded(ratio) },
        })),
        pairs: page(rows, wanted),
        onlyInA: onlyA.map(({ id }) => ({ id, title: titleA(id) })),
        onlyInB: onlyB.map(({ id }) => ({ id, title: titleB(id) })),
      }
    },
  })

  add('source', {
    title: 'Source lines with counters',
    description:
      'Read-only. Lists the source lines of a kernel with their counters, sorted by the requested counter. sharedWavefrontsExcess finds bank conflicts, globalL2SectorsExcess uncoalesced accesses.',
    input: {
      session: sessionInput,
      rung: rungInput,
      by: z.enum(heatKinds).default('samples').describe('the counter to rank lines by'),
      ...pageInput,
    },
    effect: 'reads',
    async answer({ session, rung, by, ...wanted }) {
      const found = await opened(place, session)
      const own = namedRung(found.session, rung)
      const lines = lineFacts(await deepOf(found, rung), by, own, found.sources)
      const [hottest] = lines
      return {
        summary: hottest
          ? `${hottest.at} has ${Math.round((hottest.share ?? 0) * 100)} % of ${by}: ${hottest.text}`
          : `No line has any ${by}.`,
        ...page(lines, wanted),
      }
    },
  })

  add('machine_code', {
    title: 'Machine code with counters',
    description:
      'Read-only. Lists the SASS of a rung, of one of its kernels, or of one source line, with the counters of each instruction.',
    input: {
      session: sessionInput,
      rung: rungInput,
      kernel: z
        .string()
        .min(1)
        .max(4096)
        .optional()
        .describe('only kernels whose name contains this text; a rung may launch several kernels'),
      line: z
        .string()
        .regex(/^.+:\d+$/)
        .max(4096)
        .optional()
        .describe('only this source line: FILE:LINE as in `source`'),
      ...pageInput,
    },
    effect: 'reads',
    async answer({ session, rung, kernel, line, ...wanted }) {
      const found = await opened(place, session)
      const whole = await deepOf(found, namedRung(found.session, rung).id)
      const kernels = whole.kernels.filter(({ name }) => name.includes(kernel ?? ''))
      if (kernels.length === 0)
        throw inputError(
          `${rung} has no kernel with ${JSON.stringify(kernel)} in its name.`,
          `It has: ${whole.kernels.map(({ name }) => name).join('; ')}.`,
        )
      const profile = { ...whole, kernels }
      const [, file = '', at = ''] = /^(.+):(\d+)$/.exec(line ?? '') ?? []
      const rows =
        line === undefined
          ? profile.kernels.flatMap(({ instructions }) => instructions)
          : sassOfLine(profile, file, Number(at)).map(({ instruction }) => instruction)
      return {
        summary: `${counted(rows.length, 'instruction')}${line === undefined ? '' : ` of ${line}`}.`,
        kernels: kernels.map(({ name }) => name),
        ...page(rows.map(instructionFacts), wanted),
      }
    },
  })
}
