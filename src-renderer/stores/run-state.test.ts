import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src-main/contract'
import { applyMessage, replay, type RunState } from './run-state'
import { messages, rung, started } from '../../test/renderer/samples'

const step = (id: string, state: 'running' | 'done' | 'failed'): RunEvent => ({
  type: 'rung',
  rung: id,
  stage: 'build',
  state,
})

const events: RunEvent[] = [
  started,
  { type: 'stage', stage: 'build', done: 0, total: 2 },
  step('00_ref', 'running'),
  step('00_ref', 'done'),
  step('01_naive', 'failed'),
  { type: 'result', result: rung('00_ref', 2) },
  { type: 'log', level: 'warning', message: 'Something to know.' },
  { type: 'finished', status: 'complete', session: 'sample' },
]
const all = messages('run-1', events)

function applied(state: RunState | null, index: number): RunState {
  const result = applyMessage(state, all[index]!)
  if (result.kind !== 'applied') throw new Error(result.kind)
  return result.state
}

describe('a run state built from messages', () => {
  it('shows each step, result and log line as it arrives', () => {
    const state = replay(all)!
    expect(state.rungs.map(({ steps }) => steps.build.state)).toEqual(['done', 'failed'])
    expect(state.rungs[0]!.result?.timing?.medianMs).toBe(2)
    expect(state.stage).toEqual({ stage: 'build', done: 0, total: 2 })
    expect(state.log).toEqual([{ level: 'warning', message: 'Something to know.' }])
    expect(state.finished).toEqual({ status: 'complete', session: 'sample' })
  })

  it('is stale while its machine is disconnected, and then catches up', () => {
    const link = (up: boolean): RunEvent => ({
      ...{ type: 'link', machine: 'titan', up, at: '2026-11-22T10:00:00.000Z' },
    })
    const events: RunEvent[] = [started, step('00_ref', 'running'), link(false)]
    const lost = replay(messages('run-1', events))!
    expect(lost.lostSince).toBe('2026-11-22T10:00:00.000Z')
    const back = replay(messages('run-1', [...events, link(true), step('00_ref', 'done')]))!
    expect([back.lostSince, back.rungs[0]!.steps.build.state]).toEqual([null, 'done'])
    const ended: RunEvent = { type: 'finished', status: 'failed', session: null }
    expect(replay(messages('run-1', [...events, ended]))!.lostSince).toBeNull()
  })

  it('ignores a repeated message', () => {
    const state = applied(applied(null, 0), 1)
    expect(applyMessage(state, all[0]!)).toEqual({ kind: 'repeat' })
    expect(applyMessage(state, all[1]!)).toEqual({ kind: 'repeat' })
  })

  it('reports a gap and leaves the state unchanged', () => {
    const state = applied(null, 0)
    expect(applyMessage(state, all[3]!)).toEqual({ kind: 'gap' })
    expect(state.nextSeq).toBe(1)
  })

  it('reports a gap if the first messages are missing', () => {
    expect(applyMessage(null, all[2]!)).toEqual({ kind: 'gap' })
  })

  it('is the same after a reload and after following the run', () => {
    let followed: RunState | null = null
    for (let index = 0; index < 5; index += 1) followed = applied(followed, index)
    const reloaded = replay(all.slice(0, 5))!
    expect(reloaded).toEqual(followed)
    expect(applyMessage(reloaded, all[5]!).kind).toBe('applied')
  })

  it('is reset by the first message of another run', () => {
    const state = replay(all)!
    const next = applyMessage(state, { runId: 'run-2', seq: 0, event: started })
    expect(next).toMatchObject({ kind: 'applied', state: { runId: 'run-2', finished: null } })
  })

  it('includes a rung that the start message did not list', () => {
    const state = replay(messages('run-1', [started, step('09_late', 'running')]))!
    expect(state.rungs.map(({ id }) => id)).toEqual(['00_ref', '01_naive', '09_late'])
  })

  it('marks a step as done when the next step of its rung begins', () => {
    const later: RunEvent = { type: 'rung', rung: '00_ref', stage: 'time', state: 'running' }
    const state = replay(messages('run-1', [started, step('00_ref', 'running'), later]))!
    expect(state.rungs[0]!.steps.build.state).toBe('done')
    expect(state.rungs[0]!.steps.time.state).toBe('running')
  })

  it('shows nothing as running after the end', () => {
    const end: RunEvent = { type: 'finished', status: 'cancelled', session: null }
    const state = replay(messages('run-1', [started, step('00_ref', 'running'), end]))!
    expect(state.rungs[0]!.steps.build.state).toBe('skipped')
  })

  it('has no state without messages', () => {
    expect(replay([])).toBeNull()
  })
})
