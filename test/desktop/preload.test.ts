/// <reference lib="dom" />
/**
 * Tests the desktop program's page, preload, and IPC together in a real Chromium. Only Electron is
 * simulated.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { findChromium } from '../../scripts/lib/chromium.mjs'
import {
  createFakeElectron,
  FakeWebContents,
  type FakeElectron,
} from '../hosts/electron/fake-electron'
import { ignoringSignals } from '../browser/support'
import { sumsFiles } from '../services/support'
import { withPreload } from './preload-world'

const root = join(import.meta.dirname, '../..')
const state = vi.hoisted(() => ({ electron: null as FakeElectron | null }))
vi.mock('electron', async () => {
  const { strictModule } = await import('./strict-electron')
  return strictModule(state.electron!)
})

describe("the desktop program's page", () => {
  let electron: FakeElectron
  let browser: Browser
  let page: Page
  let dir = ''
  let called: string[] = []
  const faults: string[] = []
  const goTo = (route: string): Promise<unknown> =>
    page.goto(`http://localhost/?at=${encodeURIComponent(route)}#${route}`)

  beforeAll(async () => {
    // `tempDir` cannot be used here, because its folders last for one test.
    dir = await mkdtemp(join(tmpdir(), 'kl-preload-'))
    for (const [name, value] of Object.entries({ DATA: 'data', CACHE: 'cache' }))
      vi.stubEnv(`KERNEL_LADDER_${name}`, join(dir, value))
    vi.stubEnv('HOME', dir)
    electron = state.electron = createFakeElectron()
    vi.resetModules()
    await import(join(root, 'out/main/index.js'))
    electron.app.becomeReady()
    await vi.waitFor(() => expect(electron.windows[0]?.loaded.length).toBeGreaterThan(0), 30_000)
    browser = await chromium.launch({
      executablePath: await findChromium(),
      args: ['--no-sandbox'],
      ...ignoringSignals,
    })
    page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (line) => line.type() === 'error' && faults.push(line.text()))
    called = await withPreload(page, electron, (name) => join(dir, name))
  })
  afterAll(async () => {
    await browser?.close()
    electron.app.quit()
    vi.unstubAllEnvs()
    await rm(dir, { recursive: true, force: true })
  })

  it('has the bridge, but no access to the preload’s world', async () => {
    await goTo('/')
    const seen = await page.evaluate(() => ({
      bridge: Object.keys((window as { kernelLadder?: object }).kernelLadder ?? {}),
      leaks: ['require', 'klSend', 'klReply'].filter((name) => name in window),
    }))
    expect(seen).toEqual({ bridge: ['call', 'importFile', 'chooseFolder', 'subscribe'], leaks: [] })
  })

  it.each([
    ['/sessions', 'sessions.list'],
    ['/labs', 'labs.list'],
    ['/run', 'ladders.list'],
    ['/run/checks', 'sanitize.current'],
    ['/run/folders', 'folders.list'],
    ['/run/tunings', 'tunings.list'],
    ['/doctor', 'doctor.check'],
  ])('shows the screen %s after the response to %s', async (route, name) => {
    called.length = 0
    await goTo(route)
    await expect.poll(() => called, { timeout: 30_000 }).toContain(name)
    await page.getByRole('main').getByRole('heading').first().waitFor()
  })

  it('imports a file that the user chooses, and shows its kernels', async () => {
    const captured = readFileSync(
      join(root, 'test/captures/ncu/2025.3.1-h200-programs/deep-twelve.ncu-rep.br'),
    )
    await writeFile(join(dir, 'twelve.ncu-rep'), brotliDecompressSync(captured))
    await goTo('/sessions')
    const chooser = page.waitForEvent('filechooser')
    await page
      .getByRole('button', { name: /^Import/ })
      .first()
      .click()
    await (await chooser).setFiles(join(dir, 'twelve.ncu-rep'))
    await page.waitForURL((url) => /imported-twelve.*ladder$/.test(url.hash))
    await page.getByText('scale<1, 1>').first().waitFor()
    expect(called).toContain('kernel-ladder:import')
  })

  it('opens the folder that the user chooses in the system dialog', async () => {
    const folder = join(dir, 'own')
    await mkdir(folder)
    for (const [name, text] of Object.entries(sumsFiles()))
      await writeFile(join(folder, name), text)
    electron.state.chosenFolder = folder
    await goTo('/run/folders')
    await page.getByRole('button', { name: 'Choose…' }).click()
    await page.getByText('This ladder did not come with the program').waitFor()
    expect(electron.folderDialogs).toEqual([['openDirectory']])
  })

  it('prints a report with the hidden window, and saves the PDF', async () => {
    // Imitate Electron's Chromium, which prints the document that the window has loaded.
    vi.spyOn(FakeWebContents.prototype, 'printToPDF').mockImplementation(async (options) => {
      const document = electron.partitions.at(-1)!.schemes.get('print')!({} as Request)
      const hidden = await browser.newPage({ javaScriptEnabled: false })
      await hidden.setContent(await document.text())
      const { generateTaggedPDF, generateDocumentOutline } = options as Record<string, boolean>
      const pdf = await hidden.pdf({
        preferCSSPageSize: true,
        printBackground: true,
        tagged: generateTaggedPDF!,
        outline: generateDocumentOutline!,
      })
      await hidden.close()
      return pdf
    })
    await goTo('/session/recorded%3Agemm-fp32-h200-1024/export')
    await page.getByRole('radio', { name: /PDF/ }).check()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save report' }).click()
    const file = await download
    expect(file.suggestedFilename()).toMatch(/^gemm-fp32-.*\.pdf$/)
    const pdf = readFileSync(await file.path()).toString('latin1')
    expect(pdf).toMatch(/^%PDF-/)
    const pages = pdf.match(/\/Type \/Page\b/g)?.length ?? 0
    expect(pages).toBeGreaterThan(1)
    expect(pages).toBeLessThanOrEqual(12)
    expect(called).toContain('report.make')
    expect(electron.windows.slice(1).map(({ destroyed }) => destroyed)).not.toContain(false)
  })

  it('reports no error on any screen', () => {
    expect(faults).toEqual([])
  })
})
