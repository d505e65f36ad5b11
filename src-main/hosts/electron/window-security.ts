/** Restricts every page that the desktop program shows. */
import type { Session, WebContents, WebPreferences } from 'electron'

/**
 * Security preferences for a window. Most of the preferences equal the current defaults, but
 * defaults can change.
 */
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
  // The spell checker would download dictionaries from the internet.
  spellcheck: false,
} as const satisfies WebPreferences

/**
 * Whether the UI needs a permission. The UI needs only permission to write to the clipboard, for
 * the copy button next to a remedy.
 */
const isNeeded = (permission: string): boolean => permission === 'clipboard-sanitized-write'

/**
 * Denies all other permissions, such as camera or location. By default, Electron grants every
 * permission.
 */
export function denyPermissions(session: Session): void {
  session.setPermissionRequestHandler((_contents, permission, callback) =>
    callback(isNeeded(permission)),
  )
  session.setPermissionCheckHandler((_contents, permission) => isNeeded(permission))
  session.setDevicePermissionHandler(() => false)
}

/**
 * Blocks navigation to other pages, and new windows. Navigation by the UI's router is not blocked.
 */
export function confine(contents: WebContents): void {
  contents.on('will-navigate', (event) => event.preventDefault())
  contents.on('will-frame-navigate', (event) => event.preventDefault())
  contents.on('will-redirect', (event) => event.preventDefault())
  contents.on('will-attach-webview', (event) => event.preventDefault())
  contents.setWindowOpenHandler(() => ({ action: 'deny' }))
}
