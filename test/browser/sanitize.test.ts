/** compute-sanitizer from the UI: the real core over fake tools that replay real reports. */
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { fakeMachine, setEnv } from '../services/support'
import { seriousFaults } from './axe'
import { startHarness, type Harness, type OpenPage } from './support'

let harness: Harness | undefined
afterEach(async () => {
  await harness?.stop()
  harness = undefined
})

async function open(faults: string, route = '/run/checks'): Promise<OpenPage> {
  await fakeMachine()
  setEnv({ FAKE_FAULTS: faults })
  harness = await startHarness()
  return harness.open(route)
}
const result = (page: Page) => page.getByRole('region', { name: 'Results of the checks' })
const start = (page: Page) => page.getByRole('button', { name: 'Check' }).click()

describe('memory and race checks', () => {
  it('show each finding at its line of the source, and who is clean', async () => {
    const { page, faults } = await open('02_coalesced=out-of-bounds,03_shared_tile=race')
    await start(page)
    await page.getByRole('heading', { name: '2 checks have findings' }).waitFor()
    const text = await result(page).innerText()
    expect(text).toMatch(/gemm\/02_coalesced\.cu:14\s+error\s+Invalid __global__ write of size 4/)
    expect(text).toContain('Write here, Read at gemm/03_shared_tile.cu:15')
    expect(text).toMatch(/01\s+Naive.*\s+clean\s+clean\s+clean\s+clean/i)
    expect(await page.locator('.excerpt .here').first().innerText()).toContain('14')
    expect(await seriousFaults(page)).toEqual([])
    expect(faults).toEqual([])
  })

  it('take the rung that a link names, and end at a cancel', async () => {
    const { page } = await open(
      '01_naive=sanitizer-hang',
      '/run/checks?ladder=gemm-fp32&rung=01_naive',
    )
    await start(page)
    await page.getByText('Checking 0/4').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await result(page).getByText('Cancelled').waitFor()
    expect(await result(page).innerText()).toContain('not run')
    expect(await result(page).locator('tbody tr').count()).toBe(1)
  })

  it('are not offered without a GPU, with the way to the doctor', async () => {
    setEnv({ KERNEL_LADDER_PATH_ONLY: '1', PATH: '/nonexistent' })
    harness = await startHarness()
    const { page } = await harness.open('/run/checks')
    await page.getByText('No GPU was found here.').waitFor()
    expect(await page.getByRole('button', { name: 'Check' }).isDisabled()).toBe(true)
  })
})
