import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { indexHtml, script, secret } from '../support/renderer-dir'
import { type Answer, type Harness, startHarness } from './harness'

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
    '%s is a place in the UI and gets its page',
    async (path) => {
      const answer = await get(path)
      expect([answer.status, answer.body]).toEqual([200, indexHtml])
    },
  )

  it.each(['/nothing.js', '/assets/nothing', '/assets/gone-12345678.css', '/.git', '/favicon.ico'])(
    '%s does not exist and is not the page in disguise',
    async (path) => {
      const answer = await get(path)
      expect(answer.status).toBe(404)
      expect(answer.body).not.toContain('id="app"')
    },
  )

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

  it.each(['PUT', 'DELETE', 'PATCH', 'TRACE', 'OPTIONS'])('refuse %s', async (method) => {
    expect((await at.ask('/', { method, headers: { cookie } })).status).toBe(405)
  })

  it('refuse POST and say what is served', async () => {
    const answer = await at.ask('/logo.svg', {
      method: 'POST',
      headers: { cookie, origin: at.host.origin },
    })
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD'])
  })
})

describe('compression', () => {
  const path = '/assets/index-Ab3_x-9Z.js'

  it('is used for text over 1 kB when the browser takes it', async () => {
    const answer = await get(path, { 'accept-encoding': 'br, gzip;q=0.8' })
    expect(answer.headers['content-encoding']).toBe('gzip')
    expect(answer.headers.vary).toBe('Accept-Encoding')
    expect(answer.bytes.length).toBeLessThan(script.length / 2)
    expect(String(gunzipSync(answer.bytes))).toBe(script)
  })

  it.each([undefined, 'br', 'gzip;q=0', 'gzip; q=0.0', 'xgzip'])(
    'is left out for a browser that sends Accept-Encoding: %s',
    async (accepted) => {
      const answer = await get(path, accepted === undefined ? {} : { 'accept-encoding': accepted })
      expect(answer.headers['content-encoding']).toBeUndefined()
      expect(answer.headers.vary).toBe('Accept-Encoding')
      expect(answer.body).toBe(script)
    },
  )

  it('is left out for small files and for what is compressed already', async () => {
    for (const small of ['/', '/logo.svg', '/font.woff2'])
      expect((await get(small, { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBe(
        undefined,
      )
  })

  it('is done anew when the file has changed', async () => {
    const file = join(at.rendererDir, 'changing.txt')
    for (const content of ['a'.repeat(2000), 'b'.repeat(3000)]) {
      writeFileSync(file, content)
      const answer = await get('/changing.txt', { 'accept-encoding': 'gzip' })
      expect(String(gunzipSync(answer.bytes))).toBe(content)
    }
  })
})

describe('nothing outside the folder is served', () => {
  /** On a bare socket: clients tidy a path before they send it. */
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
  ])('%j is refused', async (path) => {
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

  it('not even to one who has not signed in does a bad address say anything else', async () => {
    expect((await at.ask('/%ZZ')).status).toBe(400)
  })

  it('but a link that stays inside is', async () => {
    expect((await get('/alias.svg')).headers['content-type']).toContain('image/svg+xml')
  })

  it('and a very long address is refused without harm', async () => {
    expect((await rawGet(`/${'a'.repeat(17_000)}`)).status).toBe(431)
    expect((await get('/')).status).toBe(200)
  })
})
