import { describe, expect, it, vi } from 'vitest'
import { isAppUrl } from '../../../src-main/hosts/electron/app-protocol'
import { contentSecurityPolicy } from '../../../src-main/hosts/shared/renderer-files'
import { indexHtml, script, secret } from '../support'
import { useDesktop } from './harness'

vi.mock('electron', async () => (await import('./fake-electron')).electronModule())

const desktop = useDesktop()

/** A plain object, because Request would tidy the address before the host sees it. */
const ask = async (url: string, method = 'GET'): Promise<Response> => {
  if (desktop.electron.windows.length === 0) await desktop.open()
  return desktop.electron.schemeHandlers.get('app')!({ url, method } as Request)
}

describe('app://kernel-ladder', () => {
  it('serves the page and its files', async () => {
    const page = await ask('app://kernel-ladder/')
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ])
    expect(await page.text()).toBe(indexHtml)
    const file = await ask('app://kernel-ladder/assets/index-Ab3_x-9Z.js?v=1#x')
    expect(file.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(await file.text()).toBe(script)
  })

  it('serves the page for a place in the UI, and no page for a missing file', async () => {
    expect(await (await ask('app://kernel-ladder/compare/a/b')).text()).toBe(indexHtml)
    expect((await ask('app://kernel-ladder/nothing.js')).status).toBe(404)
  })

  it('sends the policy and the other security headers with every answer', async () => {
    for (const path of ['', 'logo.svg', 'nothing.js', '..%2fsecret.txt'])
      expect(Object.fromEntries((await ask(`app://kernel-ladder/${path}`)).headers)).toMatchObject({
        'content-security-policy': contentSecurityPolicy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      })
  })

  it.each([
    'app://kernel-ladder/../secret.txt',
    'app://kernel-ladder/assets/../../secret.txt',
    'app://kernel-ladder/%2e%2e/secret.txt',
    'app://kernel-ladder/..%2fsecret.txt',
    'app://kernel-ladder/..%5csecret.txt',
    'app://kernel-ladder//etc/passwd',
    'app://kernel-ladder/%00',
    'app://kernel-ladder/%ZZ',
    'app://kernel-ladder/link.txt',
    'app://kernel-ladder/linked/secret.txt',
    'app://kernel-ladder/.env.txt',
  ])('does not serve %s', async (url) => {
    const answer = await ask(url)
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(await answer.text()).not.toContain(secret)
  })

  it.each([
    'app://other/index.html',
    'app://kernel-ladder.evil.example/index.html',
    'app://kernel-ladder:1/index.html',
    'app:///index.html',
  ])('serves nothing under %s', async (url) => {
    expect((await ask(url)).status).toBe(404)
  })

  it('answers HEAD without a body, and no other method', async () => {
    const head = await ask('app://kernel-ladder/', 'HEAD')
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await ask('app://kernel-ladder/', 'POST')).status).toBe(405)
  })
})

describe('an address is ours', () => {
  it('by scheme and host, and not by how it looks', () => {
    expect(isAppUrl('app://kernel-ladder')).toBe(true)
    expect(isAppUrl('app://kernel-ladder/compare?x#y')).toBe(true)
    for (const foreign of [
      '',
      'null',
      'about:blank',
      'app:kernel-ladder',
      'app://kernel-ladder.evil.example',
      'app://kernel-ladder:80',
      'app://evil.example/app://kernel-ladder/',
      'app://kernel-ladder@evil.example/',
      'https://kernel-ladder/',
      'file://kernel-ladder/',
    ])
      expect([foreign, isAppUrl(foreign)]).toEqual([foreign, false])
  })
})
