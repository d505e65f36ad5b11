/** A ladder folder in the UI: opened, trusted, edited in place, built, watched. The real core over fake tools. */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { fakeMachine, rungText, sumsFolder, sumsYaml } from '../services/support'
import { seriousFaults, startHarness, type Harness } from './support'

let harness: Harness | undefined
afterEach(async () => {
  await harness?.stop()
  harness = undefined
})

const folderRoute = (path: string) => `/run/folder?path=${encodeURIComponent(path)}`
async function opened(options: Parameters<typeof sumsFolder>[1] = {}, without: string[] = []) {
  const machine = await fakeMachine(without)
  const path = await sumsFolder(machine, options)
  harness = await startHarness()
  const { page, faults } = await harness.open(folderRoute(path))
  return { machine, path, page, faults }
}
const file = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Files' }).getByRole('button', { name })
const editor = (page: Page) => page.locator('.cm-content')
async function replaceText(page: Page, text: string): Promise<void> {
  await editor(page).click()
  await page.keyboard.press('Control+a')
  // Chromium would give what is typed over a selection an inline style, which the page's policy reports.
  await page.keyboard.press('Delete')
  await page.keyboard.insertText(text)
}
const row = (page: Page, rung: string) => page.locator(`tr[data-watched="${rung}"]`)

describe('a ladder folder', () => {
  it('is opened by its path, trusted, and shows what a save does to a rung’s time', async () => {
    const machine = await fakeMachine()
    const path = await sumsFolder(machine, { trusted: false })
    harness = await startHarness()
    const { page, faults } = await harness.open('/run/folders')
    await page.getByLabel('Path of the folder').fill(path)
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.getByText('This ladder did not come with the program').waitFor()
    expect(await seriousFaults(page)).toEqual([])
    await page.getByLabel('I have read these files.').check()
    await page.getByRole('button', { name: 'Trust this folder' }).click()

    await page.getByRole('button', { name: 'Watch', exact: true }).click()
    await row(page, 'b').getByText('new').waitFor()
    await file(page, 'b.cu').click()
    await replaceText(page, rungText('b', '// faster', '06_float4'))
    await page.keyboard.press('Control+s')
    await row(page, 'b').getByText('faster').waitFor()
    expect(await row(page, 'b').innerText()).toMatch(/×0\.\d+/)
    expect(await readFile(join(path, 'b.cu'), 'utf8')).toContain('// faster')
    expect(await seriousFaults(page)).toEqual([])
    // From an editor outside, too; and what is on the screen follows the file.
    await writeFile(join(path, 'b.cu'), rungText('b', '// slower'))
    await row(page, 'b').getByText('slower').waitFor()
    await editor(page).getByText('// slower').waitFor()
    await page.getByRole('link', { name: 'Open session' }).click()
    await page.locator('tr[data-rung="b"]').waitFor()
    expect(faults).toEqual([])
  })

  it('asks which text is meant where another program wrote the file meanwhile', async () => {
    const { path, page } = await opened()
    await file(page, 'b.cu').click()
    await replaceText(page, 'mine\n')
    await writeFile(join(path, 'b.cu'), 'theirs\n')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Another program has changed').waitFor()
    expect(await readFile(join(path, 'b.cu'), 'utf8')).toBe('theirs\n')
    expect(await seriousFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Overwrite' }).click()
    await page.getByText('Another program has changed').waitFor({ state: 'detached' })
    await expect.poll(() => readFile(join(path, 'b.cu'), 'utf8')).toBe('mine\n')
    await replaceText(page, 'mine again\n')
    await writeFile(join(path, 'b.cu'), 'theirs again\n')
    await page.keyboard.press('Control+s')
    await page.getByRole('button', { name: 'Reload' }).click()
    await editor(page).getByText('theirs again').waitFor()
  })

  it('shows faults and the compiler’s messages at their lines, without a GPU', async () => {
    const yaml = sumsYaml.replace('summary:', 'sumary:')
    const { path, page, faults } = await opened({ yaml }, ['nvidia-smi', 'ncu'])
    await page.getByRole('button', { name: 'ladder.yaml:4:1' }).click()
    await page.locator('.cm-lint-marker-error').first().waitFor()
    await replaceText(page, sumsYaml)
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { name: 'Sums' }).waitFor()
    await file(page, 'b.cu').click()
    await replaceText(page, rungText('b', 'int x = undeclared;'))
    await page.keyboard.press('Control+Enter')
    await page.getByText('identifier "undeclared" is undefined').waitFor()
    await page.getByRole('button', { name: 'b.cu:5' }).click()
    await page.locator('.cm-lint-marker-error').first().waitFor()
    expect(await seriousFaults(page)).toEqual([])
    expect(await readFile(join(path, 'b.cu'), 'utf8')).toContain('undeclared')
    expect(faults).toEqual([])
  })

  it('is listed, and shown as gone where it is', async () => {
    const { machine, path, page } = await opened()
    await editor(page).waitFor()
    await rename(path, join(machine.dir, 'away'))
    await page.getByRole('link', { name: 'Ladder folders' }).click()
    await page.getByText('no longer exists').waitFor()
    expect(await seriousFaults(page)).toEqual([])
    await page.getByRole('button', { name: `Remove ${path} from this list` }).click()
    await page.getByText('No folders opened yet').waitFor()
  })
})

it('is run from the form, at a size of its own and with its scalars', async () => {
  const { machine, path, page } = await opened()
  await page.getByRole('link', { name: 'Run…' }).click()
  expect(await page.locator('.setup select').first().inputValue()).toBe(path)
  expect(await page.getByLabel('Size (N)').locator('option').allInnerTexts()).toEqual([
    'N = 64',
    'N = 128',
    'Custom…',
  ])
  await page.getByLabel('Size (N)').selectOption({ label: 'N = 128' })
  await page.getByLabel('scale').fill('x')
  await page.getByText('A scalar is not a valid value of its type.').waitFor()
  await page.getByLabel('scale').fill('0.5')
  await page.locator('select', { hasText: 'Card: ' }).selectOption('none')
  expect(await seriousFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('heading', { name: 'Complete' }).waitFor()
  const measured = machine.calls('runner').find((words) => words.includes('measure'))!
  expect(measured).toContain('x:f32:in:128:iota')
  await page.getByRole('link', { name: 'Open session' }).click()
  await page.locator('tr[data-rung="c"]').waitFor()
  // Its rungs are edited in the folder, as long as that is there.
  const details = page.locator('tr[data-rung="c"]').getByRole('button', { name: 'Details' })
  await details.click()
  await page.getByRole('link', { name: 'Edit c.cu' }).click()
  await editor(page).getByText('// @rung c').waitFor()
  await rename(path, join(machine.dir, 'away'))
  await page.goBack()
  await details.click()
  await page.getByText('There is no ladder sums in').waitFor()
})
