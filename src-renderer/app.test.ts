import { afterEach, beforeEach, expect, it, vi, describe } from 'vitest'
import { askAhead, takeAhead } from './ahead'
import en from './locales/en/screens.json'
import { placeOf, screens } from './screens'
import { wordAt } from '../test/renderer/samples'
import { goTos } from './features/palette/screen-keys'

const calls: [string, unknown][] = []
const answers: Record<string, unknown> = {
  'app.info': { ok: true, value: { defaultSession: 'recorded:first' } },
  'sessions.list': { ok: true, value: [] },
  'sessions.get': { ok: true, value: 'a session' },
}

beforeEach(() => {
  calls.length = 0
  vi.stubGlobal('window', { location: { hash: '' } })
  vi.stubGlobal('fetch', (address: string, { body }: { body: string }) => {
    const name = address.replace('/rpc/', '')
    calls.push([name, JSON.parse(body)])
    return Promise.resolve(new Response(JSON.stringify(answers[name])))
  })
})
afterEach(() => {
  for (const [name, input] of calls) void takeAhead(name, input)
  vi.unstubAllGlobals()
})

const settled = () => vi.waitFor(() => expect(calls.length).toBe(3))

it('the prefetch requests the default session at startup', async () => {
  askAhead()
  await settled()
  expect(calls[2]).toEqual(['sessions.get', { ref: 'recorded:first' }])
})

it('the prefetch requests the session named in the URL without waiting for app.info', () => {
  vi.stubGlobal('window', { location: { hash: '#/session/recorded%3Amine/compare/a/b' } })
  askAhead()
  expect(calls[2]).toEqual(['sessions.get', { ref: 'recorded:mine' }])
})

it('the prefetch returns each response once, to the first call', async () => {
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

it('the prefetch ignores an undecodable URL, and forwards the error of an unreachable server', async () => {
  vi.stubGlobal('window', { location: { hash: '#/session/%E0%A4%A' } })
  askAhead()
  await vi.waitFor(() => expect(calls.length).toBe(2))
  vi.stubGlobal('fetch', () => Promise.reject(new Error('gone')))
  askAhead()
  await expect(takeAhead('app.info', {})).rejects.toThrow('gone')
})

// Tests the screen entries and the navigation, keys, and titles derived from them.

const named = (name: string) => screens.find((screen) => screen.name === name)!

describe('the screens', () => {
  it('each have a title', () => {
    for (const { name } of screens) expect(wordAt(en, `title.${name}`), name).toBeTypeOf('string')
  })

  it('can each be reached by a link, a key, or a parent screen', () => {
    const lost = screens.filter(({ meta }) => !meta?.linked && !meta?.key && !meta?.under)
    expect(lost.map(({ name }) => name)).toEqual(['home', 'missing'])
    for (const { meta } of screens)
      if (meta?.under) expect(named(meta.under).meta?.linked).toBe(true)
  })
})

describe('the letters after g', () => {
  it('each belong to one screen', () => {
    expect(new Set(goTos.map(({ key }) => key)).size).toBe(goTos.length)
  })

  it("open the current session's screen, or home if there is no session", () => {
    expect(placeOf(named('ladder'), 'mine')).toEqual({
      name: 'ladder',
      params: { sessionRef: 'mine' },
    })
    expect(placeOf(named('matrix'), null)).toEqual({ name: 'home', query: { screen: 'matrix' } })
    expect(placeOf(named('doctor'), null)).toEqual({ name: 'doctor' })
  })

  it.each([
    ['matrix', 'matrix'],
    ['edit', 'ladder'],
    ['doctor', 'ladder'],
    ['toString', 'ladder'],
    [['matrix', 'charts'], 'ladder'],
    [undefined, 'ladder'],
  ])('open the home screen for %j, which then opens %s', (screen, next) => {
    const props = named('home').props as (to: object) => object
    expect(props({ query: { screen } })).toEqual({ next })
  })
})
