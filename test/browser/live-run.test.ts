/** A live run from the UI: the real core over fake tools that replay what a GPU's tools said. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import { fakeMachine, recordingsDir, rung, setEnv, type Machine } from '../services/support'
import { seriousFaults } from './axe'
import { startHarness, type Harness } from './support'

let harness: Harness | undefined
afterEach(async () => {
  await harness?.stop()
  harness = undefined
})

async function openRun(
  faults: string,
  target = 'local',
  without: readonly string[] = [],
): Promise<{ machine: Machine; page: Page }> {
  const machine = await fakeMachine(without)
  setEnv({ FAKE_FAULTS: faults })
  harness = await startHarness()
  const { page } = await harness.open('/run')
  await page.getByLabel('Target').selectOption(target)
  await page.getByLabel('Size').selectOption({ label: '1024³' })
  return { machine, page }
}
const progress = (page: Page) => page.getByRole('region', { name: 'Run progress' })
const start = (page: Page) => page.getByRole('button', { name: 'Start' }).click()

describe('a live run', () => {
  it('shows a rung that does not compile at its line, finishes the others, and opens as a session', async () => {
    const { machine, page } = await openRun('03_shared_tile=compile-error')
    await start(page)
    await page.getByRole('heading', { name: 'Complete' }).waitFor()
    expect(await progress(page).innerText()).toMatch(/identifier "j" is undefined/)
    expect(await seriousFaults(page)).toEqual([])
    await page.getByRole('link', { name: 'Open session' }).click()
    await page.locator('tr[data-rung="06_float4"]').waitFor()
    expect(await page.getByText(/^Live, /).isVisible()).toBe(true)
    expect(await readdir(machine.store)).toHaveLength(1)
  })

  it('is cancelled at once, and what was finished can be opened', async () => {
    const { page } = await openRun('02_coalesced=spawn')
    const replayed = await readSession(join(recordingsDir, 'gemm-fp32-h200-1024'))
    const naive = Math.round(rung(replayed, '01_naive').timing!.gflops!)
    await start(page)
    await progress(page).getByText(`${naive} GFLOP/s`).waitFor()
    expect(await seriousFaults(page)).toEqual([])
    expect(await progress(page).innerText()).not.toContain('not reached')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: 'Cancelled' }).waitFor({ timeout: 10_000 })
    await page.getByRole('link', { name: 'Open session' }).click()
    await page.locator('tr[data-rung="01_naive"]').waitFor()
    expect(await page.locator('table').innerText()).toContain(
      'The run ended before it reached this rung.',
    )
  })
})

describe('a machine with a compiler and no GPU', () => {
  it('builds for a GPU of the table, and shows the compiler’s messages', async () => {
    const { machine, page } = await openRun('03_shared_tile=compile-error', 'static:h200', [
      'nvidia-smi',
      'ncu',
    ])
    await page.getByLabel('GPU to build for').selectOption('a100')
    expect(await page.getByLabel('Profile').count()).toBe(0)
    await start(page)
    await page.getByRole('heading', { name: 'Complete' }).waitFor()
    const told = await progress(page).innerText()
    expect(told).toContain('built for A100, not run')
    expect(told).toMatch(/identifier "j" is undefined/)
    // What is said above the rows is not said again in each.
    expect(told).not.toContain('nothing runs without a GPU')
    const naive = progress(page).getByRole('row', { name: /Naive/ })
    expect(await naive.innerText()).toMatch(/32 registers\s+100\.0 %/)
    expect(machine.calls('runner')).toEqual([])
    await page.getByRole('link', { name: 'Open session' }).click()
    await page.locator('tr[data-rung="01_naive"]').waitFor()
  })
})

it('without a compiler there is nothing to build with', async () => {
  await fakeMachine(['nvidia-smi', 'ncu', 'nvcc'])
  harness = await startHarness()
  const { page } = await harness.open('/run')
  expect(await page.getByLabel('Target').locator('option[value^="static:"]').isDisabled()).toBe(
    true,
  )
})
