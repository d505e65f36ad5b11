/** Tests calls, events, and uploads over HTTP. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { appInfo, logMessage } from '../support'
import { type Ask, type Harness, json, startHarness } from './harness'
import { inputError } from '../../../src-main/domain/errors'
import { saying } from '../../support'

describe('the core API', () => {
  let at: Harness
  beforeAll(async () => {
    at = await startHarness({ maxBodyBytes: 2000 })
  })
  afterAll(() => at.stop())
  beforeEach(() => {
    at.core.calls.length = 0
  })

  describe('a call', () => {
    it('gets an uncached response with the value from the core', async () => {
      const answer = await at.call('app.info')
      expect(answer.status).toBe(200)
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(answer.headers['cache-control']).toBe('no-store')
      expect(json(answer)).toEqual({ ok: true, value: appInfo })
    })

    it('reaches the core as parsed by the contract, with defaults filled in', async () => {
      await at.call('run.start', JSON.stringify({ ladder: 'gemm-fp32', target: 'local', extra: 1 }))
      expect(at.core.calls).toEqual([
        {
          name: 'run.start',
          input: { ladder: 'gemm-fp32', target: 'local', params: {}, profile: 'card' },
        },
      ])
    })

    it('that fails is answered with status 200 and the typed error', async () => {
      const answer = await at.call('doctor.check')
      expect(answer.status).toBe(200)
      expect(json(answer)).toEqual({
        ok: false,
        error: { kind: 'missing', message: 'There is no GPU.', remedy: 'Plug one in.' },
      })
    })

    it.each(['no.such.call', 'toString', '__proto__', 'app.info/x', ''])(
      'with the unknown name %j returns a typed error',
      async (name) => {
        const answer = await at.call(name)
        expect(answer.status).toBe(200)
        expect(json(answer)).toMatchObject({ ok: false, error: { kind: 'input' } })
        expect(at.core.calls).toEqual([])
      },
    )

    it('with input that violates the contract returns a typed error', async () => {
      for (const body of ['{"ref":"../../etc"}', '{}', 'null', '[]', '1']) {
        const answer = await at.call('sessions.get', body)
        expect(answer.status).toBe(200)
        expect(json(answer)).toMatchObject({ ok: false, error: { kind: 'input' } })
      }
      expect(at.core.calls).toEqual([])
    })
  })

  describe('messages to the call endpoint', () => {
    const refused = async (
      status: number,
      body: string | Buffer,
      headers: Record<string, string | undefined> = {},
    ): Promise<void> => {
      const answer = await at.call('app.info', body, headers)
      expect(answer.status).toBe(status)
      expect(json(answer)).toMatchObject({ ok: false, error: { kind: 'input' } })
      expect(at.core.calls).toEqual([])
    }

    it.each([
      undefined,
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain; application/json',
      'application/jsonp',
      'application/json; charset=utf-16',
    ])('are rejected if their type is %s', (type) => refused(415, '{}', { 'content-type': type }))

    it('may have the charset UTF-8', async () => {
      const type = { 'content-type': 'application/json; charset=UTF-8' }
      expect((await at.call('app.info', '{}', type)).status).toBe(200)
    })

    it('are rejected if compressed', () => refused(415, '{}', { 'content-encoding': 'gzip' }))

    it.each(['', '{', '{} {}', "{'a':1}", Buffer.from([0x22, 0xff, 0x22])])(
      'are rejected if their body is %j',
      (body) => refused(400, body),
    )

    it('are rejected before the body is sent if the declared size exceeds the limit', async () => {
      const text = await at.raw(
        `POST /rpc/app.info HTTP/1.1\r\nHost: 127.0.0.1:${at.host.port}\r\nCookie: ${await at.signIn()}\r\n` +
          `Origin: ${at.host.origin}\r\nContent-Type: application/json\r\nContent-Length: 2001\r\n\r\n`,
      )
      expect(text).toMatch(/^HTTP\/1.1 413/)
      expect(text).toMatch(/\r\nConnection: close\r\n/)
    })

    it('are rejected when they exceed the limit without a declared size', () =>
      refused(413, JSON.stringify('x'.repeat(1999)), { 'transfer-encoding': 'chunked' }))

    it('may have exactly the maximum size', async () => {
      const padded = `{}${' '.repeat(1998)}`
      expect((await at.call('app.info', padded)).status).toBe(200)
    })

    it('are limited to 1 MiB by default', async () => {
      const other = await startHarness()
      const mebibyte = `{}${' '.repeat(1024 * 1024 - 2)}`
      expect((await other.call('app.info', mebibyte)).status).toBe(200)
      expect((await other.call('app.info', `${mebibyte} `)).status).toBe(413)
      await other.stop()
    })

    it.each(['GET', 'HEAD'])(
      'sent with %s are rejected with the name of the allowed method',
      async (method) => {
        const headers = { cookie: await at.signIn() }
        const answer = await at.ask('/rpc/app.info', { method, headers })
        expect([answer.status, answer.headers.allow]).toEqual([405, 'POST'])
        expect(at.core.calls).toEqual([])
      },
    )
  })
})

describe('events', () => {
  let at: Harness
  let cookie: string
  beforeEach(async () => {
    at = await startHarness({ heartbeatMs: 20, maxBacklogBytes: 100_000 })
    cookie = await at.signIn()
  })
  afterEach(() => at.stop())

  const settled = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  describe('the stream', () => {
    it('reports immediately that it is open, before any event', async () => {
      const stream = await at.stream(cookie)
      await stream.until(': open\n\n')
      expect(stream.response.headers['content-type']).toBe('text/event-stream; charset=utf-8')
      expect(stream.response.headers['cache-control']).toBe('no-store')
      expect(stream.response.headers['content-encoding']).toBeUndefined()
    })

    it('sends each core message as one data line, in order, to every page', async () => {
      const streams = [await at.stream(cookie), await at.stream(cookie)]
      const messages = [logMessage(0), logMessage(1, 'two\nlines\r\n\r\nand "quotes"')]
      messages.forEach(at.core.emit)
      for (const stream of streams) {
        await stream.until('quotes')
        await stream.until('\n\n')
        const data = stream.text().match(/^data: .*$/gm) ?? []
        expect(data.map((line) => JSON.parse(line.slice(6)))).toEqual(messages)
      }
    })

    it('sends keep-alive data during silence', async () => {
      const stream = await at.stream(cookie)
      await stream.until(': alive\n\n: alive\n\n')
    })

    it('ends its subscription when the page closes', async () => {
      const stream = await at.stream(cookie)
      expect(at.core.listeners.size).toBe(1)
      stream.request.destroy()
      await settled(() => at.core.listeners.size === 0)
    })

    it('disconnects only a page that does not read its events', async () => {
      const [stalled, reading] = [await at.stream(cookie), await at.stream(cookie)]
      stalled.response.pause()
      for (let seq = 0; at.core.listeners.size === 2 && seq < 2000; seq += 1) {
        at.core.emit(logMessage(seq, `${'x'.repeat(50_000)} end of ${seq}`))
        await reading.until(`end of ${seq}`)
      }
      expect(at.core.listeners.size).toBe(1)
      at.core.emit(logMessage(9999))
      await reading.until('"seq":9999')
    })

    it('answers HEAD without opening the stream', async () => {
      const answer = await at.ask('/events', { method: 'HEAD', headers: { cookie } })
      expect([answer.status, at.core.listeners.size]).toEqual([200, 0])
    })

    it('cannot be used for calls', async () => {
      const headers = { cookie, origin: at.host.origin }
      expect((await at.ask('/events', { method: 'POST', headers })).status).toBe(405)
    })
  })
})

describe('file transfer', () => {
  let at: Harness
  let cookie: string
  /** The uploaded file as the core read it. The host deletes the file after the call. */
  let seen: { path: string; text: string; mode: number; folderMode: number; modified: number }[]
  beforeAll(async () => {
    at = await startHarness({ maxUploadBytes: 1000, uploadIdleMs: 200 })
    cookie = await at.signIn()
    at.core.importFile = async (path) => {
      const { mode, mtimeMs } = statSync(path)
      seen.push({
        path,
        text: readFileSync(path, 'utf8'),
        mode: mode & 0o777,
        folderMode: statSync(dirname(path)).mode & 0o777,
        modified: mtimeMs,
      })
      if (path.endsWith('.bad')) throw inputError('it.bad is no report.', 'Choose another.')
      return { ref: 'imported-it' }
    }
  })
  beforeEach(() => {
    seen = []
  })
  afterAll(() => at.stop())

  const left = () =>
    readdirSync(tmpdir()).filter((name) => name.startsWith('kernel-ladder-upload-'))
  const send = (query: string, { headers = {}, ...rest }: Ask = {}) =>
    at.ask(`/import?${query}`, {
      method: 'POST',
      body: 'a,b\n1,2\n',
      headers: {
        cookie,
        origin: at.host.origin,
        'content-type': 'application/octet-stream',
        ...headers,
      },
      ...rest,
    })

  describe('an upload', () => {
    it('reaches the core as a file with its own name and time, readable only by its owner', async () => {
      const answer = await send('name=mine.csv&modified=1700000000000')
      expect(json(answer)).toEqual({ ok: true, value: { ref: 'imported-it' } })
      expect(seen).toMatchObject([
        { text: 'a,b\n1,2\n', mode: 0o600, folderMode: 0o700, modified: 1_700_000_000_000 },
      ])
      expect(basename(seen[0]!.path)).toBe('mine.csv')
      expect(existsSync(seen[0]!.path)).toBe(false)
      expect(left()).toEqual([])
    })

    it("that the core rejects returns the core's message and leaves no file", async () => {
      const answer = await send('name=it.bad')
      expect(answer.status).toBe(200)
      expect(json(answer)).toEqual({
        ok: false,
        error: { kind: 'input', message: 'it.bad is no report.', remedy: 'Choose another.' },
      })
      expect(left()).toEqual([])
    })

    it.each([
      ['../../etc/cron.d/x', '-..-etc-cron.d-x'],
      ['C:\\Users\\me\\r.csv', 'C--Users-me-r.csv'],
      ['.profile', 'profile'],
      ['a\nb.csv', 'a-b.csv'],
    ])('named %j stays inside the upload folder', async (name, kept) => {
      await send(`name=${encodeURIComponent(name)}`)
      expect(basename(seen[0]!.path)).toBe(kept)
      expect(dirname(dirname(seen[0]!.path))).toBe(tmpdir())
    })

    it("keeps its extension even if its name exceeds the file system's limit", async () => {
      await send(`name=${encodeURIComponent('커'.repeat(300))}.ncu-rep`)
      expect(basename(seen[0]!.path)).toMatch(/…커*\.ncu-rep$/)
    })

    it.each(['', 'name=', 'name=..', 'name=%20'])(
      'without a name (%j) is rejected',
      async (query) => {
        expect((await send(query)).status).toBe(400)
        expect(seen).toEqual([])
      },
    )
  })

  describe('a file that is too large', () => {
    const body = 'x'.repeat(1001)
    it('is rejected before it is read if its length is declared', async () => {
      const answer = await send('name=big.csv', { body })
      expect(answer.status).toBe(413)
      expect(json(answer)).toMatchObject({
        error: { remedy: saying('import FILE') },
      })
      expect(left()).toEqual([])
    })

    it('is rejected if its length is not declared', async () => {
      const text = await at.raw(
        `POST /import?name=big.csv HTTP/1.1\r\nHost: 127.0.0.1:${at.host.port}\r\nCookie: ${cookie}\r\n` +
          `Origin: ${at.host.origin}\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n` +
          `3e9\r\n${body}\r\n0\r\n\r\n`,
      )
      expect(text).toMatch(/^HTTP\/1.1 413/)
      expect(seen).toEqual([])
      expect(left()).toEqual([])
    })
  })

  it('an upload that stalls is canceled without calling the core', async () => {
    await at.raw(
      `POST /import?name=slow.csv HTTP/1.1\r\nHost: 127.0.0.1:${at.host.port}\r\nCookie: ${cookie}\r\n` +
        `Origin: ${at.host.origin}\r\nContent-Type: application/octet-stream\r\nContent-Length: 10\r\n\r\nabc`,
    )
    expect(seen).toEqual([])
    await expect.poll(left).toEqual([])
  })

  describe('invalid requests', () => {
    it.each<[string, Ask, number]>([
      ['a request without the cookie', { headers: { cookie: undefined } }, 401],
      ['another page', { headers: { origin: 'http://evil.example' } }, 403],
      ['a form of another page', { headers: { 'content-type': 'multipart/form-data' } }, 415],
      ['a request with text', { headers: { 'content-type': 'text/plain' } }, 415],
      ['a GET', { method: 'GET', body: undefined }, 405],
    ])('%s is rejected', async (_who, ask, status) => {
      const answer = await send('name=x.csv', ask)
      expect(answer.status).toBe(status)
      expect(json(answer)).toMatchObject({ ok: false })
      expect(seen).toEqual([])
    })
  })
})
