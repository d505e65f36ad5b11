/** A rung that computes more than the product says so where its figures stand. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import type { Session } from '../../src-main/domain/session/session'
import { compareRoute, ladderRoute, ownStore, startHarness, type Harness } from './support'
import { recordingsDir } from '../services/support'

const ref = 'with-epilogue'
let harness: Harness
let own: Awaited<ReturnType<typeof ownStore>>
beforeAll(async () => {
  own = await ownStore()
  const real = await readSession(join(recordingsDir, 'gemm-fp32-h200-4096'))
  const folder = join(own.store, ref)
  await mkdir(folder, { recursive: true })
  const session: Session = {
    ...real,
    id: ref,
    target: { kind: 'live', name: 'local' },
    rungs: real.rungs.map((rung) =>
      rung.id === '15_rasterized' ? { ...rung, flags: ['bias', 'relu'] } : rung,
    ),
  }
  await writeFile(join(folder, 'session.json'), JSON.stringify(session))
  harness = await startHarness()
}, 60_000)
afterAll(async () => {
  await harness.stop()
  await own.remove()
})

it('in the ladder: a mark beside the title, and what the ratio is to', async () => {
  const { page, faults } = await harness.open(ladderRoute(ref))
  const row = page.locator('tr[data-rung="15_rasterized"]')
  const mark = row.locator('.beside')
  expect(await mark.getAttribute('aria-label')).toBe('Compared with the product: a bias, ReLU')
  expect(await page.locator('.beside').count()).toBe(1)
  await mark.hover()
  await page
    .getByText(
      '15_rasterized computes the product, a bias and ReLU; 00_cublas, which its ratio is relative to, computes the product only.',
    )
    .waitFor()
  await row.getByRole('button', { name: /^Details of/ }).click()
  expect(await page.locator('.detail-cell').innerText()).toContain('the product, a bias and ReLU')
  expect(faults).toEqual([])
})

it('beside a rung that computes the product alone: that their times are not of one thing', async () => {
  const { page, faults } = await harness.open(
    compareRoute(ref, '14_block_128x256', '15_rasterized'),
  )
  await page
    .getByText(
      '14_block_128x256 computes the product only, and 15_rasterized computes the product, a bias and ReLU; that accounts for part of the difference in time.',
    )
    .waitFor()
  expect(faults).toEqual([])
  const alike = await harness.open(compareRoute(ref, '13_cp_async', '14_block_128x256'))
  await alike.page.locator('.time .headline').waitFor()
  expect(await alike.page.locator('.computes').count()).toBe(0)
})
