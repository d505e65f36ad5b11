import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { askAhead, takeAhead } from './ahead'

const asked: [string, unknown][] = []
const answers: Record<string, unknown> = {
  'app.info': { ok: true, value: { defaultSession: 'recorded:first' } },
  'sessions.list': { ok: true, value: [] },
  'sessions.get': { ok: true, value: 'a session' },
}

beforeEach(() => {
  asked.length = 0
  vi.stubGlobal('window', { location: { hash: '' } })
  vi.stubGlobal('fetch', (address: string, { body }: { body: string }) => {
    const name = address.replace('/rpc/', '')
    asked.push([name, JSON.parse(body)])
    return Promise.resolve(new Response(JSON.stringify(answers[name])))
  })
})
afterEach(() => {
  for (const [name, input] of asked) void takeAhead(name, input)
  vi.unstubAllGlobals()
})

const settled = () => vi.waitFor(() => expect(asked.length).toBe(3))

it('asks for the session that the program opens with', async () => {
  askAhead()
  await settled()
  expect(asked[2]).toEqual(['sessions.get', { ref: 'recorded:first' }])
})

it('asks for the session that the address names', async () => {
  vi.stubGlobal('window', { location: { hash: '#/session/recorded%3Amine/compare/a/b' } })
  askAhead()
  await settled()
  expect(asked[2]).toEqual(['sessions.get', { ref: 'recorded:mine' }])
})

it('gives an answer once, to the call that would have asked', async () => {
  askAhead()
  await settled()
  const input = { ref: 'recorded:first' }
  expect(takeAhead('sessions.get', { ref: 'another' })).toBeUndefined()
  expect(await takeAhead('sessions.get', input)).toEqual({
    status: 200,
    body: { ok: true, value: 'a session' },
  })
  expect(takeAhead('sessions.get', input)).toBeUndefined()
})

it('leaves an address that cannot be decoded, and a server that is gone, to the screens', async () => {
  vi.stubGlobal('window', { location: { hash: '#/session/%E0%A4%A' } })
  askAhead()
  await vi.waitFor(() => expect(asked.length).toBe(2))
  vi.stubGlobal('fetch', () => Promise.reject(new Error('gone')))
  askAhead()
  await expect(takeAhead('app.info', {})).rejects.toThrow('gone')
})
