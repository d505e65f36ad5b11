/**
 * Tests the recommendations in the ladder and in Compare, and the waterfall chart from the old time
 * to the new time.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { formatMs } from '../../src-main/domain/metrics/units'
import { recordedRef } from '../../src-main/domain/session/session-ref'
import { compareRoute, ladderRoute, startHarness, type Harness } from './support'

const ref = recordedRef('gemm-fp32-h200-4096-deep')
let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

it("Compare draws a waterfall between the two times, and shows rung b's next step with an example", async () => {
  const { page, faults } = await harness.visit(compareRoute(ref, '05_thread_tile_2d', '06_float4'))
  const path = page.getByRole('region', { name: 'From the old time to the new' })
  await path.waitFor()
  const session = await harness.core.call('sessions.get', { ref })
  for (const id of ['05_thread_tile_2d', '06_float4']) {
    const { timing } = session.rungs.find((rung) => rung.id === id)!
    expect(await path.innerText()).toContain(formatMs(timing!.medianMs))
  }
  const next = await harness.core.call('sessions.next', { ref, rung: '06_float4' })
  const steps = page.getByRole('region', { name: 'What to change next' })
  await expect.poll(() => steps.locator('ol > li').count()).toBe(next.steps.length)
  expect(await steps.innerText()).toContain(formatMs(next.steps[0]!.msAfter.mid))
  await steps.locator('summary').first().click()
  const { example } = next.steps[0]!
  const link = steps.getByRole('link', { name: /^Example: / }).first()
  expect(await link.getAttribute('href')).toContain(encodeURIComponent(example!.to))
  expect(faults).toEqual([])
})

it("a rung's details on the ladder screen show its recommended steps", async () => {
  const { page, faults } = await harness.visit(`${ladderRoute(ref)}?rung=05_thread_tile_2d`)
  const steps = page.getByRole('region', { name: 'What to change next' })
  await steps.waitFor()
  expect(await steps.locator('ol > li').count()).toBe(5)
  expect(faults).toEqual([])
})

it('under each rung except the reference, a line shows the first recommended step and opens the rung', async () => {
  const { page, faults } = await harness.visit(ladderRoute(ref))
  const session = await harness.core.call('sessions.get', { ref })
  const line = (rung: string) => page.locator(`tr[data-rung="${rung}"] .next`)
  await line('01_naive').getByText('Next').waitFor()
  const rungs = ['01_naive', '06_float4']
  const steps = await harness.core.call('sessions.firstSteps', { ref, rungs })
  expect(await line('01_naive').innerText()).toContain(
    formatMs(steps['01_naive']!.step!.msAfter.low),
  )
  expect(await line(session.ladder.reference!).count()).toBe(0)
  await line('01_naive').click()
  await page.getByRole('region', { name: 'What to change next' }).waitFor()
  expect(faults).toEqual([])
})
