import { describe, expect, it, vi } from 'vitest'
import { FakeEvent, FakeWebContents } from './fake-electron'
import { useDesktop } from './harness'
import { isAppUrl } from '../../../src-main/hosts/electron/app-scheme'
import { indexHtml, script, secret } from '../support'
import { contentSecurityPolicy } from '../../../src-main/hosts/shared/response-headers'

vi.mock('electron', async () => (await import('./fake-electron')).electronModule())

const desktop = useDesktop()

describe('before Electron is ready', () => {
  it('every renderer is sandboxed', () => {
    desktop.start()
    expect(desktop.electron.app.sandboxed).toBe(true)
  })

  it('app:// is registered as a secure standard scheme without bypasses', () => {
    desktop.start()
    expect(desktop.electron.schemes).toEqual([
      { scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true } },
      { scheme: 'print', privileges: { standard: true } },
    ])
  })
})

describe('the window', () => {
  it.each([
    ['sandbox', true],
    ['contextIsolation', true],
    ['nodeIntegration', false],
    ['nodeIntegrationInWorker', false],
    ['nodeIntegrationInSubFrames', false],
    ['webviewTag', false],
    ['webSecurity', true],
    ['allowRunningInsecureContent', false],
    ['navigateOnDragDrop', false],
    ['spellcheck', false],
    ['devTools', false],
  ] as const)('sets %s to %s', async (name, value) => {
    expect((await desktop.open()).preferences[name]).toBe(value)
  })

  it('sets its preload and no unlisted preferences', async () => {
    const { preferences } = await desktop.open()
    expect(preferences.preload).toBe('/program/preload/index.cjs')
    expect(Object.keys(preferences)).toHaveLength(12)
  })

  it('has no menu with developer tools, which are allowed only in a checkout', async () => {
    await desktop.open()
    const { menu } = desktop.electron.state
    if (process.platform === 'darwin')
      expect(menu).toEqual(['appMenu', 'editMenu', 'windowMenu'].map((role) => ({ role })))
    else expect(menu).toBeNull()
  })

  it('loads the UI from app:// after all restrictions are in place', async () => {
    const { electron } = desktop
    let atCreation: unknown
    electron.state.onCreateWindow = () => {
      atCreation = {
        confined: electron.app.listenerCount('web-contents-created'),
        scheme: electron.schemeHandlers.has('app'),
        permissions: Object.values(electron.permissions).every((handler) => handler !== null),
      }
    }
    const window = await desktop.open()
    expect(window.loaded).toEqual(['app://kernel-ladder/'])
    expect(atCreation).toEqual({ confined: 1, scheme: true, permissions: true })
  })
})

describe('any page, even an unexpected one', () => {
  const pages = async (): Promise<FakeWebContents[]> => {
    const window = await desktop.open()
    const other = new FakeWebContents()
    desktop.electron.app.emit('web-contents-created', new FakeEvent(), other)
    return [window.webContents, other]
  }

  it.each(['will-navigate', 'will-frame-navigate', 'will-redirect', 'will-attach-webview'])(
    'is denied %s',
    async (event) => {
      for (const contents of await pages()) expect(contents.allows(event)).toBe(false)
    },
  )

  it('cannot open windows or pass URLs to the operating system', async () => {
    for (const contents of await pages())
      for (const url of ['https://example.com/', 'app://kernel-ladder/', 'file:///etc/passwd'])
        expect(contents.openHandler?.({ url })).toEqual({ action: 'deny' })
    expect(desktop.electron.opened).toEqual([])
  })
})

describe('permissions', () => {
  it.each(['media', 'clipboard-read', 'geolocation', 'openExternal', 'fileSystem', 'unknown'])(
    '%s is denied both when requested and when queried',
    async (permission) => {
      await desktop.open()
      const { request, check } = desktop.electron.permissions as unknown as Record<
        string,
        (...args: unknown[]) => unknown
      >
      const callback = vi.fn()
      request!({}, permission, callback, {})
      expect(callback.mock.calls).toEqual([[false]])
      expect(check!({}, permission, 'app://kernel-ladder', {})).toBe(false)
    },
  )

  it('to write text to the clipboard are granted, so that a remedy can be copied', async () => {
    await desktop.open()
    const { request, check } = desktop.electron.permissions as unknown as Record<
      string,
      (...args: unknown[]) => unknown
    >
    const callback = vi.fn()
    request!({}, 'clipboard-sanitized-write', callback, {})
    expect(callback.mock.calls).toEqual([[true]])
    expect(check!({}, 'clipboard-sanitized-write', 'app://kernel-ladder', {})).toBe(true)
  })

  it('for devices are denied', async () => {
    await desktop.open()
    const device = desktop.electron.permissions.device as unknown as (details: unknown) => unknown
    expect(device({ deviceType: 'usb', origin: 'app://kernel-ladder' })).toBe(false)
  })
})

/** Send a plain object, because Request would normalize the address before the host sees it. */
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

  it('serves the page for a route in the UI, and no page for a missing file', async () => {
    expect(await (await ask('app://kernel-ladder/compare/a/b')).text()).toBe(indexHtml)
    expect((await ask('app://kernel-ladder/nothing.js')).status).toBe(404)
  })

  it('sends the policy and the other security headers with every response', async () => {
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
  ])('serves no content under %s', async (url) => {
    expect((await ask(url)).status).toBe(404)
  })

  it('answers HEAD without a body, and rejects other methods', async () => {
    const head = await ask('app://kernel-ladder/', 'HEAD')
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await ask('app://kernel-ladder/', 'POST')).status).toBe(405)
  })
})

describe('an address belongs to the app', () => {
  it('by scheme and host, not by appearance', () => {
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
