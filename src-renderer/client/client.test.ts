import { expect, it, describe } from 'vitest'
import type { Reply } from '../../src-main/contract/index'
import { createClient, CoreError, LineError } from './client'
import { frozenRefs, staticTransport } from './static'
import type { FrozenReport } from '../../src-main/domain/report/frozen-report'
import { recording } from '../../test/services/report/samples'

const clientWith = (answer: () => Promise<Reply<unknown>>) =>
  createClient(
    { kind: 'web', call: answer, subscribe: () => () => undefined },
    { 'run.current': 20 },
  )

it('the client returns the value of a successful response', async () => {
  const client = clientWith(() =>
    Promise.resolve({ ok: true, value: { messages: [], active: false } }),
  )
  await expect(client.call('run.current', {})).resolves.toEqual({ messages: [], active: false })
})

it("the client throws the core's error with its remedy", async () => {
  const client = clientWith(() =>
    Promise.resolve({ ok: false, error: { kind: 'input', message: 'No.', remedy: 'Do.' } }),
  )
  await expect(client.call('run.current', {})).rejects.toMatchObject({
    constructor: CoreError,
    message: 'No.',
    remedy: 'Do.',
  })
})

it('the client throws if a response does not match the contract', async () => {
  const client = clientWith(() => Promise.resolve({ ok: true, value: { messages: 'none' } }))
  await expect(client.call('run.current', {})).rejects.toMatchObject({
    constructor: LineError,
    fault: 'malformed',
  })
})

it('the client fails after the timeout', async () => {
  const client = clientWith(() => new Promise(() => undefined))
  await expect(client.call('run.current', {})).rejects.toMatchObject({ fault: 'timeout' })
})

const frozen = (count: 1 | 2): FrozenReport => ({
  report: 3,
  date: null,
  sections: ['ladder'],
  sessions: [recording(), recording()].slice(0, count),
})

const profile = { schema: 2 as const, rung: '06_float4', kernels: [], notes: ['x'] }
const requests: number[] = []
const readDeep = (session: number) => {
  requests.push(session)
  return Promise.resolve({ '06_float4': profile })
}

describe('the static transport', () => {
  const client = createClient(staticTransport(frozen(1), readDeep))

  it('follows the same contract as the core', async () => {
    const { session, sources } = recording()
    const info = await client.call('app.info', {})
    expect(info).toMatchObject({ host: 'report', defaultSession: 'report', hasGpu: false })
    expect(await client.call('sessions.get', { ref: 'report' })).toEqual(session)
    expect(await client.call('sessions.sources', { ref: 'report' })).toEqual(sources)
    expect(await client.call('sessions.list', {})).toMatchObject([{ ref: 'report', rungCount: 7 }])
    expect(await client.call('run.current', {})).toEqual({ messages: [], active: false })
  })

  it('returns the frozen advice, or an error if there is no advice', async () => {
    const { session, sources } = recording()
    const limit = 'At its limit.'
    const next = { '06_float4': { rung: '06_float4', steps: [], limit } }
    const advised = createClient(
      staticTransport({ ...frozen(1), sessions: [{ session, sources, next }] }, readDeep),
    )
    const asked = { ref: 'report', rungs: ['06_float4'] }
    expect(await advised.call('sessions.firstSteps', asked)).toEqual({ '06_float4': { limit } })
    await expect(client.call('sessions.firstSteps', asked)).rejects.toMatchObject({
      kind: 'missing',
    })
  })

  it('reads the deep profiles once, on first use', async () => {
    const at = (rung: string) => client.call('sessions.deep', { ref: 'report', rung })
    expect([await at('06_float4'), await at('01_naive')]).toEqual([profile, null])
    expect(requests).toEqual([0])
  })

  it('rejects calls that need the program, and unknown sessions, with a message', async () => {
    await expect(client.call('doctor.check', {})).rejects.toMatchObject({ kind: 'missing' })
    await expect(client.call('sessions.get', { ref: 'other' })).rejects.toMatchObject({
      kind: 'input',
    })
  })

  it('returns the names of both compared sessions', async () => {
    expect(frozenRefs(frozen(2))).toEqual(['first', 'second'])
    const two = createClient(staticTransport(frozen(2), readDeep))
    expect((await two.call('sessions.list', {})).map(({ ref }) => ref)).toEqual(['first', 'second'])
  })
})
