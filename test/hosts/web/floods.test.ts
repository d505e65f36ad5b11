/**
 * Tests the web host with many clients, slow clients, and stolen links. The tests open as many real
 * sockets as a flood would.
 */
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { logMessage } from '../support'
import { type EventStream, type Harness, startHarness } from './harness'

let at: Harness
let sockets: Socket[]
beforeEach(async () => {
  sockets = []
  at = await startHarness({ closeGraceMs: 100 })
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await at.stop()
})

/** Opens a socket that ignores disconnection errors. `received` returns the received text. */
function open(text = ''): { socket: Socket; received: () => string; closed: Promise<void> } {
  let received = ''
  const socket = connect(at.host.port, '127.0.0.1', () => socket.write(text, 'latin1'))
  sockets.push(socket)
  socket.on('error', () => undefined).on('data', (chunk) => (received += chunk.toString('latin1')))
  return {
    socket,
    received: () => received,
    closed: new Promise((done) => socket.once('close', () => done())),
  }
}

const head = (path: string, ...lines: string[]): string =>
  [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${at.host.port}`, ...lines, '', ''].join('\r\n')

/** Returns the HTTP head of a call. */
const callHead = (cookie: string, length: string): string =>
  head(
    '/rpc/app.info',
    `Cookie: ${cookie}`,
    `Origin: ${at.host.origin}`,
    'Content-Type: application/json',
    length,
  ).replace('GET', 'POST')

const ownerIsServed = async (cookie: string): Promise<void> => {
  expect((await at.ask('/', { headers: { cookie } })).status).toBe(200)
  expect((await at.call('app.info')).status).toBe(200)
}

describe('a flood', () => {
  it('of 1,000 connections does not affect the owner, and few of the connections remain open', async () => {
    const cookie = await at.signIn()
    const all = Array.from({ length: 1000 }, () => open())
    await Promise.all(all.map(({ socket }) => new Promise((done) => socket.once('connect', done))))
    await ownerIsServed(cookie)
    await expect.poll(() => all.filter(({ socket }) => !socket.closed).length).toBeLessThan(140)
  })

  it('of 10,000 unauthenticated requests is rejected, one by one', async () => {
    const cookie = await at.signIn()
    const flood = Array.from({ length: 20 }, () => open(head('/', 'X-A: b').repeat(500)))
    const answers = (): number =>
      flood.reduce((sum, { received }) => sum + received().split('HTTP/1.1 403').length - 1, 0)
    await ownerIsServed(cookie)
    await expect.poll(answers).toBe(10_000)
    expect(at.core.calls).toHaveLength(1)
    expect(at.logged).toEqual([])
  })

  it('of 10,000 guesses at a link does not use up the link', async () => {
    const flood = Array.from({ length: 20 }, (_, from) =>
      open(
        Array.from({ length: 500 }, (_none, n) =>
          head(`/?token=${String(from * 500 + n).padStart(43, 'A')}`),
        ).join(''),
      ),
    )
    const answers = (): number =>
      flood.reduce((sum, { received }) => sum + received().split('HTTP/1.1 403').length - 1, 0)
    await expect.poll(answers).toBe(10_000)
    expect(flood.map(({ received }) => received()).join()).not.toMatch(/set-cookie/i)
    await ownerIsServed(await at.signIn())
  })

  it('of 300 event streams receives every event, and leaves no open connections', async () => {
    const cookie = await at.signIn()
    const streams: EventStream[] = await Promise.all(
      Array.from({ length: 300 }, () => at.stream(cookie)),
    )
    expect(at.core.listeners.size).toBe(300)
    at.core.emit(logMessage(1, 'to each of them'))
    await Promise.all(streams.map((stream) => stream.until('to each of them')))
    await ownerIsServed(cookie)
    for (const { request } of streams) request.destroy()
    await expect.poll(() => at.core.listeners.size).toBe(0)
  })

  it('of endless bodies is rejected without storing the bytes', async () => {
    const cookie = await at.signIn()
    const post = callHead(cookie, 'Transfer-Encoding: chunked')
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    const before = process.memoryUsage.rss()
    const endless = Array.from({ length: 20 }, () => {
      const one = open(post)
      const more = (): void => {
        while (!one.socket.destroyed && one.socket.write(chunk));
      }
      one.socket.on('drain', more).once('connect', more)
      return one
    })
    const isAnswered = ({ received }: (typeof endless)[number]): boolean =>
      /^HTTP\/1.1 413/.test(received())
    // A connection reset can overtake the response if the client is still sending.
    await expect
      .poll(() => endless.filter((one) => isAnswered(one) || one.socket.closed).length)
      .toBe(20)
    expect(endless.filter(isAnswered).length).toBeGreaterThan(10)
    // Each client may have sent one megabyte, which is the limit per call, plus socket buffers.
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 2 ** 20)
    expect(at.core.calls).toEqual([])
    await ownerIsServed(cookie)
  })
})

describe('slow clients', () => {
  // Set the short time limit only for the tests of slow clients. On a busy machine, a flood of
  // requests may exceed the limit.
  beforeEach(async () => {
    await at.stop()
    at = await startHarness({ headersTimeoutMs: 300, requestTimeoutMs: 300, closeGraceMs: 100 })
  })

  it('that send their headers byte by byte are disconnected, and affect no other client', async () => {
    const cookie = await at.signIn()
    const slow = Array.from({ length: 100 }, () => open(head('/').slice(0, -4)))
    const drip = setInterval(() => {
      for (const { socket } of slow) if (!socket.closed) socket.write('x')
    }, 50)
    await ownerIsServed(cookie)
    await Promise.all(slow.map(({ closed }) => closed))
    clearInterval(drip)
    await ownerIsServed(cookie)
  })

  it('that send a body byte by byte are disconnected before the core is called', async () => {
    const cookie = await at.signIn()
    const post = callHead(cookie, 'Content-Length: 100000')
    const slow = Array.from({ length: 50 }, () => open(post))
    const drip = setInterval(() => {
      for (const { socket } of slow) if (!socket.closed) socket.write(' ')
    }, 50)
    await Promise.all(slow.map(({ closed }) => closed))
    clearInterval(drip)
    for (const { received } of slow) expect(received()).toMatch(/^HTTP\/1.1 408/)
    expect(at.core.calls).toEqual([])
    await ownerIsServed(cookie)
  })
})

describe('a stolen link', () => {
  const token = (): string => new URL(at.host.url).searchParams.get('token')!

  it('that was used gives no access, whether as an address, a cookie, a header, or a referrer', async () => {
    const link = token()
    const entered = await at.ask(`/?token=${link}`)
    const cookie = entered.headers['set-cookie']![0]!.split(';')[0]!
    const [name] = cookie.split('=')
    for (const headers of [
      {},
      { cookie: `${name}=${link}` },
      { authorization: `Bearer ${link}` },
      { referer: `${at.host.origin}/?token=${link}` },
    ]) {
      expect((await at.ask('/', { headers })).status).toBe(403)
      expect((await at.ask(`/?token=${link}`, { headers })).headers['set-cookie']).toBeUndefined()
    }
    await ownerIsServed(cookie)
  })

  it('is not leaked to another site by the page that it opens', async () => {
    for (const headers of [
      {},
      {
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      },
    ]) {
      const { pathname, search } = new URL(at.host.newUrl())
      const answer = await at.ask(pathname + search, { headers })
      expect(answer.headers['referrer-policy']).toBe('no-referrer')
      expect(answer.headers['cache-control']).toBe('no-store')
      expect(answer.body + JSON.stringify(answer.headers)).not.toContain(search.slice(7))
    }
  })

  it('is neither used up nor accepted under a hostname that an attacker points to this machine', async () => {
    const link = token()
    for (const host of [
      'evil.example',
      `evil.example:${at.host.port}`,
      `127.0.0.1.evil.example:${at.host.port}`,
    ]) {
      const answer = await at.ask(`/?token=${link}`, { headers: { host } })
      expect([answer.status, answer.headers['set-cookie']]).toEqual([403, undefined])
    }
    expect((await at.ask(`/?token=${link}`)).status).toBe(303)
  })

  it('of one server, like its cookie, gives no access to another server', async () => {
    const other = await startHarness()
    try {
      expect((await other.ask(`/?token=${token()}`)).status).toBe(403)
      const cookie = await at.signIn()
      const [, value] = cookie.split('=')
      const moved = `kernel-ladder-${other.host.port}=${value}`
      expect((await other.ask('/', { headers: { cookie: moved } })).status).toBe(403)
    } finally {
      await other.stop()
    }
  })

  it('does not allow a page from another origin to make calls, even with a valid cookie', async () => {
    const cookie = await at.signIn()
    for (const origin of [
      'null',
      'http://evil.example',
      `http://127.0.0.1:${at.host.port + 1}`,
      `http://localhost:${at.host.port}`,
    ])
      expect((await at.call('app.info', '{}', { cookie, origin })).status).toBe(403)
    expect(at.core.calls).toEqual([])
  })
})
