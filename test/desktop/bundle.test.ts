/**
 * Tests the built desktop program in plain Node.js with a fake Electron that has only the members
 * that Electron declares.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createFakeElectron, type FakeElectron } from '../hosts/electron/fake-electron'
import { setEnv, tempDir } from '../services/support'
import { strict } from './strict-electron'

const built = join(import.meta.dirname, '../../out/main/index.js')
const state = vi.hoisted(() => ({ electron: null as FakeElectron | null }))
vi.mock('electron', async () => {
  const { strictModule } = await import('./strict-electron')
  return strictModule(state.electron!)
})

const settle = (condition: () => boolean): Promise<void> =>
  vi.waitFor(
    () => {
      if (!condition()) throw new Error('not yet')
    },
    { timeout: 30_000 },
  )

describe('a fake Electron', () => {
  it('has exactly the members that Electron declares, and throws for all others', () => {
    const { module } = createFakeElectron()
    const app = strict(module.app as unknown as { quit(): void; leave?(): void }, 'App')
    expect(() => app.quit()).not.toThrow()
    expect(() => app.leave?.()).toThrow('Electron\'s App has no member "leave"')
    const Window = strict(module.BrowserWindow, 'BrowserWindow')
    module.app.becomeReady()
    expect(() => new Window({ webPreferences: { sandboxed: true } as object })).toThrow(
      'webPreferences have no "sandboxed"',
    )
  })
})

describe('the built desktop program', () => {
  let electron: FakeElectron
  const call = async (name: string, input: unknown = {}): Promise<unknown> => {
    const sender = electron.windows[0]!.webContents
    const event = { sender, senderFrame: sender.mainFrame }
    return electron.handlers.get('kernel-ladder:call')!(event, { name, input })
  }

  beforeAll(async () => {
    const dir = await tempDir()
    setEnv({ KERNEL_LADDER_DATA: dir, KERNEL_LADDER_CACHE: join(dir, 'cache') })
    electron = state.electron = createFakeElectron()
    vi.resetModules()
    await import(built)
    electron.app.becomeReady()
    await settle(() => (electron.windows[0]?.loaded.length ?? 0) > 0)
  })
  afterAll(() => {
    electron.app.quit()
  })

  it('opens one sandboxed window with its own page, and no error dialog', async () => {
    expect(electron.errorBoxes).toEqual([])
    expect(electron.windows).toHaveLength(1)
    expect(electron.windows[0]!.loaded).toEqual(['app://kernel-ladder/'])
    expect(electron.app.sandboxed).toBe(true)
    const page = await electron.schemeHandlers.get('app')!(new Request('app://kernel-ladder/'))
    expect(await page.text()).toContain('<div id="app"')
  })

  it('answers calls from the page', async () => {
    expect(await call('sessions.list')).toMatchObject({ ok: true })
    expect(await call('nothing.there')).toMatchObject({ ok: false })
  })

  it('quits when its core has closed', async () => {
    electron.app.quit()
    await settle(() => electron.app.hasQuit)
  })
})
