import { describe, expect, it, vi } from 'vitest'
import { missingError } from '../../../src-main/domain/errors'
import { FakeEvent } from './fake-electron'
import { settle, useDesktop } from './harness'

vi.mock('electron', async () => (await import('./fake-electron')).electronModule())

const desktop = useDesktop()

describe('the program at startup', () => {
  it('quits immediately, without a core or a window, if it is a second instance', async () => {
    const { app, windows, schemes } = desktop.electron
    app.hasLock = false
    desktop.start()
    app.becomeReady()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(app.hasQuit).toBe(true)
    expect([desktop.coresCreated, windows.length, schemes.length]).toEqual([0, 0, 0])
  })

  it('shows the first instance when a second instance starts', async () => {
    const window = await desktop.open()
    window.minimized = true
    desktop.electron.app.emit('second-instance', {}, ['/opt/kernel-ladder'], '/')
    expect([window.minimized, window.focused]).toEqual([false, 1])
    window.destroyed = true
    desktop.electron.app.emit('second-instance', {}, ['/opt/kernel-ladder'], '/')
    expect(window.focused).toBe(1)
  })

  it('opens files from a second instance, or from macOS, as sessions in the first instance', async () => {
    const imported: string[] = []
    const window = await desktop.open()
    desktop.core.importFile = (path: string) => {
      imported.push(path)
      return path.endsWith('bad.ncu-rep')
        ? Promise.reject(missingError('It is empty.', 'Export it again.'))
        : Promise.resolve({ ref: 'imported-slow' })
    }
    const { app } = desktop.electron
    const words = [
      '/opt/kernel-ladder',
      '--no-sandbox',
      '--x=y.ncu-rep',
      'my slow.ncu-rep',
      'a.txt',
    ]
    app.emit('second-instance', {}, words, '/home/me')
    await settle(() => window.loaded.length === 2)
    expect(imported).toEqual(['/home/me/my slow.ncu-rep'])
    expect(window.loaded[1]).toBe('app://kernel-ladder/#/session/imported-slow/ladder')
    app.emit('open-file', { preventDefault: () => undefined }, '/tmp/bad.ncu-rep')
    await settle(() => desktop.electron.errorBoxes.length === 1)
    expect(desktop.electron.errorBoxes[0]).toEqual({
      title: 'bad.ncu-rep cannot be opened',
      content: 'It is empty.\nExport it again.',
    })
  })

  it('does not wait for `ready` before it sets early options', () => {
    // Like Electron, the fake Electron throws an error if a call comes too late.
    desktop.electron.app.isReady = true
    expect(() => desktop.start()).toThrow('before app is ready')
  })

  it('reports an error and fails without creating a core if the UI is not built', async () => {
    desktop.start({ rendererDir: '/nowhere' })
    desktop.electron.app.becomeReady()
    await settle(() => desktop.electron.app.exitCode === 1)
    expect(desktop.electron.errorBoxes[0]?.content).toMatch(/\/nowhere[\s\S]*npm run build/)
    expect(desktop.coresCreated).toBe(0)
  })

  it('fails with the reason and a remedy if the core cannot start', async () => {
    desktop.start({ setUp: () => Promise.reject(missingError('No store.', 'Make one.')) })
    desktop.electron.app.becomeReady()
    await settle(() => desktop.electron.app.exitCode === 1)
    expect(desktop.electron.errorBoxes).toEqual([
      { title: 'Kernel Ladder cannot start', content: 'No store.\nMake one.' },
    ])
    expect(desktop.electron.windows).toEqual([])
  })

  it('reports why the page cannot be loaded, unless its window was closed', async () => {
    desktop.electron.state.loadFailure = new Error('ERR_FAILED')
    await desktop.open()
    await settle(() => desktop.electron.app.exitCode === 1)
    expect(desktop.electron.errorBoxes[0]?.content).toBe('ERR_FAILED')
  })

  it('does not treat a window closed while loading as a failure', async () => {
    desktop.electron.state.loadFailure = new Error('ERR_ABORTED')
    desktop.electron.state.onCreateWindow = () => desktop.electron.windows[0]!.close()
    await desktop.open()
    await settle(() => desktop.electron.app.hasQuit)
    expect(desktop.electron.errorBoxes).toEqual([])
  })
})

describe('the window', () => {
  it("is never smaller than the UI's minimum size", async () => {
    const { options } = await desktop.open()
    expect([options.minWidth, options.minHeight]).toEqual([1000, 640])
    expect(options.width).toBeGreaterThanOrEqual(1000)
  })

  it('is shown when its content is ready', async () => {
    const window = await desktop.open()
    expect([window.options.show, window.shown]).toEqual([false, false])
    window.emit('ready-to-show')
    expect(window.shown).toBe(true)
  })

  it.each([
    [true, '#16181d'],
    [false, '#ffffff'],
  ])('follows the system theme (dark: %s) and has the background %s', async (dark, color) => {
    const { nativeTheme } = desktop.electron.module
    nativeTheme.shouldUseDarkColors = dark
    expect((await desktop.open()).options.backgroundColor).toBe(color)
    expect(nativeTheme.themeSource).toBe('system')
  })
})

describe('when the page crashes', () => {
  const crash = async (reason: string, answer = 0) => {
    const window = await desktop.open()
    desktop.electron.state.messageBoxAnswer = answer
    window.webContents.emit('render-process-gone', new FakeEvent(), { reason, exitCode: 5 })
    await new Promise((resolve) => setTimeout(resolve, 5))
    return window
  }

  it.each(['crashed', 'oom', 'killed', 'launch-failed'])(
    'the user can reload the page (%s)',
    async (reason) => {
      const window = await crash(reason)
      expect(desktop.electron.messageBoxes[0]).toMatchObject({ buttons: ['Reload', 'Quit'] })
      expect(desktop.electron.messageBoxes[0]?.detail).toContain(reason)
      expect(window.webContents.reloads).toBe(1)
      expect(desktop.electron.app.quitCalls).toBe(0)
    },
  )

  it('the user can quit the program instead of reloading the page', async () => {
    const window = await crash('crashed', 1)
    expect(window.webContents.reloads).toBe(0)
    await settle(() => desktop.electron.app.hasQuit)
  })

  it('no dialog is shown after a clean exit', async () => {
    const window = await crash('clean-exit')
    expect([desktop.electron.messageBoxes.length, window.webContents.reloads]).toEqual([0, 0])
  })
})

describe('quitting', () => {
  it('waits until the core has closed, and closes the core only once', async () => {
    let finish = (): void => {}
    const closing = new Promise<void>((resolve) => (finish = resolve))
    let closes = 0
    const core = { ...desktop.core, close: () => ((closes += 1), closing) }
    await desktop.open({ createCore: () => core })
    desktop.electron.app.quit()
    desktop.electron.app.quit()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([desktop.electron.app.hasQuit, closes]).toEqual([false, 1])
    finish()
    await settle(() => desktop.electron.app.hasQuit)
    expect(closes).toBe(1)
  })

  it('starts when the window is closed', async () => {
    const window = await desktop.open()
    window.close()
    await settle(() => desktop.electron.app.hasQuit)
    expect(desktop.core.closed).toBe(1)
  })

  it('is not delayed by a core that fails to close', async () => {
    const core = { ...desktop.core, close: () => Promise.reject(new Error('stuck')) }
    await desktop.open({ createCore: () => core })
    desktop.electron.app.quit()
    await settle(() => desktop.electron.app.hasQuit)
  })

  it('is not blocked forever by a core that never closes', async () => {
    const core = { ...desktop.core, close: () => new Promise<void>(() => {}) }
    await desktop.open({ createCore: () => core, quitDeadlineMs: 30 })
    desktop.electron.app.quit()
    expect(desktop.electron.app.hasQuit).toBe(false)
    await settle(() => desktop.electron.app.hasQuit)
  })

  it('works before a core exists', async () => {
    desktop.start()
    desktop.electron.app.quit()
    await settle(() => desktop.electron.app.hasQuit)
    expect(desktop.core.closed).toBe(0)
  })
})
