import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it, vi } from 'vitest'
import type { RunEvent, RunMessage } from '../../src-main/contract'
import { createClient, provideClient, type Listener } from '../client/client'
import { useRunStore } from './run'
import { messages, started } from '../../test/renderer/samples'

const log = (message: string): RunEvent => ({ type: 'log', level: 'info', message })
const all = messages('run-1', [started, log('one'), log('two'), log('three')])

let listener: Listener
let current: { messages: RunMessage[]; active: boolean }
const requests: string[] = []

beforeEach(() => {
  setActivePinia(createPinia())
  current = { messages: [], active: false }
  requests.length = 0
  provideClient(
    createClient({
      kind: 'web',
      call: (name) => {
        requests.push(name)
        return Promise.resolve({ ok: true, value: name === 'sessions.list' ? [] : current })
      },
      subscribe: (given) => {
        listener = given
        return () => undefined
      },
    }),
  )
})

const lines = () => useRunStore().state?.log.map(({ message }) => message)

it('the run store resumes a run that was active before the page was loaded', async () => {
  current = { messages: all.slice(0, 3), active: true }
  useRunStore().follow()
  await vi.waitFor(() => expect(lines()).toEqual(['one', 'two']))
  listener.message(all[2])
  listener.message(all[3])
  expect(lines()).toEqual(['one', 'two', 'three'])
})

it('the run store fetches the whole run if a message is missing', async () => {
  useRunStore().follow()
  await vi.waitFor(() => expect(requests).toContain('run.current'))
  listener.message(all[0])
  current = { messages: all, active: true }
  listener.message(all[3])
  await vi.waitFor(() => expect(lines()).toEqual(['one', 'two', 'three']))
})

it('the run store keeps messages that arrive while an older history is being fetched', async () => {
  useRunStore().follow()
  listener.message(all[0])
  listener.message(all[1])
  current = { messages: all.slice(0, 2), active: true }
  await vi.waitFor(() => expect(requests.length).toBeGreaterThan(1))
  expect(lines()).toEqual(['one'])
})

it('the run store fetches the whole run after a lost connection or an unreadable message', async () => {
  const store = useRunStore()
  store.follow()
  listener.lost()
  expect(store.lineDown).toBe(true)
  current = { messages: all.slice(0, 2), active: true }
  listener.reconnected()
  await vi.waitFor(() => expect(store.lineDown).toBe(false))
  current = { messages: all, active: true }
  await vi.waitFor(() => {
    listener.message({ nonsense: true })
    expect(lines()).toEqual(['one', 'two', 'three'])
  })
})

it('the run store ends a run that no longer exists after the program restarts', async () => {
  current = { messages: all, active: false }
  const store = useRunStore()
  store.follow()
  await vi.waitFor(() => expect(store.orphaned).toBe(true))
  expect(store.active).toBe(false)
})

it('the run store reloads the session list when a run ends', async () => {
  useRunStore().follow()
  await vi.waitFor(() => expect(requests).toContain('run.current'))
  for (const message of messages('run-2', [
    started,
    { type: 'finished', status: 'complete', session: 'sample' },
  ]))
    listener.message(message)
  expect(requests.filter((name) => name === 'sessions.list')).toHaveLength(1)
  expect(useRunStore().active).toBe(false)
})
