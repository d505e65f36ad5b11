/**
 * Tests a ladder folder in the UI: open, trust, edit, build, and watch. Uses the real core and fake
 * tools.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import {
  fakeMachine,
  rungText,
  sumsFolder,
  sumsYaml,
  root,
  setEnv,
  tempDir,
} from '../services/support'
import { englishOn, seriousFaults, startHarness, type Harness, type OpenPage } from './support'
import { keptNvcc } from '../kept-nvcc'
import type { Setup } from '../../src-main/adapters/machine/machine'

let harness: Harness | undefined
afterEach(async () => {
  await harness?.stop()
  harness = undefined
})

const folderRoute = (path: string) => `/run/folder?path=${encodeURIComponent(path)}`
async function opened(
  options: Parameters<typeof sumsFolder>[1] = {},
  without: string[] = [],
  locale = 'en-US',
) {
  const machine = await fakeMachine(without)
  const path = await sumsFolder(machine, options)
  harness = await startHarness(machine.setup.machine)
  const { page, faults } = await harness.open(folderRoute(path), { locale })
  return { machine, path, page, faults }
}
const file = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Files' }).getByRole('button', { name })
const editor = (page: Page) => page.locator('.cm-content')
async function replaceText(page: Page, text: string): Promise<void> {
  await editor(page).click()
  await page.keyboard.press('Control+a')
  // Delete first. Typing over a selection makes Chromium add an inline style, which violates the
  // page's CSP.
  await page.keyboard.press('Delete')
  await page.keyboard.insertText(text)
}
const row = (page: Page, rung: string) => page.locator(`tr[data-watched="${rung}"]`)

describe('a ladder folder', () => {
  it('shows how a save affects a rung’s time once it is opened and trusted', async () => {
    const machine = await fakeMachine()
    const path = await sumsFolder(machine, { trusted: false })
    harness = await startHarness(machine.setup.machine)
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
    await expect.poll(() => row(page, 'b').innerText()).toMatch(/×0\.\d+/)
    expect(await readFile(join(path, 'b.cu'), 'utf8')).toContain('// faster')
    expect(await seriousFaults(page)).toEqual([])
    // Simulate a change by an external editor. The screen must show the new text.
    await writeFile(join(path, 'b.cu'), rungText('b', '// slower'))
    await row(page, 'b').getByText('slower').waitFor()
    await editor(page).getByText('// slower').waitFor()
    await page.getByRole('link', { name: 'Open session' }).click()
    await page.locator('tr[data-rung="b"]').waitFor()
    expect(faults).toEqual([])
  })

  it('asks which text to keep if another program changed the file', async () => {
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

  it('shows faults and compiler messages at their lines, even without a GPU', async () => {
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

  const showsFaults = async (locale: string, absent: string, unknown: string): Promise<void> => {
    const { path, page } = await opened({}, [], locale)
    await writeFile(join(path, 'b.cu'), '// @rung b\n// @title b\n// @idae x\n')
    await rm(join(path, 'c.cu'))
    await page.reload()
    await page.getByText(absent).waitFor()
    await page.getByText(unknown).waitFor()
    expect(await englishOn(page, ['sums'])).toEqual([])
  }
  it('shows its faults in Korean', () =>
    showsFaults('ko', '폴더에 c.cu가 없습니다', '헤더에 @idae라는 키는 없습니다'))
  it('shows its faults in Chinese', { tags: ['thorough'] }, () =>
    showsFaults('zh-CN', '文件夹中没有 c.cu', '文件头没有键 @idae'),
  )

  it('is listed, and is marked as missing after it is deleted', async () => {
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

it("one click adds a sweep's winner to the folder as a variant", async () => {
  const machine = await fakeMachine()
  const path = await sumsFolder(machine)
  const header = '// @param TILE 32 {16,32,64}\n'
  await writeFile(join(path, 'b.cu'), rungText('b', header))
  const kept = JSON.parse(await readFile(join(root, 'test/captures/tune-h200.json'), 'utf8')) as {
    id: string
    report: { finalists: object[]; rows: object[] }
  }
  const params = { TILE: 64 }
  const report = {
    ...kept.report,
    ...{ ladder: 'sums', rung: 'b', winner: params },
    space: {
      axes: [{ name: 'TILE', values: [16, 32, 64] }],
      rules: [],
      combinations: 3,
      allowed: 3,
    },
    finalists: [{ ...kept.report.finalists[0]!, params }],
    rows: [{ ...kept.report.rows[0]!, params }],
    byParameter: {},
  }
  const { tunes } = machine.setup.machine.folders
  await mkdir(tunes, { recursive: true })
  const sweep = JSON.stringify({ ...kept, folder: path, report })
  await writeFile(join(tunes, `${kept.id}.tuning.json`), sweep)
  harness = await startHarness(machine.setup.machine)
  const { page, faults } = await harness.open('/run/tunings')
  const winner = page.getByRole('region', { name: 'Winner' })
  await winner.getByRole('button', { name: 'Add as a variant' }).click()
  await winner.getByText('b-tuned was added to the ladder.').waitFor()
  expect(await winner.getByRole('button').count()).toBe(0)
  expect(await seriousFaults(page)).toEqual([])
  expect(await readFile(join(path, 'ladder.yaml'), 'utf8')).toMatch(/b-tuned.*TILE: 64/s)
  await winner.getByRole('link', { name: 'Open the ladder folder' }).click()
  await file(page, 'ladder.yaml').waitFor()
  // Return to the list of sweeps. Adding the winner a second time uses a different name.
  await page.goBack()
  await winner.getByRole('button', { name: 'Add as a variant' }).click()
  await winner.getByText('b-tuned2 was added to the ladder.').waitFor()
  // If b.cu does not declare TILE, the UI must report the failure and keep the button.
  await page.reload()
  await writeFile(join(path, 'b.cu'), rungText('b'))
  await winner.getByRole('button', { name: 'Add as a variant' }).click()
  await winner.getByRole('alert').getByText('does not declare TILE').waitFor()
  expect(await winner.getByRole('button', { name: 'Add as a variant' }).isEnabled()).toBe(true)
  expect(faults).toEqual([])
})

it('a ladder folder can be run from the form, with its own size and scalars', async () => {
  const { machine, path, page } = await opened()
  await page.getByRole('link', { name: 'Run…' }).click()
  await expect.poll(() => page.locator('.setup select').first().inputValue()).toBe(path)
  await expect
    .poll(() => page.getByLabel('Size (N)').locator('option').allInnerTexts())
    .toEqual(['N = 64', 'N = 128', 'Custom…'])
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
  // As long as the folder exists, its rungs are edited in place.
  const details = page.locator('tr[data-rung="c"]').getByRole('button', { name: 'Details' })
  await details.click()
  await page.getByRole('link', { name: 'Edit c.cu' }).click()
  await editor(page).getByText('// @rung c').waitFor()
  await rename(path, join(machine.dir, 'away'))
  await page.goBack()
  await details.click()
  await page.getByText('no longer contains the ladder sums').waitFor()
})

// Tests editing a copy of a rung in the UI. Uses the real core, the real CodeMirror and fake tools.

afterEach(async () => {
  await harness?.stop()
  harness = undefined
})

const session = 'recorded:gemm-fp32-h200-1024'
const rung = '05_thread_tile_2d'
const route = `/session/${encodeURIComponent(session)}/edit/${rung}`
/** A comment that makes the fake tools return the results of the original rung. */
const like = `// like: ${rung}`

async function open(setup: Setup): Promise<OpenPage> {
  harness = await startHarness(setup.machine)
  const opened = await harness.open(route)
  await opened.page.locator('.cm-content').waitFor()
  return opened
}

async function append(page: Page, text: string): Promise<void> {
  await editor(page).click()
  await page.keyboard.press('Control+End')
  await page.keyboard.insertText(`\n${text}`)
}
const saved = (page: Page) => page.locator('.save.saved').waitFor()

describe('the editor', () => {
  it('keeps the typed code after a restart, and discards it on request', async () => {
    const { setup } = await fakeMachine()
    const { page, faults } = await open(setup)
    await append(page, '// mine')
    await saved(page)
    expect(faults).toEqual([])
    await harness!.stop()

    const again = await open(setup)
    await again.page.keyboard.press('Control+End')
    await editor(again.page).click()
    await again.page.keyboard.press('Control+End')
    await again.page.getByText('// mine').waitFor()
    await again.page.getByRole('button', { name: 'Start over' }).click()
    await again.page.getByRole('button', { name: 'Discard' }).click()
    await again.page.getByText('No changes yet').waitFor()
    expect(await harness!.core.call('drafts.list', {})).toEqual([])
  })

  it('builds on a keyboard shortcut, and shows compiler messages at their lines', async () => {
    const { setup } = await fakeMachine()
    const { page, faults } = await open(setup)
    await editor(page).click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.insertText('// @rung other\n')
    await page.keyboard.press('Control+Enter')
    await page.getByText('Does not build').waitFor()
    await page.getByText('@rung is repeated').first().waitFor()
    const line = page.locator('.result .place').first()
    await line.click()
    await page.locator('.cm-lint-marker-error').first().waitFor()
    await expect.poll(() => page.locator('.cm-lintRange-error').count()).toBeGreaterThan(0)
    expect(await seriousFaults(page)).toEqual([])
    expect(faults).toEqual([])
  })

  it('runs the copy after the original rung, in a new session', async () => {
    const { setup } = await fakeMachine()
    const { page } = await open(setup)
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

  it('builds without a GPU, and shows that the copy runs on an emulated GPU', async () => {
    const { setup } = await fakeMachine(['nvidia-smi'])
    const { page } = await open(setup)
    await page.getByText('Run uses an emulated GPU').waitFor()
    await expect
      .poll(() => page.getByRole('button', { name: 'Run', exact: true }).isEnabled())
      .toBe(true)
    await append(page, like)
    await page.getByRole('button', { name: 'Build' }).click()
    await page.getByText('Builds for sm_90').waitFor()
  })

  it('explains what is missing and disables Run if there is neither a GPU nor a compiler', async () => {
    const { setup } = await fakeMachine(['nvidia-smi', 'nvcc'])
    const { page } = await open(setup)
    await page.getByText('Neither a GPU nor nvcc was found here').waitFor()
    await expect
      .poll(() => page.getByRole('button', { name: 'Run', exact: true }).isDisabled())
      .toBe(true)
  })

  it('can be opened from the rung’s details', async () => {
    const { setup } = await fakeMachine()
    harness = await startHarness(setup.machine)
    const { page } = await harness.open(`/session/${encodeURIComponent(session)}/ladder`)
    await page.getByRole('button', { name: 'Details of 2D thread tile', exact: true }).click()
    await page.getByRole('link', { name: 'Edit a copy' }).click()
    await page.getByRole('heading', { name: 'Copy of 2D thread tile' }).waitFor()
  })
})

describe('the counters of a copy', () => {
  it("appear next to the original's counters while the user types, with each line's machine code", async () => {
    setEnv({ KERNEL_LADDER_DATA: await tempDir() })
    // Use the builds stored by test/services/look.test.ts.
    const kept = await keptNvcc('look', { artifacts: true })
    harness = await startHarness(await kept.machine())
    const opened = await harness.open(
      `/session/${encodeURIComponent(session)}/edit/07_conflict_free`,
      { width: 1440 },
    )
    const { page, faults } = opened
    const row = page.locator('.counters tr', { hasText: 'Bank conflicts, shared stores' })
    await row.waitFor()
    await expect.poll(() => row.locator('td').allInnerTexts()).toEqual(['0', '0'])
    await expect.poll(() => page.locator('.counters .chip').innerText()).toBe('emulated')

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
    await expect.poll(() => row.locator('td').allInnerTexts()).toEqual(['4.10 k', '0'])

    await page.getByRole('button', { name: 'Source and machine code' }).click()
    const chosen = page.locator('.sass-list [role=option].cursor')
    await chosen.waitFor()
    // Move down to the store instruction. CodeMirror renders only the visible lines.
    await editor(page).focus()
    for (let step = 0; step < 50; step++) await page.keyboard.press('ArrowDown')
    await page.locator('.sass-list .linked', { hasText: 'STS' }).first().waitFor()
    await expect.poll(() => page.locator('.cm-band').count()).toBeGreaterThan(5)
    expect(await seriousFaults(page)).toEqual([])
    expect(faults).toEqual([])
  })
})

describe("the user's editor", () => {
  const place = `/session/${encodeURIComponent('recorded:scan-h200-deep')}/compare/07_decoupled_look_back/09_tma_ring`

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

  it('opens at the line of the selected machine code', async () => {
    const asked = join(await tempDir(), 'asked')
    const { page, faults } = await line(`cp {file} ${asked}`)
    await button(page).click()
    const source = await readFile(join(root, 'cuda-kernels/scan/09_tma_ring.cu'), 'utf8')
    await expect.poll(() => readFile(asked, 'utf8').catch(() => '')).toBe(source)
    expect(faults).toEqual([])
  })

  it('is reported as missing if it does not exist', async () => {
    const { page } = await line('/nowhere/editor')
    await button(page).click()
    await page.getByText('The editor /nowhere/editor was not found.').waitFor()
    expect(await seriousFaults(page)).toEqual([])
  })

  it('is not offered if none is configured', { tags: ['thorough'] }, async () => {
    const { page } = await line('')
    await expect.poll(() => button(page).count()).toBe(0)
  })
})
