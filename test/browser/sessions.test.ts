/** Tests the Sessions screen with its own store and real user actions. */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { reportHtml } from '../../src-main/services/report'
import { noPrivates, recording, template } from '../services/report/samples'
import { setEnv, tempDir } from '../services/support'
import { seriousFaults, startHarness, type Harness } from './support'

const report = join(import.meta.dirname, '../captures/ncu/2025.3.1-h200/launches-two-rungs.ncu-rep')

let harness: Harness
let store: string
let imported: string
beforeEach(async () => {
  const data = await tempDir()
  store = join(data, 'sessions')
  setEnv({ KERNEL_LADDER_DATA: data })
  harness = await startHarness()
  imported = (await harness.core.importFile(report)).ref
})
afterEach(() => harness.stop())

const open = async (): Promise<{ page: Page; faults: string[] }> => {
  const opened = await harness.open('/sessions')
  await opened.page.locator('tr[data-session]').first().waitFor()
  return opened
}
const row = (page: Page, ref: string) => page.locator(`tr[data-session="${ref}"]`)

describe('the list', () => {
  it('shows all sessions, or only the sessions that match a search', async () => {
    const { page, faults } = await open()
    const all = await harness.core.call('sessions.list', {})
    await expect.poll(() => page.locator('tr[data-session]').count()).toBe(all.length)
    await page.getByRole('searchbox', { name: 'Search sessions' }).fill('import two')
    await expect.poll(() => page.locator('tr[data-session]').count()).toBe(1)
    await page.getByRole('searchbox').fill('<b>nothing</b>')
    await page.getByText('No session matches “<b>nothing</b>”').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('tr[data-session]').count()).toBe(all.length)
    expect(faults).toEqual([])
  })

  it("appears in every screen's menu with the same headings", async () => {
    const { page } = await open()
    await page.getByRole('button', { name: /^Session: / }).click()
    const menu = page.getByRole('menu')
    expect(await menu.locator('.group').allInnerTexts()).toEqual(['Recordings', 'Imports'])
  })

  it('opens a session', async () => {
    const { page } = await open()
    await row(page, imported).getByRole('link').click()
    await page.waitForURL((url) => url.hash.endsWith(`/session/${imported}/ladder`))
  })

  it('passes two sessions to Compare, with the older session as side a', async () => {
    const { page } = await open()
    const refs = ['recorded:gemm-fp32-h200-4096', 'recorded:gemm-fp32-h200-1024']
    const [older, newer] = (await harness.core.call('sessions.list', {}))
      .filter(({ ref }) => refs.includes(ref))
      .sort((a, b) => a.createdAt.localeCompare(b.createdAt))
    const { rungs } = await harness.core.call('sessions.get', { ref: newer!.ref })
    const fastest = rungs
      .slice(1)
      .reduce((a, b) => (a.timing!.medianMs <= b.timing!.medianMs ? a : b)).id
    for (const ref of refs) await row(page, ref).getByRole('checkbox').check()
    await page.getByRole('button', { name: 'Compare both' }).click()
    await page.waitForURL((url) => decodeURIComponent(url.hash).includes('/compare/'))
    expect(decodeURIComponent(new URL(page.url()).hash)).toMatch(
      new RegExp(`^#/session/${older!.ref}/compare/${fastest}/${fastest}\\?with=${newer!.ref}$`),
    )
  })
})

describe("a user's own session", () => {
  it('can be renamed in place with the keyboard, and keeps the new name', async () => {
    const { page } = await open()
    await row(page, imported).getByRole('button', { name: 'Rename' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.type('Before <i>the</i> fix')
    await page.keyboard.press('Enter')
    await row(page, imported).getByRole('link', { name: 'Before <i>the</i> fix' }).waitFor()
    await page.reload()
    await row(page, imported).getByRole('link', { name: 'Before <i>the</i> fix' }).waitFor()
    await page.keyboard.press('Escape')
  })

  it('keeps its name if the user cancels renaming with Escape', async () => {
    const { page } = await open()
    await row(page, imported).getByRole('button', { name: 'Rename' }).click()
    await page.keyboard.type('other')
    await page.keyboard.press('Escape')
    await row(page, imported).getByRole('link', { name: 'launches-two-rungs' }).waitFor()
    expect(await readdir(join(store, imported))).not.toContain('label.json')
  })

  it('can be deleted and restored', async () => {
    const { page } = await open()
    await row(page, imported).getByRole('button', { name: 'Delete' }).click()
    await row(page, imported).waitFor({ state: 'detached' })
    expect(await readdir(store)).toEqual(['.trash'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await row(page, imported).waitFor()
    expect(await readdir(store)).toContain(imported)
  })

  it('can be restored after deletion, even after a reload', async () => {
    const { page } = await open()
    await row(page, imported).getByRole('button', { name: 'Delete' }).click()
    await row(page, imported).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('button', { name: 'Restore launches-two-rungs' }).click()
    await row(page, imported).waitFor()
  })
})

it('a recording can be neither renamed nor deleted', async () => {
  const { page } = await open()
  const recording = row(page, 'recorded:gemm-fp32-h200-4096')
  await expect.poll(() => recording.getByRole('button').count()).toBe(0)
})

describe('a dropped file', () => {
  /** Drops a file as a browser does, with the file in the drop event. */
  async function drop(page: Page, name: string, bytes: Buffer): Promise<void> {
    const transfer = await page.evaluateHandle(
      ({ name, base64 }) => {
        const carried = new DataTransfer()
        const data = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0))
        carried.items.add(new File([data], name))
        return carried
      },
      { name, base64: bytes.toString('base64') },
    )
    await page.locator('main').dispatchEvent('dragenter', { dataTransfer: transfer })
    await page.getByText('Drop a .ncu-rep report').waitFor()
    await page.locator('main').dispatchEvent('drop', { dataTransfer: transfer })
  }

  it('that is a report becomes a session and opens', async () => {
    const { page, faults } = await open()
    await drop(page, 'mine & yours.ncu-rep', await readFile(report))
    await page.waitForURL((url) => url.hash.includes('/session/imported-mine-yours-'))
    await page.locator('tr[data-rung]').first().waitFor()
    expect(faults).toEqual([])
  })

  it('that is a report from another machine shows the measured GPU', async () => {
    const { page, faults } = await open()
    const sample = recording()
    sample.session.target = { kind: 'live', name: 'local' }
    await drop(page, 'theirs.html', Buffer.from(reportHtml([sample], {}, template, noPrivates)))
    await page.getByText(/^Measured on NVIDIA H200, /).waitFor()
    await expect.poll(() => page.getByText(/^Live, /).count()).toBe(0)
    expect(faults).toEqual([])
  })

  it('is imported and opened on any screen', async () => {
    const { page, faults } = await open()
    await page.goto(`${harness.origin}/#/doctor`)
    await page.getByRole('heading', { name: 'This machine' }).waitFor()
    await drop(page, 'elsewhere.ncu-rep', await readFile(report))
    await page.waitForURL((url) => url.hash.includes('/session/imported-elsewhere-'))
    expect(faults).toEqual([])
  })

  it('that is not a report is rejected with the parser’s message', async () => {
    const { page } = await open()
    await drop(page, 'cat<img src=x>.jpg', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 1, 2, 3]))
    const alert = page.getByRole('alert')
    await alert.waitFor()
    await expect
      .poll(() => alert.innerText())
      .toContain('cat<img src=x>.jpg is neither an ncu report nor a text file.')
    // The error appears next to the button, not below the last session.
    const boxOf = async (of: Locator) => (await of.boundingBox())!
    const button = await boxOf(page.getByRole('button', { name: 'Import…' }))
    const { y } = await boxOf(alert)
    expect(y - button.y).toBeLessThan(60)
    await expect.poll(() => alert.innerText()).not.toContain('kernel-ladder-upload')
    expect(await readdir(store)).toEqual([imported])
  })

  it('can be chosen in a dialog instead of being dropped', async () => {
    const { page } = await open()
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Import…' }).click()
    await (await chooser).setFiles(report)
    await page.waitForURL((url) => /imported-launches-two-rungs-.*ladder$/.test(url.hash))
    // The row of the slowest kernel is expanded.
    const first = page.locator('tr[data-rung]').first()
    await first.locator('[aria-expanded="true"]').waitFor()
    // These kernels are not steps of a ladder, so there is no next step.
    await page.getByRole('link', { name: 'Compare', exact: true }).click()
    const next = page.getByRole('button', { name: 'Next step' })
    await expect.poll(() => next.isDisabled()).toBe(true)
  })
})

it("a ladder's history charts the rung whose time changed, and shows when and why it changed", async () => {
  const { ref } = (await harness.core.call('sessions.list', {})).find(
    ({ kind, ladder }) => kind === 'recorded' && ladder.id === 'gemm-fp32',
  )!
  const session = await harness.core.call('sessions.get', { ref })
  const own = session.rungs.filter(({ id }) => ['01_naive', '02_coalesced'].includes(id))
  for (let day = 0; day < 20; day += 1) {
    const folder = join(store, `day-${String(day).padStart(2, '0')}`)
    await mkdir(folder, { recursive: true })
    const rungs = own.map((rung) => {
      const slower = rung.id === '02_coalesced' && day >= 11 ? 1.03 : 1
      const medianMs = rung.timing!.medianMs * slower * (1 + 0.002 * Math.sin(day * 12.9898))
      return { ...rung, timing: { ...rung.timing, medianMs } }
    })
    const createdAt = new Date(Date.UTC(2026, 0, 1 + day)).toISOString()
    const target = { kind: 'live', name: 'local' }
    const text = JSON.stringify({ ...session, target, createdAt, rungs })
    await writeFile(join(folder, 'session.json'), text)
  }
  const { page, faults } = await harness.open('/sessions')
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('heading', { name: '02_coalesced Coalesced' }).waitFor()
  await page
    .getByText(/from day-11 on\. The rung’s source did not change at this point\./)
    .first()
    .waitFor()
  await page.locator('.drawing canvas, .drawing svg').first().waitFor()
  await page.locator('[aria-label*="20 sessions"]').waitFor()
  await page.getByText('Table', { exact: true }).click()
  await expect.poll(() => page.locator('table tbody tr').count()).toBe(20)
  await page
    .getByRole('combobox', { name: 'Rung', exact: true })
    .selectOption({ label: '01_naive Naive' })
  await page.getByRole('heading', { name: '01_naive Naive' }).waitFor()
  await expect.poll(() => page.getByText(/from day-11 on/).count()).toBe(0)
  expect(await seriousFaults(page)).toEqual([])
  expect(faults).toEqual([])
})
