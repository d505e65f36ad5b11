/**
 * Tests the real Electron window on a display, such as one from Xvfb. Without a display, the test
 * is skipped with the reason.
 */
import { join } from 'node:path'
import { _electron, type ElectronApplication, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { electronPath } from '../../scripts/lib/electron.mjs'

const root = join(import.meta.dirname, '../..')
const binary = electronPath(join(root, 'node_modules/electron'))

function whySkipped(): string | undefined {
  if (binary === undefined) return "Electron's binary was not downloaded"
  if (process.platform !== 'linux') return undefined
  if (process.getuid?.() === 0) return 'Electron does not run as root with its sandbox on'
  if (!process.env['DISPLAY']) return 'there is no display'
  return undefined
}

const skipped = whySkipped()

describe.skipIf(skipped !== undefined)(
  skipped === undefined ? 'the window' : `the window (skipped: ${skipped})`,
  () => {
    let app: ElectronApplication
    let page: Page
    beforeAll(async () => {
      app = await _electron.launch({ executablePath: binary!, args: [root] })
      page = await app.firstWindow()
    })
    afterAll(() => app.close())

    it('opens as the only window and shows a ladder', async () => {
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByText('01_naive').first().waitFor()
      expect(app.windows()).toHaveLength(1)
      expect(page.url()).toMatch(/^app:\/\/kernel-ladder\//)
    })

    it('prints a PDF', async () => {
      const start = await app.evaluate(async ({ BrowserWindow }) => {
        const pdf = await BrowserWindow.getAllWindows()[0]!.webContents.printToPDF({})
        return pdf.subarray(0, 5).toString()
      })
      expect(start).toBe('%PDF-')
    })

    it('takes a screenshot', async () => {
      const { width, height } = await app.evaluate(async ({ BrowserWindow }) => {
        const picture = await BrowserWindow.getAllWindows()[0]!.webContents.capturePage()
        return picture.getSize()
      })
      expect(width).toBeGreaterThan(300)
      expect(height).toBeGreaterThan(300)
    })
  },
)
