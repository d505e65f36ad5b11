/** The windows: the one that is seen, what no page in it may do, and a hidden one that prints. */
import { randomUUID } from 'node:crypto'
import {
  type Session,
  type WebContents,
  type WebPreferences,
  app,
  BrowserWindow,
  dialog,
  Menu,
  nativeTheme,
  session,
} from 'electron'
import { appUrl, printScheme } from './page'
import type { PrintOptions } from '../../adapters/print/chromium'

// The one window.

// What no page may do, set once for every page that this program ever shows.

/** Spelled out although most are defaults: a default can change, and a reader looks here. */
export const securePreferences = {
  sandbox: true,
  contextIsolation: true,
  nodeIntegration: false,
  nodeIntegrationInWorker: false,
  nodeIntegrationInSubFrames: false,
  webviewTag: false,
  webSecurity: true,
  allowRunningInsecureContent: false,
  navigateOnDragDrop: false,
  // Its dictionaries would be fetched from the network.
  spellcheck: false,
} as const satisfies WebPreferences

/** Writing text to the clipboard, for the button beside a remedy. Reading it is not asked for. */
const isNeeded = (permission: string): boolean => permission === 'clipboard-sanitized-write'

/** The UI needs no camera, location or the like. Electron grants all of it unless told. */
export function denyPermissions(session: Session): void {
  session.setPermissionRequestHandler((_contents, permission, callback) =>
    callback(isNeeded(permission)),
  )
  session.setPermissionCheckHandler((_contents, permission) => isNeeded(permission))
  session.setDevicePermissionHandler(() => false)
}

/** One page, one window: it leads nowhere else, and its own router moves within it. */
export function confine(contents: WebContents): void {
  contents.on('will-navigate', (event) => event.preventDefault())
  contents.on('will-frame-navigate', (event) => event.preventDefault())
  contents.on('will-redirect', (event) => event.preventDefault())
  contents.on('will-attach-webview', (event) => event.preventDefault())
  contents.setWindowOpenHandler(() => ({ action: 'deny' }))
}

export function createWindow(preloadPath: string): BrowserWindow {
  nativeTheme.themeSource = 'system'
  const window = new BrowserWindow({
    title: 'Kernel Ladder',
    width: 1440,
    height: 900,
    minWidth: 1000,
    minHeight: 640,
    // Shown when there is something to see; until then, and while it is resized, near the UI's own.
    show: false,
    backgroundColor: nativeTheme.shouldUseDarkColors ? '#16181d' : '#ffffff',
    webPreferences: { ...securePreferences, preload: preloadPath, devTools: !app.isPackaged },
  })
  window.once('ready-to-show', () => window.show())
  window.webContents.on('render-process-gone', (_event, { reason: end }) => {
    if (end !== 'clean-exit') void offerReload(window, end)
  })
  return window
}

/**
 * Electron's own menu has developer tools and reloads. macOS needs a menu for copying and pasting; elsewhere the keys
 * work without.
 */
export function setMenu(): void {
  const roles = ['appMenu', 'editMenu', 'windowMenu'] as const
  Menu.setApplicationMenu(
    process.platform === 'darwin' ? Menu.buildFromTemplate(roles.map((role) => ({ role }))) : null,
  )
}

/** `place` is a route of the UI, `#/session/…`; its first one if there is none. */
export async function loadUi(window: BrowserWindow, place = ''): Promise<void> {
  try {
    await window.loadURL(appUrl + place)
  } catch (error) {
    // Closed before it was loaded: that is no failure.
    if (!window.isDestroyed()) throw error
  }
}

/** The core lives in this process, so that a run goes on while its window is gone. */
async function offerReload(window: BrowserWindow, reason: string): Promise<void> {
  const { response } = await dialog.showMessageBox(window, {
    type: 'error',
    title: 'Kernel Ladder',
    message: 'The window stopped working.',
    detail: `Its process ended (${reason}). A run in progress continues; reload to see it again.`,
    buttons: ['Reload', 'Quit'],
    defaultId: 0,
    cancelId: 0,
  })
  if (response === 1) app.quit()
  else if (!window.isDestroyed()) window.webContents.reload()
}

// Pages from a document, by the Chromium that the program carries: a hidden window without scripts.

/** The document has what it shows in itself. A page of file: could read every file of the person. */
const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:",
}

export async function printPdf(
  html: string,
  { draft = false }: PrintOptions = {},
): Promise<Uint8Array> {
  // In memory, and gone with the window.
  const own = session.fromPartition(`print-${randomUUID()}`)
  denyPermissions(own)
  own.protocol.handle(printScheme, () => new Response(html, { headers }))
  const window = new BrowserWindow({
    show: false,
    webPreferences: { ...securePreferences, javascript: false, session: own },
  })
  try {
    await window.loadURL(`${printScheme}://report/`)
    return await window.webContents.printToPDF({
      preferCSSPageSize: true,
      printBackground: true,
      generateTaggedPDF: !draft,
      generateDocumentOutline: !draft,
    })
  } finally {
    window.destroy()
  }
}
