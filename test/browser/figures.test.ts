/** Tests the occupancy and export screens, and the figures of rungs with an epilogue. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { strFromU8, unzipSync } from 'fflate'
import { occupancy } from '../../src-main/domain/gpu/occupancy'
import { formatPercent } from '../../src-main/domain/metrics/units'
import {
  compareRoute,
  type Harness,
  ladderRoute,
  ownStore,
  shippedSession,
  startHarness,
} from './support'
import { parseReportHtml } from '../../src-main/parsers/report/report-html'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import { type Session } from '../../src-main/domain/session/session'
import { recordingsDir } from '../services/support'
import { smLimits } from '../../src-main/domain/gpu/sm-limits'

describe('occupancy', () => {
  let harness: Harness
  beforeAll(async () => {
    harness = await startHarness()
  })
  afterAll(() => harness.stop())

  const kernel = { threads: 256, registers: 128, staticSharedBytes: 0, dynamicSharedBytes: 8192 }
  const route = '/occupancy?gpu=9.0&threads=256&registers=128&shared=8192'

  describe('the what-if screen', () => {
    it('opens with the values from its address, the limiter, and advice on raising the occupancy', async () => {
      const { page, faults } = await harness.visit(route)
      const answer = page.getByRole('region', { name: 'Occupancy' })
      await answer.waitFor()
      const text = await answer.innerText()
      expect(text).toContain(formatPercent(occupancy(smLimits('9.0')!, kernel).percent))
      expect(text).toContain('limited by registers')
      expect(text).toContain('Registers 128 → 80: 3 blocks per SM, 37.5 %')
      expect(faults).toEqual([])
    })

    it('updates the results and the address when a field changes or the advice is applied', async () => {
      const { page } = await harness.open(route)
      await page.getByLabel('Registers per thread', { exact: true }).fill('32')
      await page.getByText('100.0 %').first().waitFor()
      await page.waitForURL(/registers=32/)
      await page.goBack().catch(() => null)
      await page.goto(`${harness.origin}/#${route}`)
      await page.getByRole('button', { name: 'Use' }).first().click()
      await page.waitForURL(/registers=80/)
      await expect.poll(() => page.getByRole('status').first().innerText()).toContain('37.5 %')
    })

    it('explains the error in a field, and keeps the typed text', async () => {
      const { page } = await harness.visit('/occupancy?threads=5000')
      await page.getByText('A whole number from 1 to 1,024.').waitFor()
      await expect
        .poll(() => page.getByLabel('Threads per block', { exact: true }).inputValue())
        .toBe('5000')
      await expect
        .poll(() => page.getByRole('status').innerText())
        .toMatch(/^Correct the marked field/)
    })

    it('accepts a rung of the open session, and then shows its measured occupancy', async () => {
      const { ref, session } = await shippedSession(harness.core)
      const { page, faults } = await harness.visit(ladderRoute(ref))
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
})

describe('export', () => {
  let harness: Harness
  let ref: string
  beforeAll(async () => {
    harness = await startHarness()
    ref = (await shippedSession(harness.core)).ref
  })
  afterAll(() => harness.stop())

  const route = (): string => `/session/${encodeURIComponent(ref)}/export`

  describe('the screen', () => {
    it('opens from the page frame, and saves the chosen rungs as a file', async () => {
      const { page, faults } = await harness.visit(`/session/${encodeURIComponent(ref)}/ladder`)
      await page.getByRole('link', { name: 'Report on this session' }).click()
      await page.getByText('Best rung:').waitFor()
      await page.getByLabel('Naive').uncheck()
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Save report' }).click()
      const file = await download
      expect(file.suggestedFilename()).toMatch(/^gemm-fp32-.*\.html$/)
      const html = await readFile(await file.path(), 'utf8')
      const { report } = parseReportHtml(html, 'x')
      expect(report.sessions[0]!.session.rungs.map(({ id }) => id)).not.toContain('01_naive')
      await expect
        .poll(() => page.getByRole('status').textContent())
        .toMatch(/Saved gemm-fp32-.*kB/)
      expect(faults).toEqual([])
    })

    it('previews a text format, and updates when the choice changes', async () => {
      const { page, faults } = await harness.visit(route())
      await page.getByRole('radio', { name: /Markdown/ }).check()
      const preview = page.getByRole('region', { name: 'Preview' })
      await preview.getByText('## Ladder').waitFor()
      await page.getByRole('checkbox', { name: 'Ladder', exact: true }).uncheck()
      await preview.getByText('## Counters').waitFor()
      await expect.poll(() => preview.textContent()).not.toContain('## Ladder')
      await page.getByRole('button', { name: 'Clear', exact: true }).click()
      await expect
        .poll(() => page.getByRole('button', { name: 'Save report' }).isDisabled())
        .toBe(true)
      expect(faults).toEqual([])
    })

    it('exports Markdown with the pictures that it shows', async () => {
      const { page, faults } = await harness.visit(route())
      await page.getByRole('radio', { name: /Markdown/ }).check()
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Save report' }).click()
      const file = await download
      expect(file.suggestedFilename()).toMatch(/^gemm-fp32-.*\.zip$/)
      const files = unzipSync(await readFile(await file.path()))
      const [name = ''] = Object.keys(files)
      const shown = [...strFromU8(files[name]!).matchAll(/\]\(([^)]+\.svg)\)/g)].map(
        ([, path]) => path,
      )
      expect(shown.length).toBeGreaterThan(3)
      expect(Object.keys(files)).toEqual([name, ...shown])
      expect(faults).toEqual([])
    })

    it('is not required to save a chart of the ladder screen', async () => {
      const { page, faults } = await harness.visit(`/session/${encodeURIComponent(ref)}/ladder`)
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Throughput: Save as SVG' }).click()
      const file = await download
      expect(file.suggestedFilename()).toBe('gemm-fp32-throughput.svg')
      expect(await readFile(await file.path(), 'utf8')).toMatch(/^<svg [^]*Throughput \(TFLOP\/s\)/)
      expect(faults).toEqual([])
    })

    it('rejects two sessions that cannot be compared before it creates anything', async () => {
      const { page } = await harness.visit(route())
      await page.getByRole('radio', { name: /HTML/ }).check()
      const beside = page.getByLabel('Compared with')
      const option = beside.locator('option', { hasText: '1024' }).first()
      await beside.selectOption((await option.getAttribute('value'))!)
      await page.getByText(/The problems differ/).waitFor()
      await expect
        .poll(() => page.getByRole('button', { name: 'Save report' }).isDisabled())
        .toBe(true)
    })
  })
})

describe('rungs with an epilogue', () => {
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
        rung.id === '12_rasterized' ? { ...rung, flags: ['bias', 'relu'] } : rung,
      ),
    }
    await writeFile(join(folder, 'session.json'), JSON.stringify(session))
    harness = await startHarness()
  })
  afterAll(async () => {
    await harness.stop()
    await own.remove()
  })

  it('have a mark next to the title in the ladder, and show the ratio’s reference', async () => {
    const { page, faults } = await harness.visit(ladderRoute(ref))
    const row = page.locator('tr[data-rung="12_rasterized"]')
    const mark = row.locator('.beside')
    await expect
      .poll(() => mark.getAttribute('aria-label'))
      .toBe('In addition to the product: a bias, ReLU')
    await expect.poll(() => page.locator('.beside').count()).toBe(1)
    await mark.hover()
    await page
      .getByText(
        '12_rasterized computes the product, a bias and ReLU; its ratio is relative to 00_cublas, which computes the product only.',
      )
      .waitFor()
    await row.getByRole('button', { name: /^Details of/ }).click()
    await expect
      .poll(() => page.locator('.detail-cell').innerText())
      .toContain('the product, a bias and ReLU')
    expect(faults).toEqual([])
  })

  it('show a note if they are compared with a rung without an epilogue', async () => {
    const { page, faults } = await harness.visit(
      compareRoute(ref, '11_block_128x256', '12_rasterized'),
    )
    await page
      .getByText(
        '11_block_128x256 computes the product only, and 12_rasterized computes the product, a bias and ReLU. This difference in work accounts for part of the time difference.',
      )
      .waitFor()
    expect(faults).toEqual([])
    const alike = await harness.visit(compareRoute(ref, '10_cp_async', '11_block_128x256'))
    await alike.page.locator('.time .headline').waitFor()
    await expect.poll(() => alike.page.locator('.computes').count()).toBe(0)
  })
})
