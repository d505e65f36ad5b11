/** Tests the first screen that a new user sees, and the options on an empty screen. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ladderRoute, ownStore, startHarness, type Harness } from './support'

let harness: Harness
let store: Awaited<ReturnType<typeof ownStore>>
beforeAll(async () => {
  store = await ownStore()
  harness = await startHarness()
})
afterAll(async () => {
  await harness.stop()
  await store.remove()
})

describe('the first screen', () => {
  it('explains what a rung is and shows each idea in full at 1440 pixels', async () => {
    const { page } = await harness.visit(ladderRoute('recorded:gemm-fp32-h200-4096'), {
      width: 1440,
    })
    await page.getByText('A rung is one version of the kernel').waitFor()
    const ideas = page.locator('.idea')
    expect(await ideas.count()).toBeGreaterThan(5)
    const cut = await ideas.evaluateAll((found) =>
      found
        .filter(
          (idea) => idea.scrollWidth > idea.clientWidth || idea.scrollHeight > idea.clientHeight,
        )
        .map((idea) => idea.textContent),
    )
    expect(cut).toEqual([])
  })

  it('shows how, when, and on which GPU the figures of each session were obtained', async () => {
    const { page } = await harness.visit(ladderRoute('recorded:gemm-fp32-h200-4096'))
    await page.locator('header .trigger').first().click()
    const items = page.getByRole('menuitemradio')
    await items.first().waitFor()
    for (const text of await items.allInnerTexts())
      expect(text).toMatch(/\n(recorded|measured|imported) · .*\d{4} · .*\d+ rungs?/)
    await page.keyboard.press('Escape')
  })
})

describe('an empty screen', () => {
  it.each([
    ['/sessions/history', 'link', 'Run a ladder'],
    ['/run/tunings', 'button', 'Copy'],
    ['/run/folders', 'button', 'Copy'],
  ] as const)('%s suggests the next step', async (route, role, name) => {
    const { page } = await harness.visit(route)
    await page.getByRole('main').getByRole(role, { name, exact: true }).waitFor()
  })
})
