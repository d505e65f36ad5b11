import { networkInterfaces } from 'node:os'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { contentSecurityPolicy } from '../../../src-main/hosts/shared/headers'
import { type Harness, json, startHarness } from './harness'

let at: Harness
let cookie: string
beforeAll(async () => {
  at = await startHarness()
  cookie = await at.signIn()
})
afterAll(() => at.stop())
beforeEach(() => {
  at.core.calls.length = 0
})

describe('the address', () => {
  it('is loopback alone', async () => {
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((found) => found?.family === 'IPv4' && !found.internal)?.address
    // 127.0.0.2 is loopback too, yet not the address that was bound.
    for (const address of ['127.0.0.2', ...(outside === undefined ? [] : [outside])]) {
      const reached = await new Promise((resolve) => {
        const socket = connect({ port: at.host.port, host: address, timeout: 2000 })
        socket.on('connect', () => (socket.destroy(), resolve(true)))
        socket.on('error', () => resolve(false))
        socket.on('timeout', () => (socket.destroy(), resolve(false)))
      })
      expect([address, reached]).toEqual([address, false])
    }
  })
})

describe('the Host header', () => {
  it('may name 127.0.0.1 or localhost with the port', async () => {
    for (const name of ['127.0.0.1', 'localhost']) {
      const host = `${name}:${at.host.port}`
      expect((await at.ask('/', { headers: { host, cookie } })).status).toBe(200)
    }
  })

  const foreign = (port: number): string[] => [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    'localhost',
    `127.0.0.1:${port + 1}`,
    `localhost.:${port}`,
    `LOCALHOST:${port}`,
    `localhost:${port}.evil.example`,
    `127.0.0.2:${port}`,
    `[::1]:${port}`,
    `x@127.0.0.1:${port}`,
  ]
  it('of any other value is refused, for pages, files, events and calls alike', async () => {
    for (const host of foreign(at.host.port)) {
      for (const path of ['/', '/logo.svg', '/events'])
        expect([host, (await at.ask(path, { headers: { host, cookie } })).status]).toEqual([
          host,
          403,
        ])
      const call = await at.call('app.info', '{}', { host, origin: `http://${host}` })
      expect([host, call.status]).toEqual([host, 403])
    }
    expect(at.core.calls).toEqual([])
    expect(at.core.listeners.size).toBe(0)
  })

  it('of another value does not use up a link, and is told which address works', async () => {
    const { pathname, search } = new URL(at.host.newUrl())
    const refused = await at.ask(pathname + search, { headers: { host: 'evil.example' } })
    expect(refused.status).toBe(403)
    expect(refused.headers['set-cookie']).toBeUndefined()
    expect(refused.body).toContain(`127.0.0.1:${at.host.port}`)
    expect(refused.body).not.toContain('evil')
    expect((await at.ask(pathname + search)).status).toBe(303)
  })

  it('must be there, and only once', async () => {
    const { port } = at.host
    const close = `Cookie: ${cookie}\r\nConnection: close\r\n\r\n`
    const own = `Host: 127.0.0.1:${port}\r\n`
    expect(await at.raw(`GET / HTTP/1.1\r\n${close}`)).toMatch(/^HTTP\/1.1 400/)
    expect(await at.raw(`GET / HTTP/1.1\r\nHost:\r\n${close}`)).toMatch(/^HTTP\/1.1 403/)
    expect(await at.raw(`GET / HTTP/1.0\r\n${close}`)).toMatch(/^HTTP\/1.1 403/)
    expect(await at.raw(`GET / HTTP/1.1\r\n${own}Host: evil.example\r\n${close}`)).toMatch(
      /^HTTP\/1.1 40[03]/,
    )
    expect(await at.raw(`GET / HTTP/1.1\r\n${own}${close}`)).toMatch(/^HTTP\/1.1 200/)
  })

  it('is checked on an upgrade, which is never granted', async () => {
    const upgrade = 'Connection: Upgrade, close\r\nUpgrade: websocket\r\n'
    for (const host of ['evil.example', `127.0.0.1:${at.host.port}`]) {
      const text = await at.raw(`GET /events HTTP/1.1\r\nHost: ${host}\r\n${upgrade}\r\n`)
      expect(text).toMatch(/^HTTP\/1.1 40[13]/)
    }
  })
})

describe('a call', () => {
  it('from our own page is answered, under either name of the address', async () => {
    expect((await at.call('app.info')).status).toBe(200)
    const host = `localhost:${at.host.port}`
    expect((await at.call('app.info', '{}', { host, origin: `http://${host}` })).status).toBe(200)
  })

  it('of any other Origin, or none, is refused as a Reply and does not reach the core', async () => {
    const { port, origin } = at.host
    const origins = [
      undefined,
      'null',
      '',
      'http://evil.example',
      `https://127.0.0.1:${port}`,
      `http://127.0.0.1:${port + 1}`,
      'http://127.0.0.1',
      `http://localhost:${port}`,
      `${origin}/`,
      `${origin}.evil.example`,
      `${origin}, http://evil.example`,
    ]
    for (const sent of origins) {
      const answer = await at.call('app.info', '{}', { origin: sent })
      expect([sent, answer.status]).toEqual([sent, 403])
      expect(json(answer)).toMatchObject({ ok: false, error: { kind: 'input' } })
    }
    expect(at.core.calls).toEqual([])
  })

  it.each(['cross-site', 'same-site', 'none'])(
    'that the browser marks %s is refused in spite of its Origin',
    async (site) => {
      expect((await at.call('app.info', '{}', { 'sec-fetch-site': site })).status).toBe(403)
      expect(at.core.calls).toEqual([])
    },
  )

  it('that the browser marks same-origin is answered', async () => {
    const answer = await at.call('app.info', '{}', { 'sec-fetch-site': 'same-origin' })
    expect(answer.status).toBe(200)
  })
})

describe('a read', () => {
  const asked = async (site: string, mode: string, destination: string): Promise<number> => {
    const metadata = {
      'sec-fetch-site': site,
      'sec-fetch-mode': mode,
      'sec-fetch-dest': destination,
    }
    return (await at.ask('/logo.svg', { headers: { cookie, ...metadata } })).status
  }

  it('by our page, or by a person who typed or followed the address, is answered', async () => {
    expect(await asked('same-origin', 'no-cors', 'image')).toBe(200)
    expect(await asked('none', 'navigate', 'document')).toBe(200)
    expect(await asked('cross-site', 'navigate', 'document')).toBe(200)
  })

  it('by a page of another site or port is refused', async () => {
    for (const site of ['cross-site', 'same-site']) {
      expect(await asked(site, 'no-cors', 'image')).toBe(403)
      expect(await asked(site, 'cors', 'empty')).toBe(403)
      expect(await asked(site, 'navigate', 'iframe')).toBe(403)
    }
  })
})

describe('every answer', () => {
  it('carries the security headers, and none that opens it to other origins', async () => {
    const answers = [
      await at.ask('/', { headers: { cookie } }),
      await at.ask('/assets/index-Ab3_x-9Z.js', { headers: { cookie } }),
      await at.ask('/'),
      await at.ask('/', { headers: { host: 'evil.example' } }),
      await at.ask('/%ZZ', { headers: { cookie } }),
      await at.ask('/nothing.js', { headers: { cookie } }),
      await at.ask(new URL(at.host.newUrl()).search.replace(/^/, '/')),
      await at.call('app.info'),
      await at.call('app.info', '{}', { origin: 'http://evil.example' }),
      await at.ask('/events', { method: 'HEAD', headers: { cookie } }),
    ]
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        'content-security-policy': contentSecurityPolicy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': expect.any(String),
      })
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })

  it('carries a policy that allows our own files and nothing else', () => {
    expect(contentSecurityPolicy.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data: blob:",
      "font-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
  })

  it('to a preflight is a refusal', async () => {
    const answer = await at.ask('/rpc/app.info', {
      method: 'OPTIONS',
      headers: {
        cookie,
        origin: 'http://evil.example',
        'access-control-request-method': 'POST',
      },
    })
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD, POST'])
  })
})
