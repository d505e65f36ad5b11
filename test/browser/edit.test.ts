/** A copy of a rung edited in the UI: the real core and CodeMirror over fake tools. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { keptNvcc } from '../kept-nvcc'
import { fakeMachine, root, setEnv, tempDir } from '../services/support'
import { seriousFaults, startHarness, type Harness, type OpenPage } from './support'

let harness: Harness | undefined
afterEach(async () => {
  await harness?.stop()
  harness = undefined
})

const session = 'recorded:gemm-fp32-h200-1024'
const rung = '05_thread_tile_2d'
const route = `/session/${encodeURIComponent(session)}/edit/${rung}`
/** What lets the fake tools answer as they did for the rung. */
const like = `// like: ${rung}`

async function open(): Promise<OpenPage> {
  harness = await startHarness()
  const opened = await harness.open(route)
  await opened.page.locator('.cm-content').waitFor()
  return opened
}
const editor = (page: Page) => page.locator('.cm-content')
async function append(page: Page, text: string): Promise<void> {
  await editor(page).click()
  await page.keyboard.press('Control+End')
  await page.keyboard.insertText(`\n${text}`)
}
const saved = (page: Page) => page.locator('.save.saved').waitFor()

describe('the editor', () => {
  it('keeps what was typed over a restart of the program, and throws it away when asked to', async () => {
    await fakeMachine()
    const { page, faults } = await open()
    await append(page, '// mine')
    await saved(page)
    expect(faults).toEqual([])
    await harness!.stop()

    const again = await open()
    await again.page.keyboard.press('Control+End')
    await editor(again.page).click()
    await again.page.keyboard.press('Control+End')
    await again.page.getByText('// mine').waitFor()
    await again.page.getByRole('button', { name: 'Start over' }).click()
    await again.page.getByRole('button', { name: 'Discard' }).click()
    await again.page.getByText('No changes yet').waitFor()
    expect(await harness!.core.call('drafts.list', {})).toEqual([])
  })

  it('builds with a key and shows the compiler’s words at their lines', async () => {
    await fakeMachine()
    const { page, faults } = await open()
    await editor(page).click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.insertText('// @rung other\n')
    await page.keyboard.press('Control+Enter')
    await page.getByText('Does not build').waitFor()
    await page.getByText('@rung is repeated').first().waitFor()
    const line = page.locator('.result .place').first()
    await line.click()
    await page.locator('.cm-lint-marker-error').first().waitFor()
    expect(await page.locator('.cm-lintRange-error').count()).toBeGreaterThan(0)
    expect(await seriousFaults(page)).toEqual([])
    expect(faults).toEqual([])
  })

  it('runs the copy after its rung, as a new session', async () => {
    await fakeMachine()
    const { page } = await open()
    await append(page, like)
    await page.keyboard.press('Control+Enter')
    await page.getByText('Builds for sm_90').waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('link', { name: 'Open session' }).click()
    await page.locator(`tr[data-rung="${rung}-edit1"]`).waitFor()
    const rungs = await page
      .locator('tr[data-rung]')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-rung')))
    expect(rungs.indexOf(`${rung}-edit1`)).toBe(rungs.indexOf(rung) + 1)
  })

  it('without a GPU builds and says that it cannot run', async () => {
    await fakeMachine(['nvidia-smi'])
    const { page } = await open()
    await page.getByText('edited and built, but not run').waitFor()
    expect(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true)
    await append(page, like)
    await page.getByRole('button', { name: 'Build' }).click()
    await page.getByText('Builds for sm_90').waitFor()
  })

  it('is reached from the rung’s details', async () => {
    await fakeMachine()
    harness = await startHarness()
    const { page } = await harness.open(`/session/${encodeURIComponent(session)}/ladder`)
    await page.getByRole('button', { name: 'Details of 2D thread tile', exact: true }).click()
    await page.getByRole('link', { name: 'Edit a copy' }).click()
    await page.getByRole('heading', { name: 'Copy of 2D thread tile' }).waitFor()
  })
})

describe('what a copy counts', () => {
  it('is shown as one types, beside its original, with the machine code of each line', async () => {
    setEnv({ KERNEL_LADDER_DATA: await tempDir() })
    // What test/services/look.test.ts had built.
    const kept = await keptNvcc('look', { artefacts: true })
    harness = await startHarness(await kept.machine())
    const opened = await harness.open(
      `/session/${encodeURIComponent(session)}/edit/10_conflict_free`,
      { width: 1440 },
    )
    const { page, faults } = opened
    const row = page.locator('.counters tr', { hasText: 'Bank conflicts, shared stores' })
    await row.waitFor()
    expect(await row.locator('td').allInnerTexts()).toEqual(['0', '0'])
    expect(await page.locator('.counters .chip').innerText()).toBe('emulated')

    const line = (await page.locator('.cm-line').allInnerTexts()).findIndex((text) =>
      text.includes('aTile[BK][BM + 4]'),
    )
    expect(line).toBeGreaterThan(0)
    await page.keyboard.press('Tab')
    await page.locator('.cm-line').nth(line).click()
    await page.keyboard.press('Home')
    for (const _ of '__shared__ __align__(16) float aTile[BK][BM')
      await page.keyboard.press('ArrowRight')
    for (const _ of ' + 4') await page.keyboard.press('Delete')
    await row.locator('.changed').waitFor()
    expect(await row.locator('td').allInnerTexts()).toEqual(['4.10 k', '0'])

    await page.getByRole('button', { name: 'Source and machine code' }).click()
    const chosen = page.locator('.sass-list [role=option].cursor')
    await chosen.waitFor()
    // Down to where it is stored to; CodeMirror has only the lines in view.
    await editor(page).focus()
    for (let step = 0; step < 50; step++) await page.keyboard.press('ArrowDown')
    await page.locator('.sass-list .linked', { hasText: 'STS' }).first().waitFor()
    expect(await page.locator('.cm-band').count()).toBeGreaterThan(5)
    expect(await seriousFaults(page)).toEqual([])
    expect(faults).toEqual([])
  })
})

describe('the editor of the user', () => {
  const place = `/session/${encodeURIComponent('recorded:gemm-fp32-h200-4096-deep')}/compare/05_thread_tile_2d/06_float4`

  async function line(setting: string): Promise<OpenPage> {
    setEnv({ KERNEL_LADDER_EDITOR: setting })
    harness = await startHarness()
    const opened = await harness.open(place)
    await opened.page.getByRole('button', { name: 'SASS' }).waitFor()
    await opened.page.keyboard.press('s')
    await opened.page.getByRole('button', { name: /Next line/ }).waitFor()
    return opened
  }
  const button = (page: Page) => page.getByRole('button', { name: 'Open in editor' })

  it('opens at the line whose machine code is looked at', async () => {
    const asked = join(await tempDir(), 'asked')
    const { page, faults } = await line(`cp {file} ${asked}`)
    await button(page).click()
    const source = await readFile(join(root, 'cuda-kernels/gemm/06_float4.cu'), 'utf8')
    await expect.poll(() => readFile(asked, 'utf8').catch(() => '')).toBe(source)
    expect(faults).toEqual([])
  })

  it('is said to be missing where its command is', async () => {
    const { page } = await line('/nowhere/editor')
    await button(page).click()
    await page.getByText('The editor /nowhere/editor was not found.').waitFor()
    expect(await seriousFaults(page)).toEqual([])
  })

  it('is not offered where none is set', async () => {
    const { page } = await line('')
    expect(await button(page).count()).toBe(0)
  })
})
