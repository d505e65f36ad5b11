import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { logMessage } from '../support/fake-core'
import { type Harness, startHarness } from './harness'

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

describe('the event stream', () => {
  it('says at once that it is open, before any event', async () => {
    const stream = await at.stream(cookie)
    await stream.until(': open\n\n')
    expect(stream.response.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    expect(stream.response.headers['cache-control']).toBe('no-store')
    expect(stream.response.headers['content-encoding']).toBeUndefined()
  })

  it('carries each message of the core as one data line, in order, to every page', async () => {
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

  it('shows that it is alive when nothing happens', async () => {
    const stream = await at.stream(cookie)
    await stream.until(': alive\n\n: alive\n\n')
  })

  it('ends its subscription when the page goes', async () => {
    const stream = await at.stream(cookie)
    expect(at.core.listeners.size).toBe(1)
    stream.request.destroy()
    await settled(() => at.core.listeners.size === 0)
  })

  it('cuts off a page that does not read, and keeps the others', async () => {
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

  it('answers HEAD without opening one', async () => {
    const answer = await at.ask('/events', { method: 'HEAD', headers: { cookie } })
    expect([answer.status, at.core.listeners.size]).toEqual([200, 0])
  })

  it('is not a way to call', async () => {
    const headers = { cookie, origin: at.host.origin }
    expect((await at.ask('/events', { method: 'POST', headers })).status).toBe(405)
  })
})
