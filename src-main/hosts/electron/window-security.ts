/** Restrictions for every page that this program shows. */
import type { Session, WebContents, WebPreferences } from 'electron'

/** Stated explicitly although most are defaults, since defaults can change. */
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
  // The spell checker would download dictionaries.
  spellcheck: false,
} as const satisfies WebPreferences

/** Whether the UI needs a permission: only writing text to the clipboard, for the button next to a remedy. */
const isNeeded = (permission: string): boolean => permission === 'clipboard-sanitized-write'

/** Denies all other permissions, such as camera or location. Electron grants everything by default. */
export function denyPermissions(session: Session): void {
  session.setPermissionRequestHandler((_contents, permission, callback) =>
    callback(isNeeded(permission)),
  )
  session.setPermissionCheckHandler((_contents, permission) => isNeeded(permission))
  session.setDevicePermissionHandler(() => false)
}

/** Keeps a page in its window: it cannot navigate elsewhere, and its own router moves within it. */
export function confine(contents: WebContents): void {
  contents.on('will-navigate', (event) => event.preventDefault())
  contents.on('will-frame-navigate', (event) => event.preventDefault())
  contents.on('will-redirect', (event) => event.preventDefault())
  contents.on('will-attach-webview', (event) => event.preventDefault())
  contents.setWindowOpenHandler(() => ({ action: 'deny' }))
}
