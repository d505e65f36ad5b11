/**
 * Tests how a student completes a lab, with the real core and fake tools. Also tests a replay
 * without a GPU.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { labText } from '../services/labs/support'
import { fakeMachine } from '../services/support'
import { seriousFaults, englishOn, startHarness, type Harness } from './support'

let harness: Harness | undefined
afterEach(async () => {
  await harness?.stop()
  harness = undefined
})

const hostile = `
<script>window.foreign = 1</script> <img src=x onerror="window.foreign = 1"> [a](javascript:alert(1))
`

/** Creates a third-party lab for the fake tools and returns its folder. */
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

/**
 * Inserts a line at the top of the editor. The line selects the recorded rung that the fake tools
 * return, or breaks the build.
 */
async function typeFirst(page: Page, line: string): Promise<void> {
  await editor(page).focus()
  await page.keyboard.press('Control+Home')
  await page.keyboard.type(line)
  await page.keyboard.press('Enter')
}

describe('a student', () => {
  it('reads a third-party lab in full, predicts, fixes an error, measures, compares, and passes', async () => {
    const machine = await fakeMachine()
    const folder = await foreignLab(machine.dir, machine.kernelsDir)
    harness = await startHarness(machine.setup.machine)
    const { page, faults } = await harness.open('/labs')
    await page.getByLabel('Folder of a third-party lab').fill(folder)
    await page.getByRole('button', { name: 'Add' }).click()

    await page.getByRole('heading', { name: 'This lab did not come with the program' }).waitFor()
    expect(await seriousFaults(page)).toEqual([])
    await expect.poll(() => page.locator('article pre').count()).toBe(4)
    const allow = page.getByRole('button', { name: /^Allow it/ })
    await expect.poll(() => allow.isDisabled()).toBe(true)
    await page.getByLabel('I have read it').check()
    await allow.click()

    // The Read tab renders formulas and pictures, but no HTML from the author.
    await page.getByRole('heading', { name: 'Coalesced access' }).waitFor()
    await page.locator('math').first().waitFor()
    expect(
      await page.getByAltText('warps').evaluate((image: HTMLImageElement) => image.naturalWidth),
    ).toBe(200)
    expect(
      await page.locator('.text script, .text img[onerror], .text a[href^="javascript"]').count(),
    ).toBe(0)
    expect(await page.evaluate(() => 'foreign' in window)).toBe(false)

    const prediction = page.getByRole('group', { name: /^Time/ })
    await prediction.getByLabel('down').check()
    await prediction.getByLabel('new / old').fill('0.5')
    await page.getByRole('textbox').last().fill('7.76')
    await page.keyboard.press('Tab')

    // Edit the code, first with a compile error and then without an error.
    await tab(page, 'Code').click()
    await editor(page).waitFor()
    await typeFirst(page, 'int broken = undeclared;')
    await page.getByRole('button', { name: 'Build' }).click()
    await page.getByText('The code does not compile').waitFor()
    await expect
      .poll(() => page.locator('.diagnostics').innerText())
      .toMatch(/identifier "undeclared" is undefined/)
    expect(await seriousFaults(page)).toEqual([])
    await editor(page).focus()
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Delete')
    await typeFirst(page, '// like: 02_coalesced')
    await page.getByRole('button', { name: 'Build' }).click()
    await page.getByText(/registers per thread/).waitFor()

    await page.getByText('This machine', { exact: true }).click()
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('heading', { name: 'Passed', exact: true }).waitFor()
    const result = await page.getByRole('tabpanel').innerText()
    expect(result).toMatch(/Predicted\s+down, 0\.5 ×/)
    expect(result).toMatch(/FMA pipe utilization went from/)
    expect(result).toContain('It was ten times as fast.')
    expect(result).toContain('7.76 is correct on NVIDIA H200')
    expect(await seriousFaults(page)).toEqual([])

    // The attempt is stored with its code, and predictions are now locked.
    await tab(page, 'Predict').click()
    await expect.poll(() => prediction.getByLabel('down').isDisabled()).toBe(true)
    await page.reload()
    await tab(page, 'Attempts').click()
    expect(
      await page
        .getByRole('list', { name: 'Attempts, oldest first' })
        .getByRole('listitem')
        .count(),
    ).toBe(1)

    // The outcome is in the user's language, but the author's text is not translated.
    for (const locale of ['ko', 'zh-CN']) {
      const { page: other } = await harness.open(new URL(page.url()).hash.slice(1), { locale })
      await other.getByRole('tab').nth(2).click()
      await other.locator('.result .checks').first().waitFor()
      await expect.poll(() => other.locator('.result .why').count()).toBeGreaterThan(0)
      const authored = [
        hostile.trim(),
        'It was ten times as fast.',
        'How many blocks of 32 by 32 does an SM get?',
      ]
      expect(await englishOn(other, authored)).toEqual([])
      await other.close()
    }

    await tab(page, 'Result').click()
    // The result must list the same causes as the Compare screen for this pair of rungs.
    const causes = await page.locator('.result > .causes').innerText()
    expect(causes).toMatch(/\d+ %/)
    await page.getByRole('region', { name: 'What to change next' }).waitFor()
    await page.getByRole('link', { name: /^Compare with 01_naive/ }).click()
    await expect.poll(() => page.locator('section.why').innerText()).toContain(causes.slice(0, 120))
    await page.getByText(/^All \d+ metrics$/).click()
    await page.getByRole('rowheader', { name: /^FMA pipe utilization/ }).waitFor()
    expect(page.url()).toMatch(/compare\/01_naive\/submission$/)
    await page.goBack()

    await page.getByRole('link', { name: 'Labs' }).first().click()
    const row = page.getByRole('listitem').filter({ hasText: 'Coalesced access' })
    await expect.poll(() => row.innerText()).toMatch(/passed/)
    expect(faults).toEqual([])
  })

  it(
    'completes a lab with only the keyboard, including a page reload, hints, and the solution',
    { tags: ['thorough'] },
    async () => {
      const machine = await fakeMachine()
      const folder = await foreignLab(machine.dir, machine.kernelsDir)
      harness = await startHarness(machine.setup.machine)
      const { ref } = await harness.core.call('labs.add', { folder })
      const { contentHash } = await harness.core.call('labs.get', { ref })
      await harness.core.call('labs.trust', { ref, contentHash })
      const { page, faults } = await harness.open(`/labs/${encodeURIComponent(ref)}`)

      await tab(page, 'Predict').focus()
      await page.keyboard.press('ArrowRight')
      await expect.poll(() => tab(page, 'Code').getAttribute('aria-selected')).toBe('true')
      await editor(page).waitFor()
      await typeFirst(page, '// a draft')
      await page.keyboard.press('Control+S')
      await page.getByText(/registers per thread/).waitFor()
      await page.reload()
      await tab(page, 'Code').focus()
      await page.keyboard.press('Enter')
      await editor(page).waitFor()
      await expect.poll(() => editor(page).innerText()).toContain('// a draft')

      await editor(page).focus()
      await page.keyboard.press('Control+Enter')
      await page.getByRole('heading', { name: /^(Not passed yet|Cannot be checked)/ }).waitFor()

      const hint = page.getByRole('button', { name: 'Hint 1 of 2' })
      await hint.focus()
      await page.keyboard.press('Enter')
      await page.getByText('Look at threadIdx.').waitFor()
      await expect.poll(() => page.getByText('Now look at col.').count()).toBe(0)
      await page.getByRole('button', { name: 'Show the solution' }).focus()
      await page.keyboard.press('Enter')
      await page.getByText('or when you ask a second time').waitFor()
      await page.getByRole('button', { name: 'Show the solution anyway' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Solution' }).waitFor()
      expect(faults).toEqual([])
    },
  )

  it('can build without a GPU, and sees why other features are unavailable', async () => {
    const machine = await fakeMachine(['nvidia-smi', 'ncu', 'compute-sanitizer'])
    const folder = await foreignLab(machine.dir, machine.kernelsDir)
    harness = await startHarness(machine.setup.machine)
    const { ref } = await harness.core.call('labs.add', { folder })
    const { contentHash } = await harness.core.call('labs.get', { ref })
    await harness.core.call('labs.trust', { ref, contentHash })
    const { page } = await harness.open(`/labs/${encodeURIComponent(ref)}`)
    await tab(page, 'Code').click()
    await editor(page).waitFor()
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('heading', { name: 'Cannot be fully checked here' }).waitFor()
    await expect
      .poll(() => page.getByRole('tabpanel').innerText())
      .toMatch(/no machine code for the emulator/)
  })

  it('can predict, replay the recorded starter and solution, and compare without a GPU or code changes', async () => {
    const { setup } = await fakeMachine(['nvcc', 'nvidia-smi', 'ncu', 'compute-sanitizer'])
    harness = await startHarness(setup.machine)
    const { page, faults } = await harness.open('/labs/01-coalescing')
    const sectors = page.getByRole('group', { name: /^Sectors per global load/ })
    await sectors.getByLabel('down').check()
    await sectors.getByLabel('new / old').fill('0.15')
    await page.keyboard.press('Tab')

    await tab(page, 'Code').click()
    await editor(page).waitFor()
    const recorded = page.getByRole('tabpanel').locator('.recorded')
    await recorded.getByText('Recorded on NVIDIA H200').waitFor()
    await recorded.getByText(/The editor contains the starter/).waitFor()
    await typeFirst(page, '// mine')
    await recorded.getByText(/Your code is neither/).waitFor()

    // The starter reveals no answers, so the student can still change predictions.
    await recorded.getByRole('button', { name: 'The starter' }).click()
    await page.getByRole('heading', { name: 'Not passed yet' }).waitFor()
    const result = page.getByRole('tabpanel')
    await expect
      .poll(() => result.innerText())
      .toContain('Recorded on NVIDIA H200 as 01-coalescing-starter-h200')
    await expect.poll(() => result.innerText()).toMatch(/Few sectors per load\s+not yet/)
    await expect.poll(() => result.innerText()).not.toContain('What surprised the author')
    await tab(page, 'Predict').click()
    await expect.poll(() => sectors.getByLabel('down').isDisabled()).toBe(false)

    // The solution's figures are available only after the student opens the solution.
    await tab(page, 'Code').click()
    const solution = recorded.getByRole('button', { name: 'The solution' })
    await expect.poll(() => solution.isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Show the solution' }).click()
    await page.getByRole('button', { name: 'Show the solution anyway' }).click()
    await solution.click()
    await page.getByRole('heading', { name: 'Passed', exact: true }).waitFor()
    const text = await result.innerText()
    expect(text).toContain('Recorded on NVIDIA H200 as 01-coalescing-solution-h200')
    expect(text).toContain(
      'The lab counts as passed when your own code passes, on a GPU or an emulated one.',
    )
    expect(text).toMatch(
      /Sectors per global load\s+as predicted\s+Predicted\s+down, 0\.15 ×\s+Result\s+down, 0\.152 ×\s+01_naive\s+16\.5 sectors.*\s+the solution\s+2\.50 sectors/,
    )
    expect(text).toMatch(/L2 traffic went from \d+ MiB to \d+ MiB/)
    expect(text).toContain('What surprised the author')
    expect(await seriousFaults(page)).toEqual([])

    for (const locale of ['ko', 'zh-CN']) {
      const { page: other } = await harness.open('/labs/01-coalescing', { locale })
      await other.getByRole('tab').nth(1).click()
      await other.locator('.recorded').waitFor()
      await expect
        .poll(() => other.locator('.recorded').innerText())
        .not.toMatch(/Recorded|solution|starter/)
      await other.getByRole('tab').nth(2).click()
      await other.locator('.result .checks').first().waitFor()
      await expect
        .poll(() => other.locator('.result header').innerText())
        .not.toMatch(/Recorded|solution\b /)
      // The page shows the outcome, the surprise, and the first hint. The author's name is not
      // translated.
      const hints = other.locator('.help .ask button').first()
      await hints.click()
      await other.locator('.help li').first().waitFor()
      expect(await englishOn(other)).toEqual([])
      await other.close()
    }

    // The student's code is unchanged, and the lab is not marked as passed.
    await page.reload()
    await tab(page, 'Code').click()
    await editor(page).waitFor()
    await expect.poll(() => editor(page).innerText()).toContain('// mine')
    await tab(page, 'Attempts').click()
    const attempts = page.getByRole('list', { name: 'Attempts, oldest first' })
    await expect
      .poll(() => attempts.getByRole('listitem').allInnerTexts())
      .toEqual([
        expect.stringMatching(/^Not passed yet the starter · 2 of 5 checks · 4\.43 ms/),
        expect.stringMatching(/^Passed the solution · 5 of 5 checks · 346 µs/),
      ])

    // Compare shows the source and counters of both rungs side by side, and the origin of the
    // figures.
    await tab(page, 'Result').click()
    await page.getByRole('link', { name: /^Compare with 01_naive/ }).click()
    await page.getByText(/^All \d+ metrics$/).click()
    const row = page.getByRole('row', { name: /^Sectors per global load/ })
    await row.waitFor()
    await expect.poll(() => row.innerText()).toMatch(/16\.5.*2\.50/s)
    await page.getByText(/^Recorded on NVIDIA H200, /).waitFor()
    await page.getByText('12.8× as fast', { exact: true }).waitFor()

    await page.goto(`${harness.origin}/#/labs`)
    await page.getByText('0 of 16 passed').waitFor()
    expect(faults).toEqual([])
  })
})
