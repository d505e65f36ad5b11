/** Manages the single window of the desktop program. */
import { app, BrowserWindow, dialog, Menu, nativeTheme } from 'electron'
import { appUrl } from './app-scheme'
import { securePreferences } from './window-security'

export function createWindow(preloadPath: string): BrowserWindow {
  nativeTheme.themeSource = 'system'
  const window = new BrowserWindow({
    title: 'Kernel Ladder',
    width: 1440,
    height: 900,
    minWidth: 1000,
    minHeight: 640,
    // The window stays hidden until its page is loaded. The background is visible while the window
    // is resized, so its color is close to the UI's.
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
 * Sets the menu. Electron's default menu contains developer tools and reload commands. Only macOS
 * needs a menu for copy and paste.
 */
export function setMenu(): void {
  const roles = ['appMenu', 'editMenu', 'windowMenu'] as const
  Menu.setApplicationMenu(
    process.platform === 'darwin' ? Menu.buildFromTemplate(roles.map((role) => ({ role }))) : null,
  )
}

/**
 * Loads the UI. `place` is a UI route, such as `#/session/…`. By default, the first route is
 * loaded.
 */
export async function loadUi(window: BrowserWindow, place = ''): Promise<void> {
  try {
    await window.loadURL(appUrl + place)
  } catch (error) {
    // It is not an error if the window was closed before its page finished loading.
    if (!window.isDestroyed()) throw error
  }
}

/**
 * Offers to reload the window. The core runs in this process, so a run continues even if the window
 * crashed.
 */
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
