/** Tests the web host: its lifecycle, access control, and the files that it serves. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startWebHost } from '../../../src-main/hosts/web/server'
import { createFakeCore, indexHtml, script, secret } from '../support'
import { type Answer, type Harness, json, startHarness } from './harness'
import { contentSecurityPolicy } from '../../../src-main/hosts/shared/response-headers'

describe('the server', () => {
  let at: Harness
  beforeEach(async () => {
    at = await startHarness({ closeGraceMs: 200 })
  })
  afterEach(() => at.stop())

  const reachable = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => (socket.destroy(), resolve(true)))
      socket.on('error', () => resolve(false))
    })

  describe('at startup', () => {
    it('uses the requested port', async () => {
      const { port } = at.host
      await at.host.close()
      const again = await startWebHost({ core: at.core, rendererDir: at.rendererDir, port })
      expect(again.port).toBe(port)
      await again.close()
    })

    it('fails with an error that names the port if the port is in use', async () => {
      const { port } = at.host
      await expect(
        startWebHost({ core: at.core, rendererDir: at.rendererDir, port }),
      ).rejects.toMatchObject({
        kind: 'input',
        message: `Port ${port} of 127.0.0.1 is in use by another program.`,
        remedy: expect.stringContaining('--port'),
      })
    })

    it('fails with build instructions if the UI is not built', async () => {
      const empty = mkdtempSync(join(tmpdir(), 'kl-empty-'))
      for (const rendererDir of [empty, join(empty, 'none')])
        await expect(startWebHost({ core: createFakeCore(), rendererDir })).rejects.toMatchObject({
          kind: 'missing',
          message: expect.stringContaining(rendererDir),
          remedy: expect.stringContaining('npm run build'),
        })
      rmSync(empty, { recursive: true })
    })
  })

  describe('with strangers on the same machine', () => {
    it('keeps connections available to a signed-in user', async () => {
      const { port } = at.host
      const sockets: Socket[] = []
      const ended = new Set<Socket>()
      for (let count = 0; count < 300; count += 1) {
        const socket = connect(port, '127.0.0.1')
        socket.on('error', () => undefined).on('close', () => ended.add(socket))
        sockets.push(socket)
        await new Promise((connected) => socket.once('connect', connected))
      }
      const cookie = await at.signIn()
      expect((await at.ask('/', { headers: { cookie } })).status).toBe(200)
      // The host must close the oldest connections first. The host must not close the owner's open
      // stream.
      const stream = await at.stream(cookie)
      const more = Array.from({ length: 200 }, () => connect(port, '127.0.0.1'))
      for (const socket of more) socket.on('error', () => undefined)
      await Promise.all(more.map((socket) => new Promise((done) => socket.once('connect', done))))
      expect((await at.ask('/', { headers: { cookie } })).status).toBe(200)
      expect(stream.response.destroyed).toBe(false)
      await expect.poll(() => ended.has(sockets[0]!)).toBe(true)
      for (const socket of [...sockets, ...more]) socket.destroy()
      stream.request.destroy()
    })
  })

  describe('with a client that stops sending', () => {
    it('disconnects the client if its headers are incomplete', async () => {
      const other = await startHarness({ headersTimeoutMs: 100, requestTimeoutMs: 60_000 })
      const text = await other.raw(
        `GET / HTTP/1.1\r\nHost: 127.0.0.1:${other.host.port}\r\nX-Slow: `,
      )
      expect(text).toMatch(/^HTTP\/1.1 408/)
      await other.stop()
    })

    it('disconnects the client if its body is incomplete, without calling the core', async () => {
      await at.stop()
      at = await startHarness({ requestTimeoutMs: 2000 })
      const text = await at.raw(
        `POST /rpc/app.info HTTP/1.1\r\nHost: 127.0.0.1:${at.host.port}\r\nCookie: ${await at.signIn()}\r\n` +
          `Origin: ${at.host.origin}\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{}`,
      )
      expect(text).toMatch(/^HTTP\/1.1 408/)
      expect(at.core.calls).toEqual([])
    })

    it('keeps running, even if the client sends something other than HTTP', async () => {
      await at.raw('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n')
      expect((await at.call('app.info')).status).toBe(200)
    })
  })

  describe('on an internal failure', () => {
    it('logs the details without sending them', async () => {
      const core = { ...createFakeCore(), call: async () => 1n as never }
      const lines: string[] = []
      const { dir, remove } = (await import('../support')).createRendererDir()
      const host = await startWebHost({ core, rendererDir: dir, log: (line) => lines.push(line) })
      const entered = await fetch(host.url, { redirect: 'manual' })
      const answer = await fetch(`${host.origin}/rpc/app.info`, {
        method: 'POST',
        headers: {
          cookie: entered.headers.getSetCookie()[0]!.split(';')[0]!,
          origin: host.origin,
          'content-type': 'application/json',
        },
        body: '{}',
      })
      expect(answer.status).toBe(500)
      const text = await answer.text()
      expect(JSON.parse(text)).toMatchObject({ ok: false })
      expect(text).not.toContain('BigInt')
      expect(lines.join()).toContain('BigInt')
      await host.close()
      remove()
    })

    it('logs the failure, unlike a rejected request', async () => {
      await at.ask('/')
      await at.ask('/%ZZ')
      expect(at.logged).toEqual([])
    })
  })

  describe('when closed', () => {
    it('ends event streams and idle connections immediately, and releases the port', async () => {
      await at.stop()
      // The grace period is longer than the test, so a connection that is not closed immediately
      // fails the test.
      at = await startHarness({ closeGraceMs: 600_000 })
      const cookie = await at.signIn()
      const streams = [await at.stream(cookie), await at.stream(cookie)]
      await at.host.close()
      await Promise.all(streams.map((stream) => stream.ended))
      expect(streams.map((stream) => stream.response.complete)).toEqual([true, true])
      expect(at.core.listeners.size).toBe(0)
      expect(await reachable(at.host.port)).toBe(false)
    })

    it('lets a call that ends soon return its response', async () => {
      const answer = at.call('sessions.list')
      while (at.core.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      const closed = at.host.close()
      at.core.release()
      expect(json(await answer)).toEqual({ ok: true, value: [] })
      await closed
    })

    it('does not wait for a call or a client that never ends', async () => {
      const answer = at.call('sessions.list').catch(() => 'cut off')
      while (at.core.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      await at.host.close()
      expect(await answer).toBe('cut off')
    })

    it('ignores a second close, and leaves the core open for its owner', async () => {
      expect(at.host.close()).toBe(at.host.close())
      await at.host.close()
      expect(at.core.closed).toBe(0)
    })
  })
})

describe('access', () => {
  describe('signing in', () => {
    let at: Harness
    beforeEach(async () => {
      at = await startHarness()
    })
    afterEach(() => at.stop())

    const pathOf = (url: string): string => url.slice(new URL(url).origin.length)

    describe('the one-time link', () => {
      it('is on 127.0.0.1 and contains a token of 32 random bytes', () => {
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

      it('works once, and then explains how to get another link', async () => {
        const path = pathOf(at.host.url)
        await at.ask(path)
        const again = await at.ask(path)
        expect(again.status).toBe(403)
        expect(again.headers['set-cookie']).toBeUndefined()
        expect(again.headers['content-type']).toBe('text/html; charset=utf-8')
        expect(again.body).toContain('already been used')
        expect(again.body).toContain('start it again with the same command')
      })

      it('works only once, even for the browser that used it', async () => {
        const path = pathOf(at.host.url)
        const cookie = (await at.ask(path)).headers['set-cookie']![0]!.split(';')[0]!
        expect((await at.ask(path, { headers: { cookie } })).status).toBe(403)
      })

      it.each(['', 'x', 'A'.repeat(43), '%00', 'a&token=b'])(
        'rejects the wrong token %j without invalidating the right token',
        async (wrong) => {
          const refused = await at.ask(`/?token=${wrong}`)
          expect(refused.status).toBe(403)
          expect(refused.headers['set-cookie']).toBeUndefined()
          expect((await at.ask(pathOf(at.host.url))).status).toBe(303)
        },
      )

      it('is invalid after the operator replaces it', async () => {
        const url = at.host.newUrl()
        expect(url).not.toBe(at.host.url)
        expect((await at.ask(pathOf(at.host.url))).status).toBe(403)
        expect((await at.ask(pathOf(url))).status).toBe(303)
      })

      it('admits a second browser without signing out the first browser', async () => {
        const cookies = [await at.signIn(), await at.signIn()]
        for (const cookie of cookies)
          expect((await at.ask('/', { headers: { cookie } })).status).toBe(200)
      })

      it.each([
        ['a HEAD of a link preview', { method: 'HEAD' }],
        ['a prefetch', { headers: { 'sec-purpose': 'prefetch;prerender' } }],
        ['an old prefetch', { headers: { purpose: 'prefetch' } }],
      ])('is not consumed by %s', async (_what, ask) => {
        const early = await at.ask(pathOf(at.host.url), ask)
        expect(early.status).toBe(503)
        expect(early.headers['set-cookie']).toBeUndefined()
        expect((await at.ask(pathOf(at.host.url))).status).toBe(303)
      })

      it('redirects a visitor from another site, so that the browser sends the Strict cookie', async () => {
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

      it('is not accepted in the path of another page', async () => {
        expect((await at.ask(`/sessions${pathOf(at.host.url).slice(1)}`)).status).toBe(403)
      })

      it('is not accepted in a POST request', async () => {
        const path = pathOf(at.host.url)
        const posted = await at.ask(path, { method: 'POST', headers: { origin: at.host.origin } })
        expect(posted.headers['set-cookie']).toBeUndefined()
        expect((await at.ask(path)).status).toBe(303)
      })
    })

    describe('without the cookie', () => {
      it.each([
        '/',
        '/index.html',
        '/assets/index-Ab3_x-9Z.js',
        '/logo.svg',
        '/nothing.js',
        '/a/b',
      ])('GET %s gets the locked page', async (path) => {
        const answer = await at.ask(path)
        expect(answer.status).toBe(403)
        expect(answer.body).toContain('start it again with the same command')
        expect(answer.body).not.toContain('id="app"')
      })

      it('a call gets a rejection Reply without reaching the core', async () => {
        const answer = await at.call('app.info', '{}', { cookie: undefined })
        expect(answer.status).toBe(401)
        expect(json(answer)).toEqual({
          ok: false,
          error: {
            kind: 'input',
            message: expect.any(String),
            remedy: expect.stringContaining('Start the server again'),
          },
        })
        expect(at.core.calls).toEqual([])
      })

      it('the event stream is rejected', async () => {
        expect((await at.ask('/events')).status).toBe(401)
        expect(at.core.listeners.size).toBe(0)
      })
    })

    describe('the cookie', () => {
      it('with a wrong value is rejected', async () => {
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

      it('of a server on a different port is rejected', async () => {
        const other = await startHarness()
        const cookie = await other.signIn()
        await other.stop()
        expect((await at.ask('/', { headers: { cookie } })).status).toBe(403)
        const renamed = cookie.replace(String(other.host.port), String(at.host.port))
        expect((await at.ask('/', { headers: { cookie: renamed } })).status).toBe(403)
      })

      it('is found among other cookies, even after an injected cookie with the same name', async () => {
        const cookie = await at.signIn()
        const [name] = cookie.split('=')
        const sent = `theme=dark; ${name}=planted; ${cookie}; x=1`
        expect((await at.ask('/', { headers: { cookie: sent } })).status).toBe(200)
      })
    })
  })

  describe('the request guard', () => {
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

    describe('the listening address', () => {
      it('is only the loopback address', async () => {
        const outside = Object.values(networkInterfaces())
          .flat()
          .find((found) => found?.family === 'IPv4' && !found.internal)?.address
        // 127.0.0.2 is also a loopback address, but the host does not bind it.
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
      it('may contain 127.0.0.1 or localhost with the port', async () => {
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
      it('with a foreign value is rejected for pages, files, events, and calls', async () => {
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

      it('with a wrong value gets the correct address without consuming the one-time link', async () => {
        const { pathname, search } = new URL(at.host.newUrl())
        const refused = await at.ask(pathname + search, { headers: { host: 'evil.example' } })
        expect(refused.status).toBe(403)
        expect(refused.headers['set-cookie']).toBeUndefined()
        expect(refused.body).toContain(`127.0.0.1:${at.host.port}`)
        expect(refused.body).not.toContain('evil')
        expect((await at.ask(pathname + search)).status).toBe(303)
      })

      it('must be present exactly once', async () => {
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

      it('is checked even in upgrade requests, which are never granted', async () => {
        const upgrade = 'Connection: Upgrade, close\r\nUpgrade: websocket\r\n'
        for (const host of ['evil.example', `127.0.0.1:${at.host.port}`]) {
          const text = await at.raw(`GET /events HTTP/1.1\r\nHost: ${host}\r\n${upgrade}\r\n`)
          expect(text).toMatch(/^HTTP\/1.1 40[13]/)
        }
      })
    })

    describe('a call', () => {
      it('from the app’s own page is answered under either host name', async () => {
        expect((await at.call('app.info')).status).toBe(200)
        const host = `localhost:${at.host.port}`
        expect((await at.call('app.info', '{}', { host, origin: `http://${host}` })).status).toBe(
          200,
        )
      })

      it('with a foreign or missing Origin gets a rejection Reply without reaching the core', async () => {
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
        'that the browser marks %s is rejected despite its Origin',
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

      it('is answered for the app’s page, a typed address, or a followed link', async () => {
        expect(await asked('same-origin', 'no-cors', 'image')).toBe(200)
        expect(await asked('none', 'navigate', 'document')).toBe(200)
        expect(await asked('cross-site', 'navigate', 'document')).toBe(200)
      })

      it('is rejected for a page from another site or port', async () => {
        for (const site of ['cross-site', 'same-site']) {
          expect(await asked(site, 'no-cors', 'image')).toBe(403)
          expect(await asked(site, 'cors', 'empty')).toBe(403)
          expect(await asked(site, 'navigate', 'iframe')).toBe(403)
        }
      })
    })

    describe('every response', () => {
      it('has the security headers, but none that allows access from other origins', async () => {
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
          expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual(
            [],
          )
        }
      })

      it('has a content security policy that allows only the app’s own files', () => {
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

      it('to a preflight request is an error', async () => {
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
  })

  describe('static files', () => {
    let at: Harness
    let cookie: string
    beforeAll(async () => {
      at = await startHarness()
      cookie = await at.signIn()
    })
    afterAll(() => at.stop())

    const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
      at.ask(path, { headers: { cookie, ...headers } })

    describe('the files of the UI', () => {
      it.each([
        ['/', 'text/html; charset=utf-8', 'no-store'],
        ['/index.html', 'text/html; charset=utf-8', 'no-store'],
        [
          '/assets/index-Ab3_x-9Z.js',
          'text/javascript; charset=utf-8',
          'public, max-age=31536000, immutable',
        ],
        [
          '/assets/index-Ab3_x-9Z.css',
          'text/css; charset=utf-8',
          'public, max-age=31536000, immutable',
        ],
        ['/assets/plain.js', 'text/javascript; charset=utf-8', 'no-store'],
        ['/tool-12345678.js', 'text/javascript; charset=utf-8', 'no-store'],
        ['/logo.svg', 'image/svg+xml; charset=utf-8', 'no-store'],
        ['/font.woff2', 'font/woff2', 'no-store'],
        ['/strange.xyz', 'application/octet-stream', 'no-store'],
      ])('%s is served as %s, cached %s', async (path, type, cache) => {
        const answer = await get(path)
        expect(answer.status).toBe(200)
        expect(answer.headers['content-type']).toBe(type)
        expect(answer.headers['cache-control']).toBe(cache)
      })

      it.each(['/sessions', '/sessions/recorded:h200-4096.v1', '/compare/a/b/', '/?tab=sass'])(
        '%s is a route in the UI and gets the UI’s page',
        async (path) => {
          const answer = await get(path)
          expect([answer.status, answer.body]).toEqual([200, indexHtml])
        },
      )

      it.each([
        '/nothing.js',
        '/assets/nothing',
        '/assets/gone-12345678.css',
        '/.git',
        '/favicon.ico',
      ])("%s gets a 404 response instead of the UI's page", async (path) => {
        const answer = await get(path)
        expect(answer.status).toBe(404)
        expect(answer.body).not.toContain('id="app"')
      })

      it('answer HEAD like GET, without the body', async () => {
        for (const path of ['/', '/assets/index-Ab3_x-9Z.js', '/nothing.js']) {
          const [head, full] = [
            await at.ask(path, { method: 'HEAD', headers: { cookie } }),
            await get(path),
          ]
          const { date: _a, ...headHeaders } = head.headers
          const { date: _b, ...fullHeaders } = full.headers
          expect([head.status, headHeaders]).toEqual([full.status, fullHeaders])
          expect(head.bytes.length).toBe(0)
          expect(Number(head.headers['content-length'])).toBe(full.bytes.length)
        }
      })

      it.each(['PUT', 'DELETE', 'PATCH', 'TRACE', 'OPTIONS'])('reject %s', async (method) => {
        expect((await at.ask('/', { method, headers: { cookie } })).status).toBe(405)
      })

      it('reject POST and list the allowed methods', async () => {
        const answer = await at.ask('/logo.svg', {
          method: 'POST',
          headers: { cookie, origin: at.host.origin },
        })
        expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD'])
      })
    })

    describe('compression', () => {
      const path = '/assets/index-Ab3_x-9Z.js'

      it('is used for text over 1 kB if the browser accepts compression', async () => {
        const answer = await get(path, { 'accept-encoding': 'br, gzip;q=0.8' })
        expect(answer.headers['content-encoding']).toBe('gzip')
        expect(answer.headers.vary).toBe('Accept-Encoding')
        expect(answer.bytes.length).toBeLessThan(script.length / 2)
        expect(String(gunzipSync(answer.bytes))).toBe(script)
      })

      it.each([undefined, 'br', 'gzip;q=0', 'gzip; q=0.0', 'xgzip'])(
        'is not used for a browser that sends Accept-Encoding: %s',
        async (accepted) => {
          const answer = await get(
            path,
            accepted === undefined ? {} : { 'accept-encoding': accepted },
          )
          expect(answer.headers['content-encoding']).toBeUndefined()
          expect(answer.headers.vary).toBe('Accept-Encoding')
          expect(answer.body).toBe(script)
        },
      )

      it('is not used for small files and files that are already compressed', async () => {
        for (const small of ['/', '/logo.svg', '/font.woff2'])
          expect(
            (await get(small, { 'accept-encoding': 'gzip' })).headers['content-encoding'],
          ).toBe(undefined)
      })

      it('is repeated after a file has changed', async () => {
        const file = join(at.rendererDir, 'changing.txt')
        for (const content of ['a'.repeat(2000), 'b'.repeat(3000)]) {
          writeFileSync(file, content)
          const answer = await get('/changing.txt', { 'accept-encoding': 'gzip' })
          expect(String(gunzipSync(answer.bytes))).toBe(content)
        }
      })
    })

    describe('the folder boundary', () => {
      /** Sends a request on a bare socket, because clients normalize a path before sending it. */
      const rawGet = async (path: string): Promise<{ status: number; text: string }> => {
        const text = await at.raw(
          `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${at.host.port}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`,
        )
        return { status: Number(text.slice(9, 12)), text }
      }

      it.each([
        '/../secret.txt',
        '/assets/../../secret.txt',
        '/./../secret.txt',
        '/..',
        '/.',
        '/assets/..',
        '/%2e%2e/secret.txt',
        '/.%2E/secret.txt',
        '/..%2fsecret.txt',
        '/..%2Fsecret.txt',
        '/assets%2findex-Ab3_x-9Z.js',
        '/assets%2Findex-Ab3_x-9Z.js',
        '/..%5csecret.txt',
        '/..\\secret.txt',
        '/assets\\..\\..\\secret.txt',
        '/../renderer-other/secret.txt',
        '//secret.txt',
        '//etc/passwd',
        '/assets//plain.js',
        '/logo.svg%00.js',
        '/%00',
        '/%0d%0aSet-Cookie:x=1',
        '/%ZZ',
        '/%',
        '/%c0%ae%c0%ae/secret.txt',
        '/%ff',
        'http://127.0.0.1/secret.txt',
        '*',
        'secret.txt',
        '../secret.txt',
        '/\0',
        '/logo.svg\0.js',
      ])('%j is rejected', async (path) => {
        const { status, text } = await rawGet(path)
        expect(status).toBe(400)
        expect(text).not.toContain(secret)
        expect(text).not.toMatch(/^Set-Cookie/im)
      })

      it.each([
        '/link.txt',
        '/linked/secret.txt',
        '/.env.txt',
        '/index.html/x.js',
        '/%252e%252e%252fsecret.txt',
        '/logo.svg::$DATA.js',
      ])('%j is not found', async (path) => {
        const { status, text } = await rawGet(path)
        expect(status).toBe(404)
        expect(text).not.toContain(secret)
      })

      it('an invalid address gets the same response without signing in', async () => {
        expect((await at.ask('/%ZZ')).status).toBe(400)
      })

      it('a link to a file inside the folder is served', async () => {
        expect((await get('/alias.svg')).headers['content-type']).toContain('image/svg+xml')
      })

      it('a very long address is rejected without stopping the server', async () => {
        expect((await rawGet(`/${'a'.repeat(17_000)}`)).status).toBe(431)
        expect((await get('/')).status).toBe(200)
      })
    })
  })
})
