/**
 * Manages the lifecycle of the desktop program, which has one instance, one window and one core.
 */
import { basename } from 'node:path'
import { app, type BrowserWindow, dialog, session } from 'electron'
import type { Setup } from '../../adapters/machine/machine'
import { inEnglish } from '../../domain/text/english'
import type { Core } from '../../contract/index'
import { toErrorShape } from '../../domain/errors'
import { RendererFiles } from '../shared/renderer-files'
import { registerSchemes, serveAppScheme } from './app-scheme'
import { createWindow, loadUi, setMenu } from './window'
import { filesOf } from './opened-files'
import { connectIpc } from './ipc'
import { confine, denyPermissions } from './window-security'

interface ElectronHostOptions {
  /**
   * Locates the program's files and connects to the machine. Called only by the first instance,
   * because a second instance must not access the sessions.
   */
  setUp: () => Promise<Setup>
  createCore: (setup: Setup) => Core
  preloadPath: string
  /**
   * Maximum time in milliseconds to wait for the core when quitting. A stuck process tree must not
   * keep the program open.
   */
  quitDeadlineMs?: number
}

/**
 * Starts the host. The entry point must call this function synchronously, because the sandbox and
 * the scheme must be set before `ready`.
 */
export function startElectronHost(options: ElectronHostOptions): void {
  if (!app.requestSingleInstanceLock()) {
    app.quit()
    return
  }
  app.enableSandbox()
  registerSchemes()
  // Restrict all pages, including pages that other code opens.
  app.on('web-contents-created', (_event, contents) => confine(contents))

  let window: BrowserWindow | undefined
  let core: Core | undefined
  // Files to import once the window and the core exist.
  const waiting = filesOf(process.argv, process.cwd())
  const openWaiting = async (): Promise<void> => {
    if (!core || window === undefined) return
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      await openFile(core, window, file)
  }
  app.on('second-instance', (_event, argv, folder) => {
    waiting.push(...filesOf(argv, folder))
    if (window === undefined || window.isDestroyed()) return
    if (window.isMinimized()) window.restore()
    window.focus()
    void openWaiting()
  })
  app.on('open-file', (event, path) => {
    event.preventDefault()
    waiting.push(path)
    void openWaiting()
  })
  app.on('window-all-closed', () => app.quit())

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
    await openWaiting()
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

/** Imports a file as a session and opens the session. Shows a dialog if the file is unreadable. */
async function openFile(core: Core, window: BrowserWindow, file: string): Promise<void> {
  try {
    const { ref } = await core.importFile(file)
    if (!window.isDestroyed()) await loadUi(window, `#/session/${encodeURIComponent(ref)}/ladder`)
  } catch (error) {
    const { message, remedy = '' } = toErrorShape(error)
    dialog.showErrorBox(
      `${basename(file)} cannot be opened`,
      `${inEnglish(message)}\n${inEnglish(remedy)}`.trim(),
    )
  }
}

/**
 * Quits after `work` has ended. Work on the GPU must not continue after the window that started it
 * is closed.
 */
function quitAfter(work: () => Promise<unknown>, deadlineMs: number): void {
  let state: 'open' | 'closing' | 'closed' = 'open'
  app.on('before-quit', (event) => {
    if (state === 'closed') return
    event.preventDefault()
    if (state === 'closing') return
    state = 'closing'
    const deadline = new Promise<void>((resolve) => setTimeout(resolve, deadlineMs))
    // Quit even if closing the core fails.
    void Promise.race([work().catch(() => undefined), deadline]).then(() => {
      state = 'closed'
      app.quit()
    })
  })
}
