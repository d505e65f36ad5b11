/**
 * Verifies rungs with problems other than the timed problem. For example, a tile size that divides
 * 4096 may not divide 1023.
 */
import { isPythonFile } from '../../domain/ladder/rung'
import { builtRung } from '../../adapters/tools/runner'
import { toErrorShape, type ErrorShape } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import type { RunPlan } from '../../domain/run/plan'
import type { VerifiedAt } from '../../domain/session/session'
import { named, type Problem } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import type { Finding, RungBuild } from './finding'
import { measure, type MeasureOutcome } from './measure'
import type { Measured } from './measured'
import type { Progress } from './progress'
import { wrongness } from './wrongness'
import type { Measurement, TaskRunner } from './measurement'

/** Shortest possible measurement in seconds. The runner cannot verify code without timing it. */
const maxSeconds = 0.02

/**
 * Maximum number of parallel processes. Python rungs spend seconds on imports and compilation but
 * little time on the GPU.
 */
const mostAbreast = 4

interface VerifiedElsewhere {
  rungs: ReadonlyMap<string, Finding>
  /** Reason that the runner stopped early. */
  halted: ErrorShape | null
}

/**
 * Verifies the built rungs with the plan's additional problems. Adds `alsoVerified` and the
 * resulting status to each rung's findings.
 */
export async function verifyElsewhere(
  runner: TaskRunner,
  plan: RunPlan,
  built: ReadonlyMap<string, RungBuild>,
  measured: ReadonlyMap<string, Measured>,
  progress: Progress,
  onOutOfTurn: (rung: string) => void,
): Promise<VerifiedElsewhere> {
  const { problems = [], decides = false } = plan.alsoVerify ?? {}
  // A rung that hung or crashed with the run's own problem would hang or crash again and take just
  // as long.
  const wanted = (plan.alsoVerify?.rungs ?? [])
    .flatMap((id) => built.get(id) ?? [])
    .filter(({ planned }) => measured.get(planned.rung.id)?.trouble?.status !== 'failed')
  const trusted = plan.trusted && built.get(plan.trusted.rung.id)
  if (trusted && measured.get(trusted.planned.rung.id)?.trouble)
    return { rungs: measured, halted: null }
  let open = [...new Set([...(trusted ? [trusted] : []), ...wanted])].flatMap(
    ({ planned, outcome }) =>
      outcome?.artifact ? [builtRung(planned.rung, outcome.artifact)] : [],
  )
  const found = new Map<string, VerifiedAt[]>(wanted.map(({ planned }) => [planned.rung.id, []]))
  const decided = new Map<string, Finding['elsewhere']>()

  const verifyAt = (problem: Problem, index: number): Promise<MeasureOutcome> => {
    const at = named({ ...problem.sizes, ...problem.scalars })
    // Don't announce a duration in a replay, because a replay takes no time.
    if (!runner.toolbox.replays)
      progress.note(
        message('records.verifyingAt', { at, number: index + 1, total: problems.length }),
      )
    return measureOrSay(
      { ...runner, cacheState: 'warm' },
      { problem, key: `runner/further-${index + 1}`, maxSeconds, rungs: open, reference: null },
      onOutOfTurn,
    )
  }
  const take = (problem: Problem, answers: MeasureOutcome['rungs']): void => {
    for (const [id, list] of found) {
      const answer = answers.get(id)
      if (!answer) continue
      const reason = reasonOf(answer, plan.task)
      list.push({ problem, verify: answer.verify, ...(reason === undefined ? {} : { reason }) })
      const verdict = decides ? verdictAt(answer, problem, reason) : undefined
      if (verdict && !decided.has(id) && measured.get(id)?.timing != null) decided.set(id, verdict)
      if (answer.trouble?.status === 'failed') open = open.filter((rung) => rung.id !== id)
    }
  }
  const result = (halted: ErrorShape | null): VerifiedElsewhere => ({
    rungs: new Map(
      [...new Set([...measured.keys(), ...found.keys()])].map((id) => [
        id,
        withElsewhere(measured.get(id) ?? notReached, found.get(id), decided.get(id)),
      ]),
    ),
    halted,
  })

  const abreast = wanted.some(({ planned }) => isPythonFile(planned.rung.file)) ? mostAbreast : 1
  for (let first = 0; first < problems.length; first += abreast) {
    if (runner.signal.aborted || open.length === 0) break
    const some = problems.slice(first, first + abreast)
    const outcomes = await Promise.all(
      some.map((problem, index) => verifyAt(problem, first + index)),
    )
    for (const [index, { rungs }] of outcomes.entries()) take(some[index]!, rungs)
    const halted = outcomes.find((outcome) => outcome.halted)?.halted
    if (halted) return result(halted)
  }
  return result(null)
}

const notReached: Measured = {
  ...{ verify: null, timing: null },
  trouble: { status: 'not-run', reason: message('records.notReached') },
}

/**
 * Adds the results of the additional verifications to a measured rung. A rung with wrong results
 * for any problem loses its time and is not profiled.
 */
const withElsewhere = (
  measured: Measured,
  alsoVerified: VerifiedAt[] | undefined,
  elsewhere: Finding['elsewhere'],
): Finding => ({
  ...measured,
  ...(alsoVerified ? { alsoVerified } : {}),
  ...(elsewhere ? { elsewhere, timing: null } : {}),
})

function reasonOf({ verify, trouble }: Measured, task: Task): Statement | undefined {
  if (trouble) return trouble.reason
  return verify && !verify.passed ? wrongness(verify, task) : undefined
}

function verdictAt(
  { verify, trouble }: Measured,
  { sizes, scalars }: Problem,
  reason: Statement | undefined,
): Finding['elsewhere'] {
  const failed = trouble?.status === 'failed'
  if (!failed && verify?.passed !== false) return undefined
  return {
    status: failed ? 'failed' : 'wrong',
    reason: message('records.wrongAt', {
      at: named({ ...sizes, ...scalars }),
      why: reason ?? message('checks.wrong'),
    }),
  }
}

/**
 * Measures rungs with one additional problem. If the runner cannot start with that problem, reports
 * the reason for each rung and keeps all timings.
 */
async function measureOrSay(
  runner: TaskRunner,
  what: Measurement,
  onOutOfTurn: (rung: string) => void,
): Promise<MeasureOutcome> {
  try {
    return await measure(runner, what, (event) => {
      if (event.type === 'out-of-turn') onOutOfTurn(event.rung)
    })
  } catch (error) {
    const shape = toErrorShape(error)
    const trouble = { status: 'not-run', reason: shape.message } as const
    return {
      rungs: new Map(what.rungs.map(({ id }) => [id, { verify: null, timing: null, trouble }])),
      // A larger problem may exceed the GPU memory even if the run's own problem fits. Continue in
      // that case, because the next problem may fit.
      halted: shape.kind === 'input' ? null : shape,
    }
  }
}
