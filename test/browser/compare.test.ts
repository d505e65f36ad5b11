import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compareRungs } from '../../src-main/domain/analysis/compare'
import { lineHeat, sassOfLine } from '../../src-main/domain/session/deep'
import { rungBefore, type RungResult, type Session } from '../../src-main/domain/session/session'
import { formatRatio } from '../../src-main/domain/metrics/units'
import { baseName } from '../../src-renderer/ui/format'
import { compareRoute, shippedSession, startHarness, type Harness } from './support'

let harness: Harness
let ref: string
let session: Session
let sources: Record<string, string>
let steps: { a: RungResult; b: RungResult }[]
beforeAll(async () => {
  harness = await startHarness()
  ;({ ref, session } = await shippedSession(harness.core))
  sources = await harness.core.call('sessions.sources', { ref })
  steps = session.rungs.flatMap((b) => {
    const a = b.id === session.ladder.reference ? undefined : rungBefore(session, b.id)
    return a ? [{ a, b }] : []
  })
})
afterAll(() => harness.stop())

const open = async (index: number, options: { width?: number; dark?: boolean } = {}) => {
  const step = steps[index]!
  const opened = await harness.visit(compareRoute(ref, step.a.id, step.b.id), options)
  await opened.page.locator('.cm-mergeView').waitFor()
  return { ...opened, ...step }
}

it('the compare screen shows both sources, the time saved, and every metric, within the content security policy', async () => {
  const { page, faults, a, b } = await open(0)
  const texts = () => page.locator('.cm-content').allInnerTexts()
  // The rung's header comments are shown next to the source. The source view shows the header
  // comments only on request.
  expect((await texts()).join('')).not.toContain('@rung')
  await page.getByLabel('Part of the sources shown').selectOption('Whole file')
  await expect.poll(async () => (await texts())[0]).toContain(`@rung    ${a.id}`)
  expect((await texts())[1]).toContain(`@rung    ${b.id}`)
  const comparison = compareRungs({ session, rung: a }, { session, rung: b })
  const { speedup } = comparison.time
  const headline = await page.locator('.headline').innerText()
  expect(headline).toContain(formatRatio(speedup! > 1 ? speedup! : 1 / speedup!))
  // The metrics table is collapsed by default, and remains open once the user has opened it.
  await expect.poll(() => page.locator('table.deltas').isVisible()).toBe(false)
  await page.getByText(/^All \d+ metrics$/).click()
  const table = await page.locator('table.deltas').innerText()
  for (const { label } of comparison.metrics) expect(table).toContain(label)
  expect(faults).toEqual([])
})

it('the compare screen colors the code with style sheets that the policy allows', async () => {
  for (const dark of [false, true]) {
    const { page } = await open(0, { dark })
    const keyword = page
      .locator('.cm-line span', { hasText: /^(constexpr|const|return|for)$/ })
      .first()
    const [code, plain] = await Promise.all([
      keyword.evaluate((element) => getComputedStyle(element).color),
      page
        .locator('.cm-content')
        .first()
        .evaluate((element) => getComputedStyle(element).color),
    ])
    expect(code).not.toBe(plain)
    await page.close()
  }
})

it("the compare screen describes each metric's change in words, not by color alone", async () => {
  const { page, a, b } = await open(steps.length - 1)
  await page.getByText(/^All \d+ metrics$/).click()
  const comparison = compareRungs({ session, rung: a }, { session, rung: b })
  for (const { label, verdict } of comparison.metrics) {
    const row = page.locator('table.deltas tr', { has: page.locator('th', { hasText: label }) })
    await expect.poll(() => row.first().innerText(), { message: label }).toContain(verdict)
  }
})

it('the compare screen steps along the ladder with [ and ], and stops at its ends', async () => {
  const { page } = await open(0)
  await expect
    .poll(() => page.getByRole('button', { name: 'Previous step' }).isDisabled())
    .toBe(true)
  for (const step of steps.slice(1)) {
    await page.keyboard.press(']')
    await page.waitForURL((url) => url.hash.endsWith(`/compare/${step.a.id}/${step.b.id}`))
  }
  await expect.poll(() => page.getByRole('button', { name: 'Next step' }).isDisabled()).toBe(true)
  await page.keyboard.press('[')
  const before = steps.at(-2)!
  await page.waitForURL((url) => url.hash.endsWith(`/compare/${before.a.id}/${before.b.id}`))
})

it('in both layouts of the compare screen, n and p step through the code changes, starting at the first', async () => {
  const { page } = await open(steps.length - 1)
  const count = page.locator('.change')
  const at = async () => Number(/^change (\d+) of \d+$/.exec(await count.innerText())?.[1])
  await expect.poll(at).toBeGreaterThan(0)
  const first = await at()
  // The change begins with comments and includes. The view must scroll to the change's first line
  // of code.
  const code = page.locator('.cm-merge-b .cm-markedLine', { hasText: /^(?!\s*(\/\/|#|$))/ }).first()
  const lines = await page.locator('.host').boundingBox()
  const { y } = (await code.boundingBox())!
  expect(y).toBeGreaterThan(lines!.y)
  expect(y).toBeLessThan(lines!.y + lines!.height)
  await page.keyboard.press('n')
  expect(await at()).toBe(first + 1)
  await page.keyboard.press('p')
  expect(await at()).toBe(first)
  await page.keyboard.press('F7')
  expect(await at()).toBe(first + 1)
  await page.keyboard.press('Shift+F7')
  expect(await at()).toBe(first)
  await page.getByText('Unified').click()
  // The first deleted chunk may be a single blank line, which has no height.
  await page.locator('.cm-deletedChunk >> visible=true').first().waitFor()
  expect(await at()).toBe(first)
})

it('the compare screen can omit comments, and its search covers both sides', async () => {
  const { page, faults } = await open(0)
  const texts = async () => (await page.locator('.cm-content').allInnerTexts()).join('\n')
  await page.getByLabel('Part of the sources shown').selectOption('Code only')
  await expect.poll(texts).not.toMatch(/^\s*\/\//m)
  await page.keyboard.press('/')
  await page.keyboard.type('blockIdx')
  const found = page.locator('.find .count')
  await expect.poll(() => found.innerText()).toMatch(/^1 of \d+$/)
  const count = Number(/\d+$/.exec(await found.innerText())![0])
  expect(count).toBe((await texts()).split('blockIdx').length - 1)
  await page.keyboard.press('Shift+Enter')
  await expect.poll(() => found.innerText()).toBe(`${count} of ${count}`)
  await page.keyboard.type('zz')
  await expect.poll(() => found.innerText()).toBe('not found')
  expect(faults).toEqual([])
})

it('the compare screen swaps the two rungs', async () => {
  const { page, a, b } = await open(0)
  await page.getByRole('button', { name: 'Swap a and b' }).click()
  await page.waitForURL((url) => url.hash.endsWith(`/compare/${b.id}/${a.id}`))
  await expect.poll(() => page.locator('.source .side').first().innerText()).toBe(baseName(b.file))
})

it('the compare screen opens with a meaningful pair if the address names no pair or a missing rung', async () => {
  const bare = compareRoute(ref, 'gone', 'lost').replace('/gone/lost', '')
  for (const route of [bare, compareRoute(ref, 'gone', 'lost')]) {
    const { page } = await harness.open(route)
    await page.locator('.cm-mergeView').waitFor()
    await page.waitForURL((url) => !url.hash.endsWith('/lost'))
    const [, left, right] = /\/compare\/([^/]+)\/([^/]+)$/.exec(page.url())!
    expect(Object.keys(sources)).toEqual(expect.arrayContaining([left, right]))
    await page.close()
  }
})

it('the compare screen has one column in a narrow window', async () => {
  const { page, faults } = await harness.visit(compareRoute(ref, steps[0]!.a.id, steps[0]!.b.id), {
    width: 1100,
  })
  await page.locator('.cm-deletedChunk').first().waitFor()
  await expect.poll(() => page.locator('.cm-mergeView').count()).toBe(0)
  expect(faults).toEqual([])
})

it('the compare screen names the level that collects line heat and machine code if a session lacks them', async () => {
  const { page } = await open(0)
  await expect
    .poll(() => page.locator('.source .deep').innerText())
    .toContain('run with --profile deep')
  await page.keyboard.press('s')
  await expect.poll(() => page.getByText('No instruction of the rung').count()).toBe(0)
})

it('the compare screen links to the same pair in the recording that has line heat and machine code', async () => {
  const { page, faults } = await harness.visit(
    compareRoute(ref, '08_warp_tile', '09_register_prefetch'),
  )
  await page.locator('.source').getByRole('link', { name: 'Open in the deep recording' }).click()
  await page.waitForURL((url) =>
    decodeURIComponent(url.hash).endsWith('-deep/compare/08_warp_tile/09_register_prefetch'),
  )
  await page.getByRole('button', { name: 'SASS' }).waitFor()
  await expect
    .poll(() => page.getByRole('link', { name: 'Open in the deep recording' }).count())
    .toBe(0)
  expect(faults).toEqual([])
})

it('the compare screen shows the cause, its source lines, and their machine code within three clicks', async () => {
  const { page, faults } = await harness.open()
  let clicks = 0
  const click = async (at: Locator) => {
    await at.click()
    clicks += 1
  }
  const row = page.locator('tr[data-rung="09_register_prefetch"]')
  await click(row.locator('.compare'))
  const why = page.getByRole('region', { name: 'Why' })
  await expect
    .poll(() => why.locator('ol > li').first().innerText())
    .toMatch(/The FMA pipe is busy for 78\.8 % .*long scoreboard/s)
  expect(clicks).toBe(1)

  await click(why.getByRole('link', { name: 'Open in the deep recording' }))
  const line = why.getByRole('button', { name: /^[ab], line \d+$/ }).first()
  await line.waitFor()
  expect(clicks).toBe(2)

  await click(line)
  const instruction = page.locator('.panel tbody tr').first()
  await expect.poll(() => instruction.innerText()).toMatch(/^\s*[0-9a-f]{4}\s+[A-Z]/)
  expect(clicks).toBe(3)
  expect(faults).toEqual([])
})

it('in the compare screen, the c key opens a view that links each source change to the time', async () => {
  const { page, faults } = await open(steps.findIndex(({ b }) => b.id === '06_float4'))
  await page.keyboard.press('c')
  const chain = page.getByRole('region', { name: 'From change to time' })
  await chain.waitFor()
  const text = await chain.innerText()
  // Each visible change contains code, because changes to comments and includes had no effect.
  expect(text).toMatch(/changes? without an effect on the machine code (is|are) left out/)
  for (const shown of await chain.locator('pre').allInnerTexts())
    expect(shown).toMatch(/^[−+]\s+\d+\s+(?!\s*(\/\/|#\s*include))\S/m)
  // This session has no deep profile, so the opcodes are unknown.
  expect(text).toContain('Changed; attributing it to a source change requires a deep profile')
  expect(text).toMatch(/Time\s+[\d.]+ .?s → [\d.]+ .?s/)
  const show = page.getByRole('button', { name: /^Show change \d+ in the source$/ })
  await show.first().focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.locator('.change').innerText()).toMatch(/^change \d+ of \d+$/)
  expect(faults).toEqual([])
})

it('the compare screen opens at the source line of the top-ranked cause, with comments omitted', async () => {
  const { page, faults } = await harness.visit(
    compareRoute('recorded:gemm-fp32-h200-4096-deep', '02_coalesced', '03_shared_tile'),
    { width: 1440 },
  )
  const why = page.getByRole('region', { name: 'Why' })
  const line = why
    .locator('ol > li')
    .first()
    .locator('.lines li')
    .filter({ hasText: /^b, line/ })
  const code = (await line.locator('code').innerText()).slice(0, 20)
  const marked = page.locator('.cm-merge-b .cm-markedLine', { hasText: code }).first()
  const lines = (await page.locator('.host').boundingBox())!
  const { y } = (await marked.boundingBox())!
  expect(y).toBeGreaterThan(lines.y)
  expect(y).toBeLessThan(lines.y + lines.height)
  const texts = (await page.locator('.cm-content').allInnerTexts()).join('\n')
  expect(texts).not.toMatch(/^\s*\/\//m)
  expect(faults).toEqual([])
})

describe('rungs from two sessions', () => {
  const across = (other: string, a: string, b = a) =>
    `${compareRoute(ref, a, b)}?with=${encodeURIComponent(other)}`

  it('that solve the same problem are shown side by side, with other session differences', async () => {
    const other = 'recorded:gemm-3xtf32-h200-4096'
    const { page, faults } = await harness.open(across(other, '06_float4', '62_tf32x3_wgmma'))
    await page.locator('.cm-mergeView').waitFor()
    const tensor = await harness.core.call('sessions.get', { ref: other })
    const { speedup } = compareRungs(
      { session, rung: session.rungs.find(({ id }) => id === '06_float4')! },
      { session: tensor, rung: tensor.rungs.find(({ id }) => id === '62_tf32x3_wgmma')! },
    ).time
    await expect.poll(() => page.locator('.headline').innerText()).toContain(formatRatio(speedup!))
    await expect.poll(() => page.locator('.guard').innerText()).toContain('The ladders differ')
    expect(faults).toEqual([])
  })

  it('that solve different problems get no verdict', async () => {
    const other = 'recorded:gemm-fp32-h200-1024'
    const { page } = await harness.open(across(other, '06_float4'))
    await page.locator('.headline').waitFor()
    await expect.poll(() => page.locator('.headline').innerText()).toBe('Not comparable')
    await expect.poll(() => page.locator('.guard').innerText()).toContain('The problems differ')
    const words = await page.locator('table.deltas .verdict').allInnerTexts()
    expect(new Set(words.map((word) => word.trim()))).toEqual(new Set(['unknown']))
    // The buttons for the previous and next rung select the same rung on both sides.
    await page.keyboard.press('[')
    await page.waitForURL((url) => url.hash.includes('05_thread_tile_2d/05_thread_tile_2d?with='))
  })

  it('can be chosen in the toolbar', async () => {
    const { page } = await open(0)
    const chooser = page.getByLabel('Session of rung b')
    await chooser.focus()
    await chooser.selectOption('recorded:gemm-fp32-h200-1024')
    await page.waitForURL((url) => url.hash.includes('?with=recorded'))
    await page.locator('.guard').waitFor()
    await page.getByLabel('Session of rung b').selectOption(ref)
    await page.waitForURL((url) => !url.hash.includes('with='))
  })
})

describe('rungs with a deep profile', () => {
  const deepRef = 'recorded:gemm-fp32-h200-4096-deep'
  const [a, b] = ['05_thread_tile_2d', '06_float4']
  const openDeep = async (route = compareRoute(deepRef, a!, b!)) => {
    const opened = await harness.visit(route, { width: 1920 })
    await opened.page.locator('.cm-mergeView').waitFor()
    await opened.page.getByRole('button', { name: 'SASS' }).waitFor()
    return opened
  }
  const profile = async (rung: string) =>
    (await harness.core.call('sessions.deep', { ref: deepRef, rung }))!

  it("show each line's share of the chosen counter", async () => {
    const { page, faults } = await openDeep()
    await page.keyboard.press('s')
    await page.keyboard.press('h')
    const [hottest] = lineHeat(await profile(b!), 'samples')
    await page.getByRole('region', { name: `line ${hottest!.line}` }).waitFor()
    const figures = page.locator('.cm-merge-b .cm-heatGutter span')
    const shown = Math.round(hottest!.share * 100)
    await expect.poll(() => figures.allInnerTexts()).toContain(String(shown))
    await page.getByLabel('Line heat').selectOption('sharedWavefrontsExcess')
    await expect.poll(() => figures.allInnerTexts()).not.toContain(String(shown))
    expect(faults).toEqual([])
  })

  it('link the reason that one rung is faster to its source line and machine code', async () => {
    const route = compareRoute(deepRef, '08_warp_tile', '09_register_prefetch')
    const { page, faults } = await openDeep(route)
    const why = page.getByRole('region', { name: 'Why' })
    const cause = why.locator('ol > li').first()
    await expect
      .poll(() => cause.innerText())
      .toMatch(/1\.2\d×\s+The FMA pipe is busy for 78\.9 % of the active cycles .*long scoreboard/s)
    const said = await why.innerText()
    expect(said).toContain('Factors that multiply to 1.20× as fast:')
    expect(said).toMatch(/0\.987×\s+SMs are active .*\s1\.001×\s+Not explained/s)
    await expect.poll(() => cause.locator('.changed').count()).toBeGreaterThan(0)
    await cause.getByRole('button').first().click()
    const panel = page.locator('.panel')
    await panel.waitFor()
    await expect.poll(() => panel.innerText()).toMatch(/08_warp_tile\.cu:\d+.*long_sb/s)
    expect(faults).toEqual([])
    await page.close()
  })

  it('open the machine code of a line, and of the next line with machine code', async () => {
    const { page } = await openDeep()
    await page.keyboard.press('s')
    const panel = page.locator('.panel')
    await panel.waitFor()
    const deep = await profile(b!)
    const lineOf = async () => Number(/:(\d+)/.exec(await panel.innerText())![1])
    const rows = async (line: number) =>
      sassOfLine(deep, session.rungs.find(({ id }) => id === b)!.file, line).length
    const line = await lineOf()
    await expect.poll(() => panel.locator('tbody tr').count()).toBe(await rows(line))
    await panel.getByRole('button', { name: 'Next line' }).click()
    const next = await lineOf()
    expect(next).toBeGreaterThan(line)
    await expect.poll(() => panel.locator('tbody tr').count()).toBe(await rows(next))
    await panel.getByRole('button', { name: 'Close machine code' }).focus()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'hidden' })
  })

  it('link the changed read of a tile to the bank conflicts and to the time', async () => {
    const { page, faults } = await openDeep()
    await page.keyboard.press('c')
    const row = page.locator('.chain tbody tr', { hasText: 'bTile[d][col + j]' })
    await row.waitFor()
    const text = await row.innerText()
    expect(text).toContain('Bank conflicts, shared loads')
    expect(text).toMatch(/of which excess\s+268 M → 0/)
    expect(faults).toEqual([])
  })

  it('show whether the two rungs ran the same machine code', async () => {
    const { page } = await openDeep(compareRoute(deepRef, b!, b!))
    await page.getByText('Both rungs ran the same machine code').waitFor()
  })
})

it('the compare screen shows the parameters that differ between two variants of one source', async () => {
  const { page } = await harness.visit(compareRoute(ref, '08_warp_tile', '08_half_block'))
  await page.getByText('Parameters: BM 128 → 64, BK 8 → 16, WM 64 → 32, WN 32 → 64').waitFor()
})

it('two kernels from one program are not ranked, because they do different work', async () => {
  const program = 'recorded:feed-forward-h200'
  const { rungs } = await harness.core.call('sessions.get', { ref: program })
  const { page } = await harness.visit(compareRoute(program, rungs[0]!.id, rungs[1]!.id))
  const verdict = page.locator('section.time')
  await verdict.waitFor()
  expect(await verdict.locator('.headline').innerText()).toBe('Not comparable')
  expect(await verdict.innerText()).not.toMatch(/better|worse|×/)
  await page.getByText('These are two kernels of one program').waitFor()
})
