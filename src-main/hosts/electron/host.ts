/** The life of the desktop program: one instance, one window, one core. */
import { app, type BrowserWindow, dialog, session } from 'electron'
import type { Setup } from '../../adapters/machine/machine'
import { inEnglish } from '../../domain/text/wording'
import type { Core } from '../../contract'
import { toErrorShape } from '../../domain/errors'
import { RendererFiles } from '../shared/renderer-files'
import { registerSchemes, serveAppScheme } from './app-protocol'
import { connectIpc } from './ipc'
import { confine, denyPermissions } from './security'
import { createWindow, loadUi, setMenu } from './window'

export interface ElectronHostOptions {
  /** Both are called once, and only by the instance that stays: a second one must not touch the sessions. */
  setUp: () => Promise<Setup>
  createCore: (setup: Setup) => Core
  preloadPath: string
  /** How long quitting waits for the core; a process tree that does not end must not keep us open. */
  quitDeadlineMs?: number
}

/** Call it synchronously from the entry: the sandbox and the scheme must be set before `ready`. */
export function startElectronHost(options: ElectronHostOptions): void {
  if (!app.requestSingleInstanceLock()) {
    app.quit()
    return
  }
  app.enableSandbox()
  registerSchemes()
  // Every page that will ever exist, not only the one opened below.
  app.on('web-contents-created', (_event, contents) => confine(contents))

  let window: BrowserWindow | undefined
  app.on('second-instance', () => {
    if (window === undefined || window.isDestroyed()) return
    if (window.isMinimized()) window.restore()
    window.focus()
  })
  app.on('window-all-closed', () => app.quit())

  let core: Core | undefined
  quitAfter(async () => core?.close(), options.quitDeadlineMs ?? 15_000)

  const open = async (): Promise<void> => {
    setMenu()
    denyPermissions(session.defaultSession)
    const setup = await options.setUp()
    serveAppScheme(await RendererFiles.open(setup.assets.rendererDir))
    core = options.createCore(setup)
    window = createWindow(options.preloadPath)
    window.once('closed', connectIpc(core, window))
    await loadUi(window)
  }
  app
    .whenReady()
    .then(open)
    .catch((error: unknown) => {
      const { message, remedy = '' } = toErrorShape(error)
      dialog.showErrorBox(
        'Kernel Ladder cannot start',
        `${inEnglish(message)}\n${inEnglish(remedy)}`.trim(),
      )
      app.exit(1)
    })
}

/** Quits when the work is done: what runs on the GPU must not outlive the window that started it. */
function quitAfter(work: () => Promise<unknown>, deadlineMs: number): void {
  let state: 'open' | 'closing' | 'closed' = 'open'
  app.on('before-quit', (event) => {
    if (state === 'closed') return
    event.preventDefault()
    if (state === 'closing') return
    state = 'closing'
    const deadline = new Promise<void>((resolve) => setTimeout(resolve, deadlineMs))
    // A core that fails to close has nothing left to wait for.
    void Promise.race([work().catch(() => undefined), deadline]).then(() => {
      state = 'closed'
      app.quit()
    })
  })
}
