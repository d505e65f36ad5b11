/** Verifies rungs at problems other than the timed one: a tile that fits 4096 may not fit 1023. */
import { isPythonFile } from '../../domain/ladder/rung'
import { builtRung, type Expected } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import { toErrorShape, type ErrorShape } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import type { VerifiedAt } from '../../domain/session/session'
import { named, type Problem } from '../../domain/task/problem'
import type { Task } from '../../domain/task/task'
import { measure, type Measured, type MeasureOutcome, type MeasureRequest } from './measure'
import type { RunPlan } from './plan'
import { wrongness, type RungState } from './stages'

export interface FurtherRequest {
  toolbox: Toolbox
  runner: string
  expected: Expected | null
  plan: RunPlan
  settings: { seed: number; idleSeconds: number }
  states: ReadonlyMap<string, RungState>
  signal: AbortSignal
  onOutOfTurn: (rung: string) => void
  /** Called when the verification at a problem starts. */
  onStart: (notice: Statement) => void
}

/** The runner times whatever it has verified; this is the minimum. */
const maxSeconds = 0.02

/** A process with rungs in Python spends seconds on importing and compiling, and hardly any on the GPU. */
const mostAbreast = 4

function reasonOf({ verify, trouble }: Measured, task: Task): Statement | undefined {
  if (trouble) return trouble.reason
  return verify && !verify.passed ? wrongness(verify, task) : undefined
}

/** Fills in `alsoVerified` for the planned rungs that were built. Returns why the runner could not continue, if so. */
export async function verifyFurther(request: FurtherRequest): Promise<ErrorShape | null> {
  const { toolbox, runner, expected, plan, settings, states, signal } = request
  // A rung that hung or crashed at its own problem would do so again, and take as long.
  const wanted = (plan.alsoVerify?.rungs.flatMap((id) => states.get(id) ?? []) ?? []).filter(
    ({ measured }) => measured?.trouble?.status !== 'failed',
  )
  const trusted = plan.trusted && states.get(plan.trusted.rung.id)
  if (trusted?.measured?.trouble) return null
  let built = [...new Set([...(trusted ? [trusted] : []), ...wanted])].flatMap(
    ({ planned, build }) => (build?.artefact ? [builtRung(planned.rung, build.artefact)] : []),
  )
  for (const state of wanted) state.alsoVerified = []
  const problems = plan.alsoVerify?.problems ?? []
  const ask = (problem: Problem, index: number): Promise<MeasureOutcome> => {
    request.onStart(
      message('records.verifyingAt', {
        ...{ at: named({ ...problem.sizes, ...problem.scalars }), number: index + 1 },
        total: problems.length,
      }),
    )
    return measureOrSay({
      toolbox,
      runner,
      expected,
      taskFolder: plan.taskFolder,
      task: plan.task,
      problem,
      key: `runner/further-${index + 1}`,
      maxSeconds,
      rungs: built,
      reference: null,
      seed: settings.seed,
      cacheState: 'warm',
      idleMs: settings.idleSeconds * 1000,
      signal,
      onStart: () => undefined,
      onVerified: () => undefined,
      onMeasured: () => undefined,
      onCeilings: () => undefined,
      onOutOfTurn: request.onOutOfTurn,
    })
  }
  const abreast = wanted.some(({ planned }) => isPythonFile(planned.rung.file)) ? mostAbreast : 1
  for (let first = 0; first < problems.length; first += abreast) {
    if (signal.aborted || built.length === 0) return null
    const some = problems.slice(first, first + abreast)
    const outcomes = await Promise.all(some.map((problem, index) => ask(problem, first + index)))
    for (const [index, { rungs: answers }] of outcomes.entries()) {
      const problem = some[index]!
      for (const state of wanted) {
        const answer = answers.get(state.planned.rung.id)
        if (!answer) continue
        const reason = reasonOf(answer, plan.task)
        const found: VerifiedAt = {
          problem,
          verify: answer.verify,
          ...(reason === undefined ? {} : { reason }),
        }
        state.alsoVerified?.push(found)
        if (plan.alsoVerify?.decides) decide(state, answer, problem, reason)
        if (answer.trouble?.status === 'failed')
          built = built.filter(({ id }) => id !== state.planned.rung.id)
      }
    }
    const halted = outcomes.find((outcome) => outcome.halted)?.halted
    if (halted) return halted
  }
  return null
}

/** A rung that is wrong anywhere is wrong: it has no time and is not profiled. */
function decide(
  state: RungState,
  { verify, trouble }: Measured,
  { sizes, scalars }: Problem,
  reason: Statement | undefined,
): void {
  const bad = trouble?.status === 'failed' || verify?.passed === false
  if (!bad || state.further || state.measured?.timing == null) return
  state.further = {
    status: trouble?.status === 'failed' ? 'failed' : 'wrong',
    reason: message('records.wrongAt', {
      at: named({ ...sizes, ...scalars }),
      why: reason ?? message('checks.wrong'),
    }),
  }
  state.measured = { ...state.measured, timing: null }
}

/** Like measure, but a problem that the runner cannot start is reported for each rung and costs no timing. */
async function measureOrSay(request: MeasureRequest): Promise<MeasureOutcome> {
  try {
    return await measure(request)
  } catch (error) {
    const shape = toErrorShape(error)
    const trouble = { status: 'not-run', reason: shape.message } as const
    return {
      rungs: new Map(request.rungs.map(({ id }) => [id, { verify: null, timing: null, trouble }])),
      // A larger problem may not fit into memory although the run's own did; the next one may.
      halted: shape.kind === 'input' ? null : shape,
    }
  }
}
