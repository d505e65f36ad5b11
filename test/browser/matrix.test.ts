/** Tests the matrix with 200 rungs of about 300 metrics each, and also with a recording. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Papa from 'papaparse'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scrollFrames } from '../../scripts/bench/scroll-frames.mjs'
import {
  grids,
  machineCode,
  openMachineCode,
  openPair,
  openView,
} from '../../scripts/bench/views.mjs'
import { ownStore, startHarness, type Harness } from './support'
import { writeLongKernels, writeSynthetic } from '../../scripts/lib/synthetic-sessions.mjs'

const report = join(import.meta.dirname, '../captures/ncu/2025.3.1-h200/launches-two-rungs.ncu-rep')
const recorded = 'recorded:gemm-fp32-h200-4096'

let harness: Harness
let own: Awaited<ReturnType<typeof ownStore>>
let large: string
let metrics: number
beforeAll(async () => {
  own = await ownStore()
  const { store } = own
  harness = await startHarness()
  const { ref } = await harness.core.importFile(report)
  const imported = JSON.parse(readFileSync(join(store, ref, 'session.json'), 'utf8'))
  const { ncuMetrics } = imported.rungs[0]
  metrics = Object.keys(ncuMetrics).length
  large = writeSynthetic(store, { rungs: 200, ncuMetrics })
})
afterAll(async () => {
  await harness.stop()
  await own.remove()
})

const matrixOf = (ref: string, query = ''): string =>
  `/session/${encodeURIComponent(ref)}/matrix${query}`
const open = async (ref: string, query = '') => {
  const opened = await harness.visit(matrixOf(ref, query))
  await opened.page.locator('[role="gridcell"]').first().waitFor()
  return opened
}

describe('a large session', () => {
  it('is complete for a screen reader, although only the visible part is in the page', async () => {
    const { page, faults } = await open(large, '?metrics=all')
    const grid = page.getByRole('grid')
    expect(Number(await grid.getAttribute('aria-colcount'))).toBe(201)
    expect(Number(await grid.getAttribute('aria-rowcount'))).toBeGreaterThan(metrics)
    await expect.poll(() => page.locator('[role="gridcell"]').count()).toBeLessThan(900)
    expect(faults).toEqual([])
  })

  it('can be navigated by keyboard to its last figure, whose origin is announced', async () => {
    const { page } = await open(large, '?metrics=all')
    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+End')
    const active = page.locator('[role="gridcell"].active')
    await active.waitFor()
    await expect.poll(() => active.getAttribute('aria-colindex')).toBe('201')
    await expect
      .poll(() => active.getAttribute('id'))
      .toBe(await page.getByRole('grid').getAttribute('aria-activedescendant'))
    await expect
      .poll(() => page.locator('.status').innerText())
      .toContain('Measured by ncu 2025.3.1')
    await page.keyboard.press('Control+Home')
    await expect.poll(() => page.locator('.name.active').getAttribute('aria-colindex')).toBe('1')
  })
})

describe('a large table', () => {
  /**
   * Marks the rendered rows and cells, then scrolls. Returns the number of new rows and cells, and
   * whether all of them are in order.
   */
  const scrolled = (page: Page, scroller: string, rows: string, step: { x?: number; y?: number }) =>
    page
      .locator(rows)
      .evaluateAll((all) => all.forEach((one) => ((one as Element & { kept?: true }).kept = true)))
      .then(() => scrollFrames(page, scroller, step, 20))
      .then(() => page.waitForTimeout(400))
      .then(() =>
        page.locator(rows).evaluateAll((all) => {
          const places = all.map((one) => {
            const { top, left } = one.getBoundingClientRect()
            return Math.round(top) * 1e6 + Math.round(left)
          })
          return {
            count: all.length,
            fresh: all.filter((one) => !(one as Element & { kept?: true }).kept).length,
            ordered: places.every((place, at) => at === 0 || place > places[at - 1]!),
          }
        }),
      )

  it('reuses the elements of hidden rows for new rows, and restores the reading order', async () => {
    const { page, faults } = await harness.visit(`/session/${large}/ladder`)
    const ladder = grids.ladder({ rungs: 200 })
    await openView(page, harness.origin, large, ladder)
    await page.locator(ladder.scroller).evaluate((element) => element.scrollBy(0, 1000))
    await page.waitForTimeout(400)
    const rows = await scrolled(page, ladder.scroller, 'tbody.rung', { y: 60 })
    expect(rows.ordered).toBe(true)
    // Up to two rows may be new, one at each edge of the view.
    expect(rows.fresh).toBeLessThan(3)
    expect(rows.count).toBeLessThan(40)

    const matrix = grids.matrix({ rungs: 200 })
    await openView(page, harness.origin, large, matrix)
    await page.locator(matrix.scroller).evaluate((element) => element.scrollBy(960, 1000))
    await page.waitForTimeout(400)
    for (const step of [{ y: 60 }, { x: 60 }]) {
      const cells = await scrolled(page, matrix.scroller, '[role="gridcell"]', step)
      expect(cells.ordered).toBe(true)
      // The heading row of a group has no cells.
      expect(cells.fresh).toBeLessThan(cells.count / 4)
      expect(cells.count).toBeLessThan(900)
    }
    expect(faults).toEqual([])
  })

  it('never moves the focus from one row to another', async () => {
    const { page } = await harness.open(`/session/${large}/ladder`)
    const focused = () =>
      page.evaluate(() => (document.activeElement as HTMLElement).dataset['rung'] ?? 'none')
    const row = page.locator('tr[data-rung]').nth(3)
    await row.focus()
    const id = await focused()
    await page
      .locator('.scroller')
      .first()
      .evaluate((element) => element.scrollBy(0, 60))
    await page.waitForTimeout(400)
    expect(await focused()).toBe(id)
    await page
      .locator('.scroller')
      .first()
      .evaluate((element) => element.scrollBy(0, 3000))
    await page.waitForTimeout(400)
    expect(await focused()).toBe('none')
    await page.keyboard.press('ArrowDown')
    await expect.poll(focused).toBe(id)
    await page.keyboard.press('End')
    // The table has two heading rows before the 200 rungs.
    const last = (await page.locator('tr[aria-rowindex="202"]').getAttribute('data-rung'))!
    await expect.poll(focused).toBe(last)
    await page.waitForTimeout(400)
    expect(await focused()).toBe(last)
  })
})

describe('the benchmarked screen', { tags: ['thorough'] }, () => {
  it('can open and scroll one session after another', async () => {
    const { page, faults } = await harness.visit(`/session/${large}/ladder`)
    const moved = (scroller: string) =>
      page
        .locator(scroller)
        .first()
        .evaluate((element) => [element.scrollLeft, element.scrollTop])
    for (const grid of [grids.ladder({ rungs: 200 }), grids.matrix({ rungs: 200 })]) {
      await openView(page, harness.origin, large, grid)
      expect(await scrollFrames(page, grid.scroller, { x: 10, y: 60 }, 3)).toHaveLength(3)
      expect((await moved(grid.scroller))[1]).toBe(180)
    }
    for (const rungs of [3, 4]) {
      const ref = writeSynthetic(own.store, { rungs, ncuMetrics: {} })
      const folder = join(own.store, ref)
      const { rungs: written } = JSON.parse(readFileSync(join(folder, 'session.json'), 'utf8'))
      const pair: [string, string] = [written[1].id, written[2].id]
      const deep = await harness.core.call('sessions.deep', {
        ref: `${recorded}-deep`,
        rung: '08_warp_tile',
      })
      writeLongKernels(folder, pair, [deep, deep], 500)
      await openMachineCode(page, harness.origin, ref, pair)
      const before = (await moved(machineCode))[1]!
      await scrollFrames(page, machineCode, { y: 60 }, 3)
      expect((await moved(machineCode))[1]).not.toBe(before)
      await expect
        .poll(() => page.locator(`${machineCode} .row`).first().getAttribute('aria-setsize'))
        .toBe('500')
    }
    await openPair(page, harness.origin, recorded, ['02_coalesced', '03_shared_tile'])
    expect(faults).toEqual([])
  })
})

describe('the metrics of a recording', () => {
  it('have descriptions, and can be found by name', async () => {
    const { page } = await open(recorded)
    await page.getByRole('searchbox', { name: 'Find a metric' }).fill('bank conflicts')
    await expect.poll(() => page.getByRole('rowheader').count()).toBe(3)
    await page.getByRole('rowheader', { name: /shared loads/ }).hover()
    await expect
      .poll(() => page.locator('.status').innerText())
      .toContain('lanes of a warp read different words of the same bank')
  })

  it('show the names of rungs and metrics in full', async () => {
    const { page } = await open(recorded)
    const cut = await page
      .locator('.matrix :is(.head .title, .name > *)')
      .evaluateAll((all) =>
        all
          .filter(
            (one) => one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth,
          )
          .map((one) => one.textContent),
      )
    expect(cut).toEqual([])
  })

  it('show only the rungs that the address lists', async () => {
    const { page } = await open(recorded, '?rungs=03_shared_tile,06_float4,01_naive')
    const columns = () => page.getByRole('grid').getAttribute('aria-colcount')
    expect(await columns()).toBe('4')
    await expect.poll(() => page.getByRole('columnheader').count()).toBe(4)
    const { rungs } = await harness.core.call('sessions.get', { ref: recorded })
    await expect.poll(() => page.getByText(`3 of ${rungs.length} rungs`).isVisible()).toBe(true)
    await page.getByRole('button', { name: 'Show all' }).click()
    await expect.poll(columns).toBe(String(1 + rungs.length))
  })

  it('show only the rungs that match the filter, as the ladder and the charts do', async () => {
    const { page, faults } = await harness.open(matrixOf(recorded))
    const columns = () => page.getByRole('grid').getAttribute('aria-colcount')
    await page.getByPlaceholder('Find a rung').fill('warp tile')
    const { rungs } = await harness.core.call('sessions.get', { ref: recorded })
    await expect.poll(async () => Number(await columns())).toBeLessThan(rungs.length)
    const found = Number(await columns()) - 1
    expect(found).toBeGreaterThan(0)
    await page.getByRole('link', { name: 'Ladder', exact: true }).click()
    await page.locator('tr[data-rung]').first().waitFor()
    await expect.poll(() => page.locator('tr[data-rung]').count()).toBe(found)
    await page.getByRole('link', { name: 'Matrix', exact: true }).click()
    await page.getByText(`${found} of ${rungs.length} rungs`).waitFor()
    await page.getByPlaceholder('Find a rung').fill('no such rung')
    await page.getByText('No rung matches “no such rung”').waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await expect.poll(columns).toBe(String(1 + rungs.length))
    expect(faults).toEqual([])
  })

  it('can be copied as CSV for a spreadsheet', async () => {
    const { page } = await harness.open(matrixOf(recorded))
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy as CSV' }).click()
    await page.getByText('Copied').waitFor()
    const csv = await page.evaluate(() => navigator.clipboard.readText())
    const { data, errors } = Papa.parse<string[]>(csv, { skipEmptyLines: true })
    expect(errors).toEqual([])
    const { rungs } = await harness.core.call('sessions.get', { ref: recorded })
    expect(data[0]).toEqual(['Metric', 'Unit', ...rungs.map(({ title }) => title)])
    expect(
      data
        .find(([metric]) => metric === 'Median time')
        ?.slice(2)
        .map(Number),
    ).toEqual(rungs.map(({ timing }) => timing!.medianMs))
    await page.getByRole('button', { name: 'Copy as Markdown' }).click()
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toMatch(/^\| Metric \| Unit \| cuBLAS \|/)
  })
})

describe('a baseline', () => {
  it('colors improvements and regressions in the matrix and the ladder, and is remembered', async () => {
    const { page, faults } = await open(recorded)
    await page.getByLabel('Baseline').selectOption({ label: 'vs. 08 Warp tile' })
    await page.locator('[role="gridcell"].better').first().waitFor()
    const best = page.locator('[role="gridcell"].better').first()
    await best.hover()
    await expect.poll(() => page.locator('.status').innerText()).toContain('better')
    await page.reload()
    await page.locator('[role="gridcell"].worse').first().waitFor()
    await page.goto(page.url().replace(/matrix.*/, 'ladder?rung=08_warp_tile'))
    await page.getByRole('button', { name: /^vs\. base/ }).waitFor()
    await page.getByRole('button', { name: 'Stop using as baseline' }).click()
    await page.getByRole('button', { name: /^vs\. ref/ }).waitFor()
    expect(faults).toEqual([])
  })

  it('is not required to sort the rungs by a row', async () => {
    const { page } = await open(recorded)
    const first = () => page.locator('.head .rung .title').first().innerText()
    await page.locator('[data-sort="time"]').click()
    await expect.poll(first).toBe('Naive')
    await page.getByRole('grid').focus()
    await page.keyboard.press('Enter')
    await expect.poll(first).not.toBe('Naive')
    await page.keyboard.press('Enter')
    await expect.poll(first).toBe('cuBLAS')
  })
})
