import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { indexHtml } from '../support/renderer-dir'
import { type Harness, json, startHarness } from './harness'

let at: Harness
beforeEach(async () => {
  at = await startHarness()
})
afterEach(() => at.stop())

const pathOf = (url: string): string => url.slice(new URL(url).origin.length)

describe('the one-time link', () => {
  it('is on 127.0.0.1 and carries a token of 32 random bytes', () => {
    const url = new URL(at.host.url)
    expect(url.origin).toBe(`http://127.0.0.1:${at.host.port}`)
    expect(at.host.origin).toBe(url.origin)
    expect(url.searchParams.get('token')).toMatch(/^[A-Za-z0-9_-]{43}$/)
  })

  it('is exchanged for a cookie that scripts cannot read and other sites cannot send', async () => {
    const answer = await at.ask(pathOf(at.host.url))
    expect(answer.status).toBe(303)
    expect(answer.headers.location).toBe('/')
    expect(answer.headers['cache-control']).toBe('no-store')
    const [cookie] = answer.headers['set-cookie'] ?? []
    expect(cookie).toMatch(
      new RegExp(
        `^kernel-ladder-${at.host.port}=[A-Za-z0-9_-]{43}; Path=/; HttpOnly; SameSite=Strict$`,
      ),
    )
  })

  it('sets a cookie that is not the token and opens the page', async () => {
    const cookie = await at.signIn()
    expect(cookie).not.toContain(new URL(at.host.url).searchParams.get('token'))
    const page = await at.ask('/', { headers: { cookie } })
    expect([page.status, page.body]).toEqual([200, indexHtml])
  })

  it('works once, and then says how to get another', async () => {
    const path = pathOf(at.host.url)
    await at.ask(path)
    const again = await at.ask(path)
    expect(again.status).toBe(403)
    expect(again.headers['set-cookie']).toBeUndefined()
    expect(again.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(again.body).toContain('already been used')
    expect(again.body).toContain('<code>kernel-ladder serve</code>')
  })

  it('works once even for the browser that it let in', async () => {
    const path = pathOf(at.host.url)
    const cookie = (await at.ask(path)).headers['set-cookie']![0]!.split(';')[0]!
    expect((await at.ask(path, { headers: { cookie } })).status).toBe(403)
  })

  it.each(['', 'x', 'A'.repeat(43), '%00', 'a&token=b'])(
    'is not opened by the wrong token %j, which leaves the right one valid',
    async (wrong) => {
      const refused = await at.ask(`/?token=${wrong}`)
      expect(refused.status).toBe(403)
      expect(refused.headers['set-cookie']).toBeUndefined()
      expect((await at.ask(pathOf(at.host.url))).status).toBe(303)
    },
  )

  it('can be replaced by the operator: the new one works, the unused one no longer', async () => {
    const url = at.host.newUrl()
    expect(url).not.toBe(at.host.url)
    expect((await at.ask(pathOf(at.host.url))).status).toBe(403)
    expect((await at.ask(pathOf(url))).status).toBe(303)
  })

  it('lets a second browser in beside the first', async () => {
    const cookies = [await at.signIn(), await at.signIn()]
    for (const cookie of cookies)
      expect((await at.ask('/', { headers: { cookie } })).status).toBe(200)
  })

  it.each([
    ['a HEAD of a link preview', { method: 'HEAD' }],
    ['a prefetch', { headers: { 'sec-purpose': 'prefetch;prerender' } }],
    ['an old prefetch', { headers: { purpose: 'prefetch' } }],
  ])('is not used up by %s', async (_what, ask) => {
    const early = await at.ask(pathOf(at.host.url), ask)
    expect(early.status).toBe(503)
    expect(early.headers['set-cookie']).toBeUndefined()
    expect((await at.ask(pathOf(at.host.url))).status).toBe(303)
  })

  it('followed from another site, goes on by a page of ours, so that the Strict cookie is sent', async () => {
    const answer = await at.ask(pathOf(at.host.url), {
      headers: {
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      },
    })
    expect(answer.status).toBe(200)
    expect(answer.headers['set-cookie']).toHaveLength(1)
    expect(answer.body).toContain('<meta http-equiv="refresh" content="0;url=/">')
  })

  it('is not taken from the path of another page', async () => {
    expect((await at.ask(`/sessions${pathOf(at.host.url).slice(1)}`)).status).toBe(403)
  })

  it('is not taken by POST', async () => {
    const path = pathOf(at.host.url)
    const posted = await at.ask(path, { method: 'POST', headers: { origin: at.host.origin } })
    expect(posted.headers['set-cookie']).toBeUndefined()
    expect((await at.ask(path)).status).toBe(303)
  })
})

describe('without the cookie', () => {
  it.each(['/', '/index.html', '/assets/index-Ab3_x-9Z.js', '/logo.svg', '/nothing.js', '/a/b'])(
    'GET %s gets the locked page',
    async (path) => {
      const answer = await at.ask(path)
      expect(answer.status).toBe(403)
      expect(answer.body).toContain('<code>kernel-ladder serve</code>')
      expect(answer.body).not.toContain('id="app"')
    },
  )

  it('a call is refused as a Reply and does not reach the core', async () => {
    const answer = await at.call('app.info', '{}', { cookie: undefined })
    expect(answer.status).toBe(401)
    expect(json(answer)).toEqual({
      ok: false,
      error: {
        kind: 'input',
        message: expect.any(String),
        remedy: expect.stringContaining('kernel-ladder serve'),
      },
    })
    expect(at.core.calls).toEqual([])
  })

  it('the event stream is refused', async () => {
    expect((await at.ask('/events')).status).toBe(401)
    expect(at.core.listeners.size).toBe(0)
  })
})

describe('the cookie', () => {
  it('of a wrong value is refused', async () => {
    const cookie = await at.signIn()
    const [name] = cookie.split('=')
    for (const wrong of [
      `${name}=`,
      `${name}=${'A'.repeat(43)}`,
      cookie.slice(0, -1),
      `${cookie}x`,
    ])
      expect((await at.ask('/', { headers: { cookie: wrong } })).status).toBe(403)
  })

  it('of another server, on another port, is refused', async () => {
    const other = await startHarness()
    const cookie = await other.signIn()
    await other.stop()
    expect((await at.ask('/', { headers: { cookie } })).status).toBe(403)
    const renamed = cookie.replace(String(other.host.port), String(at.host.port))
    expect((await at.ask('/', { headers: { cookie: renamed } })).status).toBe(403)
  })

  it('is found among others, also behind a planted one of the same name', async () => {
    const cookie = await at.signIn()
    const [name] = cookie.split('=')
    const sent = `theme=dark; ${name}=planted; ${cookie}; x=1`
    expect((await at.ask('/', { headers: { cookie: sent } })).status).toBe(200)
  })
})
