import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { appInfo } from '../support/fake-core'
import { type Harness, json, startHarness } from './harness'

let at: Harness
beforeAll(async () => {
  at = await startHarness({ maxBodyBytes: 2000 })
})
afterAll(() => at.stop())
beforeEach(() => {
  at.core.calls.length = 0
})

describe('a call', () => {
  it('is answered with the value of the core, never cached', async () => {
    const answer = await at.call('app.info')
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(json(answer)).toEqual({ ok: true, value: appInfo })
  })

  it('reaches the core as the contract reads it, defaults filled in', async () => {
    await at.call('run.start', JSON.stringify({ ladder: 'gemm-fp32', target: 'local', extra: 1 }))
    expect(at.core.calls).toEqual([
      {
        name: 'run.start',
        input: { ladder: 'gemm-fp32', target: 'local', params: {}, profile: 'card' },
      },
    ])
  })

  it('that fails is answered 200 with the typed error', async () => {
    const answer = await at.call('doctor.check')
    expect(answer.status).toBe(200)
    expect(json(answer)).toEqual({
      ok: false,
      error: { kind: 'missing', message: 'There is no GPU.', remedy: 'Plug one in.' },
    })
  })

  it.each(['no.such.call', 'toString', '__proto__', 'app.info/x', ''])(
    'of the unknown name %j is a typed error',
    async (name) => {
      const answer = await at.call(name)
      expect(answer.status).toBe(200)
      expect(json(answer)).toMatchObject({ ok: false, error: { kind: 'input' } })
      expect(at.core.calls).toEqual([])
    },
  )

  it('whose input breaks the contract is a typed error', async () => {
    for (const body of ['{"ref":"../../etc"}', '{}', 'null', '[]', '1']) {
      const answer = await at.call('sessions.get', body)
      expect(answer.status).toBe(200)
      expect(json(answer)).toMatchObject({ ok: false, error: { kind: 'input' } })
    }
    expect(at.core.calls).toEqual([])
  })
})

describe('what is no call', () => {
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
  ])('a message of the type %s is refused', (type) => refused(415, '{}', { 'content-type': type }))

  it('a message that states its charset as UTF-8 is taken', async () => {
    const type = { 'content-type': 'application/json; charset=UTF-8' }
    expect((await at.call('app.info', '{}', type)).status).toBe(200)
  })

  it('a compressed message is refused', () => refused(415, '{}', { 'content-encoding': 'gzip' }))

  it.each(['', '{', '{} {}', "{'a':1}", Buffer.from([0x22, 0xff, 0x22])])(
    'the body %j is refused',
    (body) => refused(400, body),
  )

  it('a body that says it is too large is refused before it is sent', async () => {
    const text = await at.raw(
      `POST /rpc/app.info HTTP/1.1\r\nHost: 127.0.0.1:${at.host.port}\r\nCookie: ${await at.signIn()}\r\n` +
        `Origin: ${at.host.origin}\r\nContent-Type: application/json\r\nContent-Length: 2001\r\n\r\n`,
    )
    expect(text).toMatch(/^HTTP\/1.1 413/)
    expect(text).toMatch(/\r\nConnection: close\r\n/)
  })

  it('a body that does not say so is refused once it is', () =>
    refused(413, JSON.stringify('x'.repeat(1999)), { 'transfer-encoding': 'chunked' }))

  it('a body of exactly the limit is read', async () => {
    const padded = `{}${' '.repeat(1998)}`
    expect((await at.call('app.info', padded)).status).toBe(200)
  })

  it('the limit is 1 MiB unless told otherwise', async () => {
    const other = await startHarness()
    const mebibyte = `{}${' '.repeat(1024 * 1024 - 2)}`
    expect((await other.call('app.info', mebibyte)).status).toBe(200)
    expect((await other.call('app.info', `${mebibyte} `)).status).toBe(413)
    await other.stop()
  })

  it.each(['GET', 'HEAD'])('%s is refused and told the method', async (method) => {
    const headers = { cookie: await at.signIn() }
    const answer = await at.ask('/rpc/app.info', { method, headers })
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST'])
    expect(at.core.calls).toEqual([])
  })
})
