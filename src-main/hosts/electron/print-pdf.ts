/** Pages from a document, by the Chromium that the program carries: a hidden window without scripts. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BrowserWindow } from 'electron'
import { diskError } from '../../adapters/disk/disk'
import type { PrintOptions } from '../../adapters/print/pdf'
import { securePreferences } from './security'

export async function printPdf(
  html: string,
  { draft = false }: PrintOptions = {},
): Promise<Uint8Array> {
  const dir = await mkdtemp(join(tmpdir(), 'kernel-ladder-print-')).catch((error: unknown) => {
    throw diskError(error, tmpdir(), 'writeTo')
  })
  let window: BrowserWindow | undefined
  try {
    const file = join(dir, 'report.html')
    await writeFile(file, html).catch((error: unknown) => {
      throw diskError(error, file, 'write')
    })
    window = new BrowserWindow({
      show: false,
      webPreferences: { ...securePreferences, javascript: false },
    })
    await window.loadFile(file)
    return await window.webContents.printToPDF({
      preferCSSPageSize: true,
      printBackground: true,
      generateTaggedPDF: !draft,
      generateDocumentOutline: !draft,
    })
  } finally {
    window?.destroy()
    await rm(dir, { recursive: true, force: true }).catch(() => undefined)
  }
}
