/** A file from the browser: whole, private, no larger than said, and only from our own page. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inputError } from '../../../src-main/domain/errors'
import { json, startHarness, type Ask, type Harness } from './harness'
import { saying } from '../../said'

let at: Harness
let cookie: string
/** What the core found at the path, while it was there. */
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

const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith('kernel-ladder-upload-'))
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
  it('reaches the core as a file under its own name and time, which only its owner could read', async () => {
    const answer = await send('name=mine.csv&modified=1700000000000')
    expect(json(answer)).toEqual({ ok: true, value: { ref: 'imported-it' } })
    expect(seen).toMatchObject([
      { text: 'a,b\n1,2\n', mode: 0o600, folderMode: 0o700, modified: 1_700_000_000_000 },
    ])
    expect(basename(seen[0]!.path)).toBe('mine.csv')
    expect(existsSync(seen[0]!.path)).toBe(false)
    expect(left()).toEqual([])
  })

  it('that the core refuses is answered with its sentence, and leaves nothing', async () => {
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
  ])('named %j stays in its folder', async (name, kept) => {
    await send(`name=${encodeURIComponent(name)}`)
    expect(basename(seen[0]!.path)).toBe(kept)
    expect(dirname(dirname(seen[0]!.path))).toBe(tmpdir())
  })

  it('with a name longer than a file system takes keeps its ending', async () => {
    await send(`name=${encodeURIComponent('커'.repeat(300))}.ncu-rep`)
    expect(basename(seen[0]!.path)).toMatch(/…커*\.ncu-rep$/)
  })

  it.each(['', 'name=', 'name=..', 'name=%20'])('without a name (%j) is refused', async (query) => {
    expect((await send(query)).status).toBe(400)
    expect(seen).toEqual([])
  })
})

describe('a file that is too large', () => {
  const body = 'x'.repeat(1001)
  it('is refused before it is read, where its length is said', async () => {
    const answer = await send('name=big.csv', { body })
    expect(answer.status).toBe(413)
    expect(json(answer)).toMatchObject({
      error: { remedy: saying('import FILE') },
    })
    expect(left()).toEqual([])
  })

  it('is refused where its length is not said', async () => {
    const text = await at.raw(
      `POST /import?name=big.csv HTTP/1.1\r\nHost: 127.0.0.1:${at.host.port}\r\nCookie: ${cookie}\r\n` +
        `Origin: ${at.host.origin}\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n` +
        `3e9\r\n${body}\r\n0\r\n\r\n`,
    )
    expect(text).toMatch(/^HTTP\/1.1 413/)
    expect(seen).toEqual([])
    expect(left()).toEqual([])
  })
})

it('an upload that stalls is given up, and the core is not called', async () => {
  await at.raw(
    `POST /import?name=slow.csv HTTP/1.1\r\nHost: 127.0.0.1:${at.host.port}\r\nCookie: ${cookie}\r\n` +
      `Origin: ${at.host.origin}\r\nContent-Type: application/octet-stream\r\nContent-Length: 10\r\n\r\nabc`,
  )
  expect(seen).toEqual([])
  await expect.poll(left).toEqual([])
})

describe('who may send', () => {
  it.each<[string, Ask, number]>([
    ['nobody without the cookie', { headers: { cookie: undefined } }, 401],
    ['no other page', { headers: { origin: 'http://evil.example' } }, 403],
    ['no form of another page', { headers: { 'content-type': 'multipart/form-data' } }, 415],
    ['no text either', { headers: { 'content-type': 'text/plain' } }, 415],
    ['nobody by GET', { method: 'GET', body: undefined }, 405],
  ])('%s', async (_who, ask, status) => {
    const answer = await send('name=x.csv', ask)
    expect(answer.status).toBe(status)
    expect(json(answer)).toMatchObject({ ok: false })
    expect(seen).toEqual([])
  })
})
