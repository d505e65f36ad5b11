/** What the page reaches of the desktop program: its files under an origin of its own, and the bridge's calls. */
import { readFile, stat } from 'node:fs/promises'
import { basename, isAbsolute, normalize } from 'node:path'
import { protocol, type BrowserWindow, dialog, ipcMain, type IpcMainInvokeEvent } from 'electron'
import { securityHeaders, pathSegments, type RendererFiles } from '../shared/renderer-files'
import { type Core, dispatch, type Reply } from '../../contract/index'
import { inputError, toErrorShape } from '../../domain/errors'

// The UI's own origin, in place of file://, whose pages may read every file of the person.

const scheme = 'app'
const host = 'kernel-ladder'
export const appUrl = `${scheme}://${host}/`

/** By scheme and host, parsed: URL.origin is "null" for schemes that Node does not know. */
export function isAppUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  return url?.protocol === `${scheme}:` && url.host === host
}

/** For documents that are printed, in a session of their own. */
export const printScheme = 'print'

/** Must come before the app is ready, and once for all. */
export function registerSchemes(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme, privileges: { standard: true, secure: true, supportFetchAPI: true } },
    { scheme: printScheme, privileges: { standard: true } },
  ])
}

export function serveAppScheme(files: RendererFiles): void {
  protocol.handle(scheme, async (request) => {
    if (!isAppUrl(request.url)) return refuse(404)
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405)
    const segments = pathSegments(rawPath(request.url))
    if (segments === null) return refuse(400)
    const file = await files.find(segments)
    if (file === null) return refuse(404)
    const bytes = request.method === 'HEAD' ? null : await readFile(file.path)
    return new Response(bytes, {
      headers: {
        ...securityHeaders,
        'Content-Type': file.contentType,
        'Cache-Control': file.cacheControl,
      },
    })
  })
}

const refuse = (status: number): Response =>
  new Response(null, { status, headers: securityHeaders })

/** As it was sent: parsing would resolve the dots that are to be refused. */
const rawPath = (url: string): string => url.slice(appUrl.length - 1).split(/[?#]/, 1)[0] || '/'

// The bridge's end in the main process: a channel for calls, for events, for files, and for the choice of a folder.

/** The preload holds the same names, for it may import nothing; a test connects both ends. */
export const callChannel = 'kernel-ladder:call'
export const eventChannel = 'kernel-ladder:event'
export const importChannel = 'kernel-ladder:import'
export const folderChannel = 'kernel-ladder:choose-folder'

/** Returns the function that takes the bridge down. */
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

/** The page of our window itself: no frame within it, no other contents, no other origin. */
function isFromOurPage(event: IpcMainInvokeEvent, window: BrowserWindow): boolean {
  if (window.isDestroyed() || event.sender !== window.webContents) return false
  try {
    const frame = event.senderFrame
    // Null once it has navigated or gone: then nobody can say who asked.
    return frame !== null && frame.parent === null && isAppUrl(frame.origin)
  } catch {
    // A frame that goes away while it is looked at throws.
    return false
  }
}

/** The page only ever hands over a file that was dropped or chosen; the path is held to what such a file's can be. */
async function whyNoFile(path: string): Promise<string | null> {
  if (!isAbsolute(path) || path.includes('\0') || path !== normalize(path))
    return 'The file is not on disk.'
  const found = await stat(path).catch(() => null)
  // A pipe would never end, and a device gives what it likes.
  return found?.isFile() ? null : `${basename(path)} is no file that can be read.`
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
