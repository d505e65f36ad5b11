/**
 * Computes a run's state from its messages with a pure function. A reload replays the messages and
 * gets the same state.
 */
import type { Statement } from '../../src-main/domain/messages/message'
import type { RunEvent, RunMessage } from '../../src-main/contract'
import type { ProfileCost, ProfilePlan } from '../../src-main/domain/analysis/pass-plan'
import type { LeadContext } from '../../src-main/domain/analysis/lead-figure'
import type { Problem } from '../../src-main/domain/task/problem'
import type { RungResult } from '../../src-main/domain/session/session'

type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>

export const rungStages = ['build', 'verify', 'time', 'profile'] as const
export type RungStage = (typeof rungStages)[number]

export interface StepState {
  state: 'waiting' | EventOf<'rung'>['state']
  detail?: string
}

export interface RungProgress {
  id: string
  title: string
  steps: Record<RungStage, StepState>
  result: RungResult | null
}

export interface RunState {
  runId: string
  nextSeq: number
  ladder: string
  target: string
  problem: Problem | null
  /** Data that determines which throughput is shown. */
  leadContext: LeadContext
  stage: Omit<EventOf<'stage'>, 'type'> | null
  rungs: RungProgress[]
  /** The estimated cost of collecting counters. */
  profilePlan: ProfilePlan | null
  profileCost: ProfileCost | null
  log: { level: 'info' | 'warning'; message: Statement }[]
  /**
   * The time when the connection to another machine was lost, in ISO 8601, or null while connected.
   */
  lostSince: string | null
  finished: Omit<EventOf<'finished'>, 'type'> | null
}

const waiting = (): RungProgress['steps'] => ({
  build: { state: 'waiting' },
  verify: { state: 'waiting' },
  time: { state: 'waiting' },
  profile: { state: 'waiting' },
})

const newRun = (runId: string): RunState => ({
  runId,
  nextSeq: 0,
  ladder: '',
  target: '',
  problem: null,
  leadContext: { ladder: { task: null }, problem: null, device: null },
  stage: null,
  rungs: [],
  profilePlan: null,
  profileCost: null,
  log: [],
  lostSince: null,
  finished: null,
})

function withRung(
  rungs: RungProgress[],
  id: string,
  title: string,
  change: (rung: RungProgress) => RungProgress,
): RungProgress[] {
  if (!rungs.some((rung) => rung.id === id))
    return [...rungs, change({ id, title, steps: waiting(), result: null })]
  return rungs.map((rung) => (rung.id === id ? change(rung) : rung))
}

/**
 * Returns a rung's steps after an event is applied. Starting a step ends the previous one, because
 * a rung's steps run in sequence.
 */
function withStep(
  steps: RungProgress['steps'],
  stage: RungStage,
  step: StepState,
): RungProgress['steps'] {
  const next = { ...steps, [stage]: step }
  for (const earlier of rungStages.slice(0, rungStages.indexOf(stage)))
    if (next[earlier].state === 'running') next[earlier] = { ...next[earlier], state: 'done' }
  return next
}

/**
 * Returns a copy of the rung in which no step is marked as running, for use after a run has ended.
 */
const withoutRunning = (rung: RungProgress): RungProgress => ({
  ...rung,
  steps: Object.fromEntries(
    rungStages.map((stage) => {
      const step = rung.steps[stage]
      return [stage, step.state === 'running' ? { ...step, state: 'skipped' } : step]
    }),
  ) as RungProgress['steps'],
})

function applyEvent(state: RunState, event: RunEvent): RunState {
  switch (event.type) {
    case 'started':
      return {
        ...state,
        ladder: event.ladder,
        target: event.target,
        problem: event.problem,
        leadContext: { ladder: { task: event.task }, problem: event.problem, device: null },
        rungs: event.rungs.map(({ id, title }) => ({ id, title, steps: waiting(), result: null })),
      }
    case 'gpu': {
      const { device, ceilings } = event
      return {
        ...state,
        leadContext: { ...state.leadContext, device, ...(ceilings && { ceilings }) },
      }
    }
    case 'stage':
      return { ...state, stage: { stage: event.stage, done: event.done, total: event.total } }
    case 'rung': {
      const step: StepState = {
        state: event.state,
        ...(event.detail === undefined ? {} : { detail: event.detail }),
      }
      return {
        ...state,
        rungs: withRung(state.rungs, event.rung, event.rung, (rung) => ({
          ...rung,
          steps: withStep(rung.steps, event.stage, step),
        })),
      }
    }
    case 'result':
      return {
        ...state,
        rungs: withRung(state.rungs, event.result.id, event.result.title, (rung) => ({
          ...rung,
          result: event.result,
        })),
      }
    case 'profile-plan':
      return { ...state, profilePlan: event.plan }
    case 'profile-cost':
      return { ...state, profileCost: event.cost }
    case 'link':
      return { ...state, lostSince: event.up ? null : event.at }
    case 'log':
      return { ...state, log: [...state.log, { level: event.level, message: event.message }] }
    case 'finished':
      return {
        ...state,
        rungs: state.rungs.map(withoutRunning),
        lostSince: null,
        finished: {
          status: event.status,
          session: event.session,
          ...(event.error ? { error: event.error } : {}),
        },
      }
  }
}

/**
 * The result of applying a message. `repeat` means a duplicate, which is dropped. `gap` means that
 * an earlier message is missing, so the whole history is fetched again.
 */
type Applied = { kind: 'applied'; state: RunState } | { kind: 'repeat' } | { kind: 'gap' }

export function applyMessage(state: RunState | null, message: RunMessage): Applied {
  const base = state?.runId === message.runId ? state : newRun(message.runId)
  if (message.seq < base.nextSeq) return { kind: 'repeat' }
  if (message.seq > base.nextSeq) return { kind: 'gap' }
  return {
    kind: 'applied',
    state: { ...applyEvent(base, message.event), nextSeq: message.seq + 1 },
  }
}

/**
 * Returns a run's state after all messages of a history. Stops before the first missing message.
 * The next message that arrives after the replay reports the gap.
 */
export function replay(messages: readonly RunMessage[]): RunState | null {
  let state: RunState | null = null
  for (const message of messages) {
    const applied = applyMessage(state, message)
    if (applied.kind === 'gap') return state
    if (applied.kind === 'applied') state = applied.state
  }
  return state
}
