/**
 * Tests drafts that the user types into a page. Drafts survive a reload and edits in another tab. A
 * verdict applies only to the code that was checked.
 */
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { fakeMachine } from '../services/support'
import { startHarness, type Harness } from './support'

let harness: Harness | undefined
afterEach(async () => {
  await harness?.stop()
  harness = undefined
})

const editor = (page: Page) => page.locator('.cm-content')
const codeTab = (page: Page) => page.getByRole('tab', { name: /^Code/ })

async function typeFirst(page: Page, line: string): Promise<void> {
  await editor(page).focus()
  await page.keyboard.press('Control+Home')
  await page.keyboard.insertText(`${line}\n`)
}
const textOf = (page: Page) => editor(page).innerText()

async function lab(): Promise<Page> {
  const { setup } = await fakeMachine(['nvidia-smi', 'ncu', 'compute-sanitizer'])
  harness = await startHarness(setup.machine)
  const { page } = await harness.open('/labs/01-coalescing')
  await codeTab(page).click()
  await editor(page).waitFor()
  return page
}

describe('the code in a lab', () => {
  it('survives a reload right after the last keystroke, like a prediction', async () => {
    const page = await lab()
    await page.getByRole('tab', { name: /^Predict/ }).click()
    const sectors = page.getByRole('group', { name: /^Sectors per global load/ })
    // Abort the save, so that the prediction does not reach the core before the reload.
    await page.route('**/rpc/labs.save', (route) => route.abort())
    await sectors.getByLabel('down').check()
    await codeTab(page).click()
    await typeFirst(page, '// the last words')
    await page.reload()
    await page.unroute('**/rpc/labs.save')
    await page.reload()
    await codeTab(page).click()
    await expect.poll(() => textOf(page)).toContain('// the last words')
    await page.getByRole('tab', { name: /^Predict/ }).click()
    await expect.poll(() => sectors.getByLabel('down').isChecked()).toBe(true)
    await expect
      .poll(() => harness!.core.call('labs.get', { ref: '01-coalescing' }))
      .toMatchObject({
        draft: expect.stringContaining('// the last words'),
        answers: { predictions: { 'predict-sectors': { direction: 'down' } } },
      })
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
  })

  it('that another tab saved is not overwritten until the user decides', async () => {
    const page = await lab()
    const { page: other } = await harness!.open('/labs/01-coalescing', { locale: 'en-GB' })
    await codeTab(other).click()
    await editor(other).waitFor()
    const draft = async () => (await harness!.core.call('labs.get', { ref: '01-coalescing' })).draft
    await typeFirst(page, '// from the first tab')
    await expect.poll(draft).toContain('// from the first tab')
    await typeFirst(other, '// from the second tab')
    const conflict = other.getByRole('alert').filter({ hasText: 'Another tab has saved' })
    await conflict.waitFor()
    expect(await draft()).toContain('// from the first tab')
    await conflict.getByRole('button', { name: 'Save mine' }).click()
    await expect.poll(draft).toContain('// from the second tab')
    await typeFirst(page, '// again')
    const mine = page.getByRole('alert').filter({ hasText: 'Another tab has saved' })
    await mine.getByRole('button', { name: 'Use the other version' }).click()
    await expect.poll(() => textOf(page)).toContain('// from the second tab')
    await mine.waitFor({ state: 'detached' })
  })

  it('is checked once despite two clicks, and the verdict mentions later changes to the code', async () => {
    const page = await lab()
    let checks = 0
    await page.route('**/rpc/labs.check', async (route) => {
      checks += 1
      await new Promise((done) => setTimeout(done, 300))
      await route.continue()
    })
    await typeFirst(page, '// judged')
    const check = page.getByRole('button', { name: 'Check', exact: true })
    await check.evaluate((button: HTMLButtonElement) => {
      button.click()
      button.click()
    })
    await typeFirst(page, '// typed while it was judged')
    await page.getByText('You have changed the code since this check.').waitFor()
    expect(checks).toBe(1)
    const { attempts } = await harness!.core.call('labs.get', { ref: '01-coalescing' })
    const { source } = await harness!.core.call('labs.attempt', {
      ref: '01-coalescing',
      id: attempts.at(-1)!.id,
    })
    expect(source).toContain('// judged')
    expect(source).not.toContain('// typed while')
  })
})

describe('a copy of a rung', () => {
  it('survives a reload right after the last keystroke', async () => {
    const { setup } = await fakeMachine(['nvcc', 'nvidia-smi', 'ncu'])
    harness = await startHarness(setup.machine)
    const ref = encodeURIComponent('recorded:gemm-fp32-h200-1024')
    const { page } = await harness.open(`/session/${ref}/edit/05_thread_tile_2d`)
    await editor(page).waitFor()
    await typeFirst(page, '// the last words')
    await page.reload()
    await editor(page).waitFor()
    await expect.poll(() => textOf(page)).toContain('// the last words')
    await page.getByText(/^Saved at/).waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
  })
})

describe('if the connection is lost during a check', () => {
  /** Blocks all calls to the core and returns a function that allows them again. */
  async function cut(page: Page): Promise<() => Promise<void>> {
    await page.route('**/rpc/**', (route) => route.abort('connectionreset'))
    return () => page.unroute('**/rpc/**')
  }
  const lost = (page: Page) =>
    page.getByRole('alert').filter({ hasText: 'server could not be reached' })
  const draftOfLab = async () =>
    (await harness!.core.call('labs.get', { ref: '01-coalescing' })).draft

  it('a lab has no verdict but keeps its unsaved code', async () => {
    const page = await lab()
    const restore = await cut(page)
    await typeFirst(page, '// typed without a connection')
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await expect.poll(() => lost(page).count()).toBe(2)
    await page.getByRole('tab', { name: /^Result/ }).click()
    await page.getByRole('heading', { name: 'Nothing checked yet' }).waitFor()
    await restore()
    await page.reload()
    await codeTab(page).click()
    await expect.poll(() => textOf(page)).toContain('// typed without a connection')
    await expect.poll(draftOfLab).toContain('// typed without a connection')
  })

  it('the result is still shown if only the response was lost', async () => {
    const page = await lab()
    await typeFirst(page, '// judged')
    await page.route('**/rpc/labs.check', async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    })
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await page.getByRole('tab', { name: /^Attempts/, selected: false }).waitFor()
    await expect
      .poll(() => page.getByRole('tab', { name: /^Result/ }).getAttribute('aria-selected'))
      .toBe('true')
    await expect.poll(() => lost(page).count()).toBe(0)
    expect(await draftOfLab()).toContain('// judged')
  })

  it('a copy is reported as not built but keeps its code', async () => {
    const { setup } = await fakeMachine(['nvcc', 'nvidia-smi', 'ncu'])
    harness = await startHarness(setup.machine)
    const ref = encodeURIComponent('recorded:gemm-fp32-h200-1024')
    const { page } = await harness.open(`/session/${ref}/edit/05_thread_tile_2d`)
    await editor(page).waitFor()
    const restore = await cut(page)
    await typeFirst(page, '// typed without a connection')
    await page.getByRole('button', { name: 'Build', exact: true }).click()
    await lost(page).filter({ hasText: 'The copy could not be built' }).waitFor()
    await restore()
    await page.reload()
    await editor(page).waitFor()
    await expect.poll(() => textOf(page)).toContain('// typed without a connection')
    await page.getByText(/^Saved at/).waitFor()
  })
})
