/** Prints a document with the bundled Chromium, in a hidden window without scripts. */
import { randomUUID } from 'node:crypto'
import { BrowserWindow, session } from 'electron'
import { printScheme } from './app-scheme'
import type { PrintOptions } from '../../adapters/print/chromium'
import { securePreferences, denyPermissions } from './window-security'

/**
 * Response headers for the printed document, which is self-contained. A page loaded from file://
 * could read all of the user's files.
 */
const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:",
}

export async function printPdf(
  html: string,
  { draft = false }: PrintOptions = {},
): Promise<Uint8Array> {
  // An in-memory Electron session that is destroyed with the window.
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
