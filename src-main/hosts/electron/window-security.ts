/** What no page may do, set once for every page that this program shows. */
import type { Session, WebContents, WebPreferences } from 'electron'

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
