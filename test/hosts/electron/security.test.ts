import { describe, expect, it, vi } from 'vitest'
import { FakeEvent, FakeWebContents } from './fake-electron'
import { useDesktop } from './harness'

vi.mock('electron', async () => (await import('./fake-electron')).electronModule())

const desktop = useDesktop()

describe('before Electron is ready', () => {
  it('every renderer is put in the sandbox', () => {
    desktop.start()
    expect(desktop.electron.app.sandboxed).toBe(true)
  })

  it('app:// is registered as a secure standard scheme that bypasses nothing', () => {
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

  it('sets nothing else but its preload', async () => {
    const { preferences } = await desktop.open()
    expect(preferences.preload).toBe('/program/preload/index.cjs')
    expect(Object.keys(preferences)).toHaveLength(12)
  })

  it('has no menu with developer tools, and the tools themselves only from a checkout', async () => {
    await desktop.open()
    const { menu } = desktop.electron.state
    if (process.platform === 'darwin')
      expect(menu).toEqual(['appMenu', 'editMenu', 'windowMenu'].map((role) => ({ role })))
    else expect(menu).toBeNull()
  })

  it('loads the UI from app://, once it is confined and may do nothing', async () => {
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

describe('any page, also one that the program did not mean to open', () => {
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

  it('is denied new windows, and nothing is handed to the system instead', async () => {
    for (const contents of await pages())
      for (const url of ['https://example.com/', 'app://kernel-ladder/', 'file:///etc/passwd'])
        expect(contents.openHandler?.({ url })).toEqual({ action: 'deny' })
    expect(desktop.electron.opened).toEqual([])
  })
})

describe('permissions', () => {
  it.each(['media', 'clipboard-read', 'geolocation', 'openExternal', 'fileSystem', 'unknown'])(
    '%s is denied when it is asked for, and when it is only looked up',
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

  it('to write text to the clipboard is given, since a remedy can be copied', async () => {
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
