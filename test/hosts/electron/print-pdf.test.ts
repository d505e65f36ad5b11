import { beforeEach, describe, expect, it, vi } from 'vitest'
import { electronModule, resetElectron, type FakeElectron } from './fake-electron'

vi.mock('electron', () => electronModule())
const { printPdf } = await import('../../../src-main/hosts/electron/print-pdf')

let electron: FakeElectron
beforeEach(() => {
  electron = resetElectron()
  electron.app.becomeReady()
})

describe('printing in the desktop program', () => {
  it('renders the document in a hidden window without scripts', async () => {
    const pdf = await printPdf('<p>report</p>')
    expect(Buffer.from(pdf).toString()).toBe('%PDF')
    const [window] = electron.windows
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
    await printPdf('x', { draft: true })
    expect(electron.windows[1]!.webContents.printed).toMatchObject([
      { generateTaggedPDF: false, generateDocumentOutline: false },
    ])
  })

  it('serves the document from memory in an Electron session without file or network access', async () => {
    await printPdf('<p>report</p>')
    await printPdf('<p>another</p>')
    expect(electron.windows.map(({ loaded }) => loaded)).toEqual([
      ['print://report/'],
      ['print://report/'],
    ])
    const [first, second] = electron.partitions
    expect(first!.name).not.toBe(second!.name)
    expect(first!.name).not.toMatch(/^persist:/)
    for (const { permissions } of electron.partitions)
      expect(Object.values(permissions).every((handler) => handler !== null)).toBe(true)
    expect(electron.windows[0]!.preferences.session).toBe(first!.session)
    const answer = first!.schemes.get('print')!({} as Request)
    expect(await answer.text()).toBe('<p>report</p>')
    const policy = answer.headers.get('content-security-policy')!
    expect(policy).toMatch(/^default-src 'none'; /)
    expect(policy).not.toMatch(/file:|https?:|script-src/)
    // The print window's session does not have the app's scheme.
    expect([...first!.schemes.keys()]).toEqual(['print'])
  })

  it('removes the window even if printing fails', async () => {
    electron.state.loadFailure = new Error('gone')
    await expect(printPdf('x')).rejects.toThrow('gone')
    expect(electron.windows[0]!.destroyed).toBe(true)
  })
})
