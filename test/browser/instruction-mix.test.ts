/** The standard level on screen: its chart, its place in a rung's details, and what an older session says. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { draftSession } from '../../src-main/adapters/sessions/session-store'
import { mixMetrics } from '../../src-main/domain/metrics/mix-metrics'
import type { Session } from '../../src-main/domain/session/session'
import { standardSession } from '../domain/standard-session'
import { ladderRoute, ownStore, startHarness, type Harness } from './support'

let harness: Harness
let own: Awaited<ReturnType<typeof ownStore>>
let session: Session
const ref = 'standard'

beforeAll(async () => {
  own = await ownStore()
  session = { ...(await standardSession()), id: ref }
  const added = new Set(mixMetrics.map(({ id }) => id))
  const older: Session = {
    ...session,
    id: 'older',
    rungs: session.rungs.map((rung) => ({
      ...rung,
      metrics: Object.fromEntries(Object.entries(rung.metrics).filter(([id]) => !added.has(id))),
    })),
  }
  for (const one of [session, older])
    await (await draftSession(join(own.store, one.id))).commit(one)
  harness = await startHarness()
})
afterAll(async () => {
  await harness.stop()
  await own.remove()
})

const chart = (name: string) => `/session/${ref}/charts/${name}`

describe('the instruction mix', () => {
  it.each([
    [1280, false],
    [1920, true],
  ])('is drawn and said in words at %i px', async (width, dark) => {
    const { page, faults } = await harness.open(chart('mix'), { width, dark })
    await page.locator('.chart-figure canvas').first().waitFor()
    const words = await page.locator('.chart-host').getAttribute('aria-label')
    expect(words).toContain('89.2 % FP32')
    await page.getByText('Table', { exact: true }).click()
    const row = page.locator('table.figures tbody tr').last()
    expect(await row.innerText()).toMatch(/89\.1\s?%/)
    expect(faults).toEqual([])
  })

  it('is shown in the details of a rung, with its operations next to those of the product', async () => {
    const { page, faults } = await harness.open(ladderRoute(ref))
    await page.locator('tr[data-rung="06_float4"] button').first().click()
    const details = page.locator('.details')
    await details.getByRole('heading', { name: 'Instruction mix' }).waitFor()
    const text = await details.innerText()
    expect(text).toMatch(/FP32 operations:\s*2\.15 GFLOP/)
    expect(text).toContain('of the product')
    expect(await details.getByRole('img', { name: /FP32 89\.2/ }).count()).toBe(1)
    // Judged, where the card alone would say that it does not know.
    expect(text).toContain('The last wave')
    expect(faults).toEqual([])
  })

  it('is the basis of the roofline, which says so', async () => {
    const { page } = await harness.open(chart('roofline'))
    await page.locator('.chart-figure canvas').first().waitFor()
    expect(await page.locator('.notes').innerText()).toContain('FP32 operations counted by ncu')
  })
})

it('is absent from an older session, which says that it was not requested, and how to', async () => {
  const { page, faults } = await harness.open('/session/older/charts/mix')
  await page.getByText('this session predates these counters in profile level “standard”').waitFor()
  expect(await page.locator('.empty code').innerText()).toContain('--profile standard')
  expect(await page.locator('canvas').count()).toBe(0)
  expect(faults).toEqual([])
})
