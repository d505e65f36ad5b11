import { afterAll, beforeAll, expect, it } from 'vitest'
import { compareRungs } from '../../src-main/domain/compare'
import { rungBefore, type RungResult, type Session } from '../../src-main/domain/session'
import { formatRatio } from '../../src-main/domain/units'
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
  const opened = await harness.open(compareRoute(ref, step.a.id, step.b.id), options)
  await opened.page.locator('.cm-mergeView').waitFor()
  return { ...opened, ...step }
}

it('shows both sources, the time bought and every metric, within the content security policy', async () => {
  const { page, faults, a, b } = await open(0)
  const texts = await page.locator('.cm-content').allInnerTexts()
  expect(texts[0]).toContain(`@rung    ${a.id}`)
  expect(texts[1]).toContain(`@rung    ${b.id}`)
  const comparison = compareRungs({ session, rung: a }, { session, rung: b })
  const { speedup } = comparison.time
  const headline = await page.locator('.headline').innerText()
  expect(headline).toContain(formatRatio(speedup! > 1 ? speedup! : 1 / speedup!))
  const table = await page.locator('table.deltas').innerText()
  for (const { label } of comparison.metrics) expect(table).toContain(label)
  expect(faults).toEqual([])
})

it('colours the code from style sheets that the policy allows', async () => {
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
    await page.context().close()
  }
})

it('says of each metric how it moved in words, not by colour alone', async () => {
  const { page, a, b } = await open(steps.length - 1)
  const comparison = compareRungs({ session, rung: a }, { session, rung: b })
  for (const { label, verdict } of comparison.metrics) {
    const row = page.locator('table.deltas tr', { has: page.locator('th', { hasText: label }) })
    expect(await row.first().innerText(), label).toContain(verdict)
  }
})

it('steps along the ladder with [ and ], and stops at its ends', async () => {
  const { page } = await open(0)
  expect(await page.getByRole('button', { name: 'Previous step' }).isDisabled()).toBe(true)
  for (const step of steps.slice(1)) {
    await page.keyboard.press(']')
    await page.waitForURL((url) => url.hash.endsWith(`/compare/${step.a.id}/${step.b.id}`))
  }
  expect(await page.getByRole('button', { name: 'Next step' }).isDisabled()).toBe(true)
  await page.keyboard.press('[')
  const before = steps.at(-2)!
  await page.waitForURL((url) => url.hash.endsWith(`/compare/${before.a.id}/${before.b.id}`))
})

it('walks through the changes with n and p, in both layouts', async () => {
  const { page } = await open(steps.length - 1)
  const count = page.locator('.count')
  await page.keyboard.press('n')
  expect(await count.innerText()).toMatch(/^change 1 of \d+$/)
  await page.keyboard.press('n')
  expect(await count.innerText()).toMatch(/^change 2 of \d+$/)
  expect(await page.locator('.cm-currentChange').count()).toBeGreaterThan(0)
  await page.keyboard.press('p')
  expect(await count.innerText()).toMatch(/^change 1 of \d+$/)
  await page.getByText('Unified').click()
  await page.locator('.cm-deletedChunk').first().waitFor()
  await page.keyboard.press('p')
  expect(await count.innerText()).toMatch(/^change (\d+) of \1$/)
})

it('swaps the two rungs', async () => {
  const { page, a, b } = await open(0)
  await page.getByRole('button', { name: 'Swap a and b' }).click()
  await page.waitForURL((url) => url.hash.endsWith(`/compare/${b.id}/${a.id}`))
  await expect
    .poll(async () => (await page.locator('.cm-content').allInnerTexts())[0])
    .toContain(`@rung    ${b.id}`)
})

it('opens with a telling pair when the address names none, or one that is not there', async () => {
  const bare = compareRoute(ref, 'gone', 'lost').replace('/gone/lost', '')
  for (const route of [bare, compareRoute(ref, 'gone', 'lost')]) {
    const { page } = await harness.open(route)
    await page.locator('.cm-mergeView').waitFor()
    await page.waitForURL((url) => !url.hash.endsWith('/lost'))
    const [, left, right] = /\/compare\/([^/]+)\/([^/]+)$/.exec(page.url())!
    expect(Object.keys(sources)).toEqual(expect.arrayContaining([left, right]))
    await page.context().close()
  }
})
