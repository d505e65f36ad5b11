import { readdir } from 'node:fs/promises'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { setEnv, tempDir } from '../../services/support'
import { electronModule, resetElectron, type FakeElectron } from './fake-electron'

vi.mock('electron', () => electronModule())
const { printPdf } = await import('../../../src-main/hosts/electron/print-pdf')

let electron: FakeElectron
let temporary: string
beforeEach(async () => {
  temporary = await tempDir()
  setEnv({ TMPDIR: temporary })
  electron = resetElectron()
  electron.app.becomeReady()
})

describe('printing in the desktop program', () => {
  it('draws the document in a hidden window without scripts, and leaves nothing behind', async () => {
    const pdf = await printPdf('<p>report</p>')
    expect(Buffer.from(pdf).toString()).toBe('%PDF')
    const [window] = electron.windows
    expect(window!.loaded).toEqual(['<p>report</p>'])
    expect(window!.options.show).toBe(false)
    expect(window!.preferences).toMatchObject({
      javascript: false,
      sandbox: true,
      nodeIntegration: false,
    })
    expect(window!.webContents.printed).toEqual([
      {
        preferCSSPageSize: true,
        printBackground: true,
        generateTaggedPDF: true,
        generateDocumentOutline: true,
      },
    ])
    expect(window!.destroyed).toBe(true)
    expect(await readdir(temporary)).toEqual([])
    await printPdf('x', { draft: true })
    expect(electron.windows[1]!.webContents.printed).toMatchObject([
      { generateTaggedPDF: false, generateDocumentOutline: false },
    ])
  })

  it('takes the window and the file away also when it fails', async () => {
    electron.state.loadFailure = new Error('gone')
    await expect(printPdf('x')).rejects.toThrow('gone')
    expect(electron.windows[0]!.destroyed).toBe(true)
    expect(await readdir(temporary)).toEqual([])
  })
})
