import { afterEach, beforeEach, vi } from 'vitest'
import type { Setup } from '../../../src-main/adapters/machine/machine'
import type { Core } from '../../../src-main/contract'
import { startElectronHost } from '../../../src-main/hosts/electron/host'
import { createFakeCore, type FakeCore, createRendererDir } from '../support'
import { setupIn } from '../../services/support'
import { type FakeElectron, resetElectron } from './fake-electron'

export interface Desktop {
  electron: FakeElectron
  core: FakeCore
  coresCreated: number
  rendererDir: string
  start(options?: StartOptions): void
  /** Starts the host and waits until it is ready and the window has loaded. */
  open(options?: StartOptions): Promise<FakeElectron['windows'][number]>
}

export interface StartOptions {
  setUp?: () => Promise<Setup>
  createCore?: () => Core
  rendererDir?: string
  quitDeadlineMs?: number
}

/** Waits until the condition is true. File reads can complete during the wait. */
export const settle = (condition: () => boolean): Promise<void> =>
  vi.waitFor(() => {
    if (!condition()) throw new Error('not yet')
  })

/**
 * Provides a desktop program with a fake Electron for each test in a file. The test file must call
 * `vi.mock('electron')` itself.
 */
export function useDesktop(): Desktop {
  const desktop = {} as Desktop
  let remove = (): void => {}
  beforeEach(() => {
    const renderer = createRendererDir()
    remove = renderer.remove
    const core = createFakeCore()
    const electron = resetElectron()
    const start = ({ rendererDir = renderer.dir, ...options }: StartOptions = {}): void =>
      startElectronHost({
        createCore: () => {
          desktop.coresCreated += 1
          return core
        },
        preloadPath: '/program/preload/index.cjs',
        setUp: async () => setupIn(rendererDir, { rendererDir }),
        ...options,
      })
    const open = async (options?: StartOptions) => {
      start(options)
      electron.app.becomeReady()
      await settle(() => (electron.windows[0]?.loaded.length ?? 0) > 0)
      return electron.windows[0]!
    }
    Object.assign(desktop, {
      electron,
      core,
      coresCreated: 0,
      rendererDir: renderer.dir,
      start,
      open,
    })
  })
  afterEach(() => remove())
  return desktop
}
