import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { occupancy } from '../../src-main/domain/gpu/occupancy'
import { smLimits } from '../../src-main/domain/gpu/sm-limits'
import { formatPercent } from '../../src-main/domain/metrics/units'
import { ladderRoute, shippedSession, startHarness, type Harness } from './support'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

const kernel = { threads: 256, registers: 128, staticSharedBytes: 0, dynamicSharedBytes: 8192 }
const route = '/occupancy?gpu=9.0&threads=256&registers=128&shared=8192'

describe('the occupancy what-if', () => {
  it('opens at what its address says, with the limiter and what would raise it', async () => {
    const { page, faults } = await harness.open(route)
    const answer = page.getByRole('region', { name: 'Occupancy' })
    await answer.waitFor()
    const text = await answer.innerText()
    expect(text).toContain(formatPercent(occupancy(smLimits('9.0')!, kernel).percent))
    expect(text).toContain('limited by registers')
    expect(text).toContain('Registers 128 → 80: 3 blocks per SM, 37.5 %')
    expect(faults).toEqual([])
  })

  it('follows a field and the advice, and so does the address', async () => {
    const { page } = await harness.open(route)
    await page.getByLabel('Registers per thread', { exact: true }).fill('32')
    await page.getByText('100.0 %').first().waitFor()
    await page.waitForURL(/registers=32/)
    await page.goBack().catch(() => null)
    await page.goto(`${harness.origin}/#${route}`)
    await page.getByRole('button', { name: 'Use' }).first().click()
    await page.waitForURL(/registers=80/)
    expect(await page.getByRole('status').first().innerText()).toContain('37.5 %')
  })

  it('says what is wrong with a field, and keeps what was typed', async () => {
    const { page } = await harness.open('/occupancy?threads=5000')
    await page.getByText('A whole number from 1 to 1,024.').waitFor()
    expect(await page.getByLabel('Threads per block', { exact: true }).inputValue()).toBe('5000')
    expect(await page.getByRole('status').innerText()).toMatch(/^Correct the marked field/)
  })

  it('takes a rung of the open session, and then has the occupancy that was measured of it', async () => {
    const { ref, session } = await shippedSession(harness.core)
    const { page, faults } = await harness.open(ladderRoute(ref))
    await page.locator('tr[data-rung]').first().waitFor()
    await page.getByRole('link', { name: 'Occupancy' }).click()
    for (const rung of session.rungs) {
      await page.getByLabel('Copy from a rung').selectOption(rung.id)
      const percent = formatPercent(rung.metrics['theoreticalOccupancy']!.value!)
      await page.getByRole('status').filter({ hasText: percent }).waitFor()
    }
    expect(faults).toEqual([])
  })
})
