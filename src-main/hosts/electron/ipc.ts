/**
 * Implements the main process's side of the bridge, with channels for calls, events, files and
 * folder selection.
 */
import { stat } from 'node:fs/promises'
import { basename, isAbsolute, normalize } from 'node:path'
import { dialog, ipcMain, type BrowserWindow, type IpcMainInvokeEvent } from 'electron'
import { dispatch, type Core, type Reply } from '../../contract/index'
import { inputError, toErrorShape } from '../../domain/errors'
import { isAppUrl } from './app-scheme'

/**
 * The preload script repeats these channel names because it cannot import modules. A test checks
 * that the two lists are equal.
 */
export const callChannel = 'kernel-ladder:call'

export const eventChannel = 'kernel-ladder:event'

export const importChannel = 'kernel-ladder:import'

export const folderChannel = 'kernel-ladder:choose-folder'

/** Connects the bridge. Returns a function that disconnects the bridge. */
export function connectIpc(core: Core, window: BrowserWindow): () => void {
  const { webContents } = window
  ipcMain.handle(callChannel, async (event, message: unknown): Promise<Reply<unknown>> => {
    if (!isFromOurPage(event, window))
      return refused('This call did not come from Kernel Ladder’s window.')
    if (!isCall(message)) return refused('A call must consist of a name and an input.')
    return dispatch(core, message.name, message.input)
  })
  ipcMain.handle(importChannel, async (event, path: unknown): Promise<Reply<unknown>> => {
    if (!isFromOurPage(event, window))
      return refused('This file did not come from Kernel Ladder’s window.')
    if (typeof path !== 'string' || path === '') return refused('The file is not on disk.')
    try {
      const why = await whyNoFile(path)
      if (why !== null) return refused(why)
      return { ok: true, value: await core.importFile(path) }
    } catch (error) {
      return { ok: false, error: toErrorShape(error) }
    }
  })
  ipcMain.handle(folderChannel, async (event): Promise<string | null> => {
    if (!isFromOurPage(event, window)) return null
    const { filePaths } = await dialog.showOpenDialog(window, { properties: ['openDirectory'] })
    return filePaths[0] ?? null
  })
  const unsubscribe = core.subscribe((message) => {
    if (!webContents.isDestroyed()) webContents.send(eventChannel, message)
  })
  return () => {
    unsubscribe()
    ipcMain.removeHandler(callChannel)
    ipcMain.removeHandler(importChannel)
    ipcMain.removeHandler(folderChannel)
  }
}

/** Whether the main frame of the program's own page sent an event. */
function isFromOurPage(event: IpcMainInvokeEvent, window: BrowserWindow): boolean {
  if (window.isDestroyed() || event.sender !== window.webContents) return false
  try {
    const frame = event.senderFrame
    // The frame is null after a navigation or removal. The sender is then unknown.
    return frame !== null && frame.parent === null && isAppUrl(frame.origin)
  } catch {
    // Checking the frame throws an error if the frame disappears in the meantime.
    return false
  }
}

/**
 * Returns the reason why a file is unusable, or null. Paths of dropped or chosen files are absolute
 * and normalized, so other paths are rejected.
 */
async function whyNoFile(path: string): Promise<string | null> {
  if (!isAbsolute(path) || path.includes('\0') || path !== normalize(path))
    return 'The file is not on disk.'
  const found = await stat(path).catch(() => null)
  // Reading a pipe would never end, and a device returns arbitrary data.
  return found?.isFile() ? null : `${basename(path)} is not a readable file.`
}

const isCall = (message: unknown): message is { name: string; input: unknown } =>
  typeof message === 'object' &&
  message !== null &&
  'name' in message &&
  typeof message.name === 'string' &&
  'input' in message

const refused = (sentence: string): Reply<never> => ({
  ok: false,
  error: inputError(sentence).toShape(),
})
