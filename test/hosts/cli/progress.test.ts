/** What a run prints while it goes on. */
import { afterEach, expect, it, vi } from 'vitest'
import type { RunEvent } from '../../../src-main/contract'
import { progressPrinter } from '../../../src-main/hosts/cli/progress'

afterEach(() => {
  vi.restoreAllMocks()
})

function printed(events: readonly RunEvent[]): string[] {
  let text = ''
  vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    text += String(chunk)
    return true
  })
  const print = progressPrinter()
  for (const event of events) print(event)
  return text.trimEnd().split('\n')
}

it('counts a rung once that is verified and then timed', () => {
  const rung = (id: string, stage: 'verify' | 'time', state: 'running' | 'done'): RunEvent => ({
    type: 'rung',
    rung: id,
    stage,
    state,
  })
  const stage = (done: number): RunEvent => ({ type: 'stage', stage: 'measure', done, total: 2 })
  const events = (id: string): RunEvent[] => [
    rung(id, 'verify', 'running'),
    rung(id, 'verify', 'done'),
    rung(id, 'time', 'running'),
    rung(id, 'time', 'done'),
  ]
  expect(printed([stage(0), ...events('a'), stage(1), ...events('b')])).toEqual([
    'Verifying and timing…',
    '  verify 1/2 a',
    '  verify 2/2 b',
  ])
})

it('counts the builds that began, of which several run at once, up to the last', () => {
  const stage = (done: number): RunEvent => ({ type: 'stage', stage: 'build', done, total: 3 })
  const rung = (id: string, state: 'running' | 'done'): RunEvent => ({
    type: 'rung',
    rung: id,
    stage: 'build',
    state,
  })
  const events = [stage(0), rung('a', 'running'), rung('b', 'running'), rung('a', 'done'), stage(1)]
  expect(printed([...events, rung('c', 'running')])).toEqual([
    'Building…',
    '  build 1/3 a',
    '  build 2/3 b',
    '  build 3/3 c',
  ])
})
