import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startWebHost } from '../../../src-main/hosts/web/server'
import { createFakeCore } from '../support/fake-core'
import { type Harness, json, startHarness } from './harness'

let at: Harness
beforeEach(async () => {
  at = await startHarness({ headersTimeoutMs: 200, requestTimeoutMs: 300, closeGraceMs: 200 })
})
afterEach(() => at.stop())

const secondsOf = async (work: Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await work
  return (performance.now() - start) / 1000
}

const reachable = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => (socket.destroy(), resolve(true)))
    socket.on('error', () => resolve(false))
  })

describe('starting', () => {
  it('takes the port that is asked for', async () => {
    const { port } = at.host
    await at.host.close()
    const again = await startWebHost({ core: at.core, rendererDir: at.rendererDir, port })
    expect(again.port).toBe(port)
    await again.close()
  })

  it('on a port that is taken fails with the port and the way out', async () => {
    const { port } = at.host
    await expect(
      startWebHost({ core: at.core, rendererDir: at.rendererDir, port }),
    ).rejects.toMatchObject({
      kind: 'input',
      message: `Port ${port} of 127.0.0.1 is in use by another program.`,
      remedy: expect.stringContaining('--port'),
    })
  })

  it('without a built UI fails and says how to build it', async () => {
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

describe('strangers on the same machine', () => {
  it('cannot take the room of whoever is signed in, however many connections they hold', async () => {
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
    // The oldest went first; an open stream of the owner is not one of them.
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

describe('a client that does not finish', () => {
  it('its headers is cut off', async () => {
    const other = await startHarness({ headersTimeoutMs: 100, requestTimeoutMs: 60_000 })
    const text = await other.raw(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${other.host.port}\r\nX-Slow: `)
    expect(text).toMatch(/^HTTP\/1.1 408/)
    await other.stop()
  })

  it('its body is cut off, and the core is not called', async () => {
    const text = await at.raw(
      `POST /rpc/app.info HTTP/1.1\r\nHost: 127.0.0.1:${at.host.port}\r\nCookie: ${await at.signIn()}\r\n` +
        `Origin: ${at.host.origin}\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{}`,
    )
    expect(text).toMatch(/^HTTP\/1.1 408/)
    expect(at.core.calls).toEqual([])
  })

  it('and one that sends no HTTP at all, leave the server working', async () => {
    await at.raw('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n')
    expect((await at.call('app.info')).status).toBe(200)
  })
})

describe('a failure inside', () => {
  it('is logged, and told without what it was', async () => {
    const core = { ...createFakeCore(), call: async () => 1n as never }
    const lines: string[] = []
    const { dir, remove } = (await import('../support/renderer-dir')).createRendererDir()
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

  it('is not what refusals are: those are not logged', async () => {
    await at.ask('/')
    await at.ask('/%ZZ')
    expect(at.logged).toEqual([])
  })
})

describe('closing', () => {
  it('ends event streams and idle connections at once, and frees the port', async () => {
    const cookie = await at.signIn()
    const streams = [await at.stream(cookie), await at.stream(cookie)]
    expect(await secondsOf(at.host.close())).toBeLessThan(0.15)
    await Promise.all(streams.map((stream) => stream.ended))
    expect(streams.map((stream) => stream.response.complete)).toEqual([true, true])
    expect(at.core.listeners.size).toBe(0)
    expect(await reachable(at.host.port)).toBe(false)
  })

  it('lets a call that ends soon give its answer', async () => {
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
    expect(await secondsOf(at.host.close())).toBeLessThan(1)
    expect(await answer).toBe('cut off')
  })

  it('twice is the same as once, and the core stays open for its owner', async () => {
    expect(at.host.close()).toBe(at.host.close())
    await at.host.close()
    expect(at.core.closed).toBe(0)
  })
})
