/** A student's path through a lab, with the real core over fake tools; and a replay without a GPU. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { labText } from '../services/labs/support'
import { fakeMachine } from '../services/support'
import { seriousFaults } from './axe'
import { englishOn } from './english-left'
import { startHarness, type Harness } from './support'

let harness: Harness | undefined
afterEach(async () => {
  await harness?.stop()
  harness = undefined
})

const hostile = `
<script>window.foreign = 1</script> <img src=x onerror="window.foreign = 1"> [a](javascript:alert(1))
`

/** A lab from elsewhere over the fakes: its folder. */
async function foreignLab(dir: string, kernelsDir: string): Promise<string> {
  const folder = join(dir, 'elsewhere', 'coalesce')
  await mkdir(folder, { recursive: true })
  const text = async (rung: string): Promise<string> =>
    `${await readFile(join(kernelsDir, `gemm/${rung}.cu`), 'utf8')}// like: ${rung}\n`
  await writeFile(
    join(folder, 'lab.md'),
    `${labText}${hostile}\n![warps](warp.svg)\n\n$$\\sum_i a_i b_i$$\n`,
  )
  await writeFile(
    join(folder, 'warp.svg'),
    '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="40"><script>top.foreign = 1</script><rect width="200" height="40" fill="#2f9d94"/></svg>',
  )
  await writeFile(join(folder, 'starter.cu'), await text('01_naive'))
  await writeFile(join(folder, 'solution.cu'), await text('02_coalesced'))
  return folder
}

const tab = (page: Page, name: string) => page.getByRole('tab', { name: new RegExp(`^${name}`) })
const editor = (page: Page) => page.getByRole('textbox', { name: 'Your kernel, lab.cu' })

/** Writes a line above all others, as a person would; it plays a recorded rung, or breaks the build. */
async function typeFirst(page: Page, line: string): Promise<void> {
  await editor(page).focus()
  await page.keyboard.press('Control+Home')
  await page.keyboard.type(line)
  await page.keyboard.press('Enter')
}

describe('a student', () => {
  it('is shown a lab from elsewhere in full, predicts, mends an error, measures, compares and passes', async () => {
    const machine = await fakeMachine()
    const folder = await foreignLab(machine.dir, machine.kernelsDir)
    harness = await startHarness()
    const { page, faults } = await harness.open('/labs')
    await page.getByLabel('Folder of a lab from elsewhere').fill(folder)
    await page.getByRole('button', { name: 'Add' }).click()

    await page.getByRole('heading', { name: 'This lab did not come with the program' }).waitFor()
    expect(await seriousFaults(page)).toEqual([])
    expect(await page.locator('article pre').count()).toBe(4)
    const allow = page.getByRole('button', { name: /^Allow it/ })
    expect(await allow.isDisabled()).toBe(true)
    await page.getByLabel('I have read it').check()
    await allow.click()

    // Read: nothing of the author's text is markup, formulas are, pictures are images.
    await page.getByRole('heading', { name: 'Coalesced access' }).waitFor()
    await page.locator('math').first().waitFor()
    expect(
      await page.getByAltText('warps').evaluate((image: HTMLImageElement) => image.naturalWidth),
    ).toBe(200)
    expect(
      await page.locator('.text script, .text img[onerror], .text a[href^="javascript"]').count(),
    ).toBe(0)
    expect(await page.evaluate(() => 'foreign' in window)).toBe(false)

    // Predict.
    const prediction = page.getByRole('group', { name: /^Time/ })
    await prediction.getByLabel('down').check()
    await prediction.getByLabel('new / old').fill('0.5')
    await page.getByRole('textbox').last().fill('7.76')
    await page.keyboard.press('Tab')

    // Edit, with an error at its line first; then mend it.
    await tab(page, 'Code').click()
    await editor(page).waitFor()
    await typeFirst(page, 'int broken = undeclared;')
    await page.getByRole('button', { name: 'Build' }).click()
    await page.getByText('It does not compile').waitFor()
    expect(await page.locator('.diagnostics').innerText()).toMatch(
      /identifier "undeclared" is undefined/,
    )
    expect(await seriousFaults(page)).toEqual([])
    await editor(page).focus()
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Delete')
    await typeFirst(page, '// like: 02_coalesced')
    await page.getByRole('button', { name: 'Build' }).click()
    await page.getByText(/registers a thread/).waitFor()

    // Check, and reflect.
    await page.getByText('This machine', { exact: true }).click()
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('heading', { name: 'Passed' }).waitFor({ timeout: 30_000 })
    const result = await page.getByRole('tabpanel').innerText()
    expect(result).toMatch(/You said\s+down, 0\.5 ×/)
    expect(result).toMatch(/FMA pipe utilization went from/)
    expect(result).toContain('It was ten times as fast.')
    expect(result).toContain('7.76 is right on NVIDIA H200')
    expect(await seriousFaults(page)).toEqual([])

    // Kept, with its code; predictions are sealed by it.
    await tab(page, 'Predict').click()
    expect(await prediction.getByLabel('down').isDisabled()).toBe(true)
    await page.reload()
    await tab(page, 'Attempts').click()
    expect(
      await page
        .getByRole('list', { name: 'Attempts, oldest first' })
        .getByRole('listitem')
        .count(),
    ).toBe(1)

    // What it came to is said in the reader's language; the author's text stays the author's.
    for (const locale of ['ko', 'zh-CN']) {
      const { page: other } = await harness.open(new URL(page.url()).hash.slice(1), { locale })
      await other.getByRole('tab').nth(2).click()
      await other.locator('.result .checks').first().waitFor()
      expect(await other.locator('.result .why').count()).toBeGreaterThan(0)
      const authored = [
        hostile.trim(),
        'It was ten times as fast.',
        'How many blocks of 32 by 32 does an SM get?',
      ]
      expect(await englishOn(other, authored)).toEqual([])
      await other.context().close()
    }

    await tab(page, 'Result').click()
    await page.getByRole('link', { name: /^Compare with 01_naive/ }).click()
    await page.getByRole('rowheader', { name: /^FMA pipe utilization/ }).waitFor()
    expect(page.url()).toMatch(/compare\/01_naive\/submission$/)
    await page.goBack()

    await page.getByRole('link', { name: 'Labs' }).first().click()
    const row = page.getByRole('listitem').filter({ hasText: 'Coalesced access' })
    expect(await row.innerText()).toMatch(/passed/)
    expect(faults).toEqual([])
  })

  it('goes the same way by keyboard alone, with a draft that outlives the page, hints and the solution', async () => {
    const machine = await fakeMachine()
    const folder = await foreignLab(machine.dir, machine.kernelsDir)
    harness = await startHarness()
    const { ref } = await harness.core.call('labs.add', { folder })
    const { contentHash } = await harness.core.call('labs.get', { ref })
    await harness.core.call('labs.trust', { ref, contentHash })
    const { page, faults } = await harness.open(`/labs/${encodeURIComponent(ref)}`)

    await tab(page, 'Predict').focus()
    await page.keyboard.press('ArrowRight')
    expect(await tab(page, 'Code').getAttribute('aria-selected')).toBe('true')
    await editor(page).waitFor()
    await typeFirst(page, '// a draft')
    await page.keyboard.press('Control+S')
    await page.getByText(/registers a thread/).waitFor()
    await page.reload()
    await tab(page, 'Code').focus()
    await page.keyboard.press('Enter')
    await editor(page).waitFor()
    expect(await editor(page).innerText()).toContain('// a draft')

    await editor(page).focus()
    await page.keyboard.press('Control+Enter')
    await page
      .getByRole('heading', { name: /^(Not yet|Cannot be checked)/ })
      .waitFor({ timeout: 30_000 })

    const hint = page.getByRole('button', { name: 'Hint 1 of 2' })
    await hint.focus()
    await page.keyboard.press('Enter')
    await page.getByText('Look at threadIdx.').waitFor()
    expect(await page.getByText('Now look at col.').count()).toBe(0)
    await page.getByRole('button', { name: 'Show the solution' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('or when you ask once more').waitFor()
    await page.getByRole('button', { name: 'Show the solution all the same' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Solution' }).waitFor()
    expect(faults).toEqual([])
  })

  it('without a GPU builds, and is told why the rest is unavailable', async () => {
    const machine = await fakeMachine(['nvidia-smi', 'ncu', 'compute-sanitizer'])
    const folder = await foreignLab(machine.dir, machine.kernelsDir)
    harness = await startHarness()
    const { ref } = await harness.core.call('labs.add', { folder })
    const { contentHash } = await harness.core.call('labs.get', { ref })
    await harness.core.call('labs.trust', { ref, contentHash })
    const { page } = await harness.open(`/labs/${encodeURIComponent(ref)}`)
    await tab(page, 'Code').click()
    await editor(page).waitFor()
    await page.getByRole('button', { name: 'Check' }).click()
    await page
      .getByRole('heading', { name: 'Cannot be checked here in full' })
      .waitFor({ timeout: 30_000 })
    expect(await page.getByRole('tabpanel').innerText()).toMatch(
      /The outcome of this lab’s starter was not recorded/,
    )
  })
})
