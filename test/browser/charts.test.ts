/** Tests the charts, including the instruction mix. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Session } from '../../src-main/domain/session/session'
import { type Harness, ladderRoute, type OpenPage, ownStore, startHarness } from './support'
import { draftSession } from '../../src-main/adapters/sessions/session-store'
import { mixMetrics } from '../../src-main/domain/metrics/instruction-mix-metrics'
import { standardSession } from '../captures'

describe('charts', async () => {
  let harness: Harness
  beforeAll(async () => void (harness = await startHarness()))
  afterAll(() => harness.stop())

  const route = (recording: string, chart = '') =>
    `/session/${encodeURIComponent(`recorded:${recording}`)}/charts${chart && `/${chart}`}`
  const get = (recording: string): Promise<Session> =>
    harness.core.call('sessions.get', { ref: `recorded:${recording}` })

  const climb = 'gemm-fp32-h200-4096'
  /** A recording made at the card profile level. */
  const card = 'gemm-fp32-h200-8192'
  const study = 'seed-rtx3090-h200-1024'

  async function open(
    recording: string,
    chart: string,
    options: { width?: number; dark?: boolean } = {},
  ): Promise<OpenPage> {
    const opened = await harness.visit(route(recording, chart), options)
    await opened.page.locator('.chart-figure canvas').first().waitFor()
    return opened
  }

  describe('every chart that a recording can draw', () => {
    it.each([
      [climb, 'occupancy', 1280, false],
      [climb, 'waves', 1280, true],
      [climb, 'roofline', 1280, false],
      [climb, 'stalls', 1920, true],
      [climb, 'traffic', 1280, false],
      [climb, 'sweep', 1920, false],
      [study, 'study', 1920, true],
    ])('%s: %s at %i px', async (recording, chart, width, dark) => {
      const { page, faults } = await open(recording, chart, { width, dark })
      // The description for screen readers must include the figures.
      const words = await page.locator('.chart-host').getAttribute('aria-label')
      expect(words!.match(/\d/g)!.length).toBeGreaterThan(3)
      const { scrollWidth, clientWidth } = await page.evaluate(() => ({
        scrollWidth: document.documentElement.scrollWidth,
        clientWidth: document.documentElement.clientWidth,
      }))
      expect(scrollWidth).toBe(clientWidth)
      expect(faults).toEqual([])
    })
  })

  it('open with the first chart that has data, and all charts can be opened with the keyboard', async () => {
    const { page } = await harness.visit(route(card))
    await page.getByRole('heading', { name: 'Occupancy limiters' }).waitFor()
    await page.getByRole('link', { name: 'Waves and tail' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Waves and tail' }).waitFor()
    expect(page.url()).toContain('/charts/waves')
  })

  it('show the required level and command instead of zeros if nothing was collected', async () => {
    const session = await get(card)
    expect(session.settings.profile).toBe('card')
    for (const chart of ['stalls', 'traffic', 'roofline']) {
      const { page } = await harness.open(route(card, chart))
      await page.getByText('Not collected').waitFor()
      await expect
        .poll(() => page.locator('.empty code').innerText())
        .toBe(`kernel-ladder run --ladder ${session.ladder.id} --size 8192 --profile standard`)
      await expect.poll(() => page.locator('canvas').count()).toBe(0)
      await page.close()
    }
  })

  describe('pointer and keys', () => {
    /** Returns the point at the vertical center of a row, next to the rung name. */
    async function rowAt(page: Page, chart: number, index: number, rows: number) {
      const box = (await page.locator('.chart-host').nth(chart).boundingBox())!
      const [top, bottom] = [24, 44]
      return {
        x: box.x + 100,
        y: box.y + top + ((box.height - top - bottom) * (index + 0.5)) / rows,
      }
    }

    it('highlight a rung in every chart, select two rungs for comparison, and open a rung', async () => {
      const { rungs } = await get(climb)
      const { page, faults } = await harness.open(route(climb, 'stalls?beside=traffic'), {
        width: 1920,
      })
      await page.locator('.chart-figure canvas').nth(1).waitFor()
      const first = await rowAt(page, 0, 2, rungs.length)
      await page.mouse.move(first.x, first.y)
      const lit = page.locator('.chart-host').nth(1).locator('.lit.band')
      await expect.poll(() => lit.count()).toBe(1)
      const other = await rowAt(page, 1, 2, rungs.length)
      const band = (await lit.boundingBox())!
      expect(Math.abs(band.y + band.height / 2 - other.y)).toBeLessThan(4)

      await page.keyboard.down('Shift')
      await page.mouse.click(first.x, first.y)
      const second = await rowAt(page, 0, 5, rungs.length)
      await page.mouse.click(second.x, second.y)
      await page.keyboard.up('Shift')
      await expect.poll(() => page.locator('.lit.picked').count()).toBe(4)
      await page.getByRole('button', { name: /^Compare / }).click()
      await expect.poll(() => page.url()).toContain(`compare/${rungs[2]!.id}/${rungs[5]!.id}`)
      await page.goBack()

      await page.locator('.chart-figure canvas').first().waitFor()
      await page.locator('.chart-host').first().focus()
      for (const key of ['Home', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key)
      await expect
        .poll(() => page.locator('.chart-host [aria-live]').first().innerText())
        .toContain(rungs[2]!.title)
      await page.keyboard.press('Enter')
      await page.locator(`tr[data-rung="${rungs[2]!.id}"] [aria-expanded="true"]`).waitFor()
      expect(faults).toEqual([])
    })

    it('zoom the roofline around the pointer and back', async () => {
      const { page, faults } = await open(climb, 'roofline')
      const box = (await page.locator('.chart-host').boundingBox())!
      const whole = page.getByRole('button', { name: 'Reset zoom' })
      await expect.poll(() => whole.isDisabled()).toBe(true)
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
      await page.mouse.wheel(0, -400)
      await expect.poll(() => whole.isDisabled()).toBe(false)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width / 2 + 80, box.y + box.height / 2, { steps: 3 })
      await page.mouse.up()
      // A drag must not open the rung.
      expect(page.url()).toContain('/charts/roofline')
      await page.locator('.chart-host').focus()
      await page.keyboard.press('0')
      await expect.poll(() => whole.isDisabled()).toBe(true)
      expect(faults).toEqual([])
    })

    it('open the two rungs that a roofline segment connects', async () => {
      const { rungs } = await get(climb)
      const { page, faults } = await open(climb, 'roofline')
      const host = page.locator('.chart-host')
      await host.focus()
      const ringAt = async (key: string) => {
        await page.keyboard.press(key)
        const box = (await host.locator('.lit.ring').boundingBox())!
        return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
      }
      // The reference is drawn last, but it is first in the ladder.
      const naive = await ringAt('Home')
      const coalesced = await ringAt('ArrowDown')
      const [x, y] = [(naive.x + coalesced.x) / 2, (naive.y + coalesced.y) / 2]
      await page.mouse.move(x, y)
      await expect.poll(() => host.locator('.lit.ring').count()).toBe(2)
      await page.mouse.click(x, y)
      await expect.poll(() => page.url()).toContain(`compare/${rungs[1]!.id}/${rungs[2]!.id}`)
      expect(faults).toEqual([])
    })

    it('have a hint about clicking a rung only if there is a rung to click', async () => {
      const how = 'Click a rung to open it'
      const { page } = await open(climb, 'roofline')
      await page.getByText(how).waitFor()
      await page.getByRole('link', { name: 'Waves and tail' }).click()
      await page.getByText('Scroll to zoom').waitFor()
      await expect.poll(() => page.getByText(how).count()).toBe(0)
    })

    it('toggle series', async () => {
      const { page } = await open(climb, 'stalls')
      const entry = page.getByRole('button', { name: 'barrier', exact: true })
      await entry.click()
      await expect.poll(() => entry.getAttribute('aria-pressed')).toBe('false')
      const saving = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Save as SVG' }).click()
      const svg = await readFile(await (await saving).path(), 'utf8')
      // The stall reason `barrier` appears only in the legend, because no bar shows it.
      expect(svg.split('>barrier<').length - 1).toBe(1)
    })

    it('set a filter that the ladder shares, and pinned rungs and columns that survive a reload', async () => {
      const { page, faults } = await harness.open(route(climb, 'stalls'))
      const { rungs } = await get(climb)
      await page.getByPlaceholder('Find a rung').fill('warp tile')
      await page.getByText(`of ${rungs.length} rungs`).waitFor()
      await page.getByRole('link', { name: 'Ladder', exact: true }).click()
      await page.locator('tr[data-rung]').first().waitFor()
      const shown = await page.locator('tr[data-rung]').count()
      expect(shown).toBeLessThan(rungs.length)
      await page.locator('tr[data-rung]').first().focus()
      await page.keyboard.press('p')
      // The columns that the user chooses are stored in the same way as the pinned rungs.
      const headings = () => page.locator('th.metric').count()
      const before = await headings()
      await page.getByRole('button', { name: 'Columns', exact: true }).click()
      await page.getByRole('checkbox', { name: 'L2 hit rate' }).check()
      expect(await headings()).toBe(before + 1)
      await page.reload()
      await page.locator('tbody.pinned tr[data-rung]').waitFor()
      expect(await headings()).toBe(before + 1)
      await expect.poll(() => page.locator('tr[data-rung]').count()).toBe(rungs.length)
      expect(faults).toEqual([])
    })
  })

  describe('the table behind a chart', () => {
    it('shows the occupancy measured by ncu next to the calculated occupancy', async () => {
      const { page } = await open(climb, 'occupancy')
      await page.getByText('Table', { exact: true }).focus()
      await page.keyboard.press('Enter')
      const rows = page.locator('table.figures tbody tr')
      const session = await get(climb)
      await rows.first().waitFor()
      await expect
        .poll(() => rows.count())
        .toBe(session.rungs.filter(({ profile }) => profile).length)
      for (const rung of session.rungs) {
        const own = rung.metrics['theoreticalOccupancy']?.value
        if (own == null) continue
        const text = await rows.filter({ hasText: rung.title }).first().innerText()
        // The text contains the calculated value and the value from ncu.
        expect(text.split(`${own.toFixed(1)} %`).length - 1, rung.id).toBeGreaterThanOrEqual(2)
      }
    })

    it("shows the figures of a study's author next to our own figures", async () => {
      const { page } = await open(study, 'study')
      await page.getByText('Table', { exact: true }).click()
      const text = await page.locator('table.figures').innerText()
      expect(text).toContain('6.00 TFLOP/s')
      const session = await get(study)
      for (const rung of session.rungs.filter(({ params }) => params['STRIDE'] !== undefined))
        expect(text).toContain(rung.title)
    })
  })

  it('combine one session per size, except for deselected sessions', async () => {
    const { page } = await open(climb, 'sweep')
    const words = () => page.locator('.chart-host').getAttribute('aria-label')
    await expect.poll(words).toContain('1024³')
    expect(await words()).toContain('4096³')
    await page.getByRole('checkbox', { name: /1024³/ }).focus()
    await page.keyboard.press('Space')
    await expect.poll(words).not.toContain('1024³')
  })

  describe('a saved chart', () => {
    it('is an SVG on a white background with its title and GPU, in any theme', async () => {
      const { page } = await open(study, 'study', { dark: true })
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Save as SVG' }).click(),
      ])
      expect(download.suggestedFilename()).toBe('seed-rtx3090-1024-study.svg')
      const svg = await readFile((await download.path())!, 'utf8')
      expect(svg).toMatch(/^<svg /)
      expect(svg).toContain('Parameter study: STRIDE')
      expect(svg).toContain('NVIDIA H200')
      expect(svg).toMatch(/<rect [^>]*fill="#fff(fff)?"/)
      expect(svg).not.toContain('#14171b')
    })

    it('can be a PNG at print resolution', async () => {
      const { page } = await open(climb, 'occupancy')
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Save as PNG' }).click(),
      ])
      const png = await readFile((await download.path())!)
      expect(png.subarray(1, 4).toString()).toBe('PNG')
      // The image is 170 mm wide at 300 dpi.
      expect(Math.abs(png.readUInt32BE(16) - 2009)).toBeLessThan(3)
    })
  })
})

describe('the instruction mix', () => {
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

  it.each([
    [1280, false],
    [1920, true],
  ])('is drawn at %i px, with a text description', async (width, dark) => {
    const { page, faults } = await harness.visit(chart('mix'), { width, dark })
    await page.locator('.chart-figure canvas').first().waitFor()
    const words = await page.locator('.chart-host').getAttribute('aria-label')
    expect(words).toContain('89.2 % FP32')
    await page.getByText('Table', { exact: true }).click()
    const row = page.locator('table.figures tbody tr').last()
    await expect.poll(() => row.innerText()).toMatch(/89\.1\s?%/)
    expect(faults).toEqual([])
  })

  it("is shown in a rung's details, with the counted operations next to the product's operations", async () => {
    const { page, faults } = await harness.visit(ladderRoute(ref))
    await page.locator('tr[data-rung="06_float4"] button').first().click()
    const details = page.locator('.details')
    await details.getByRole('heading', { name: 'Instruction mix' }).waitFor()
    const text = await details.innerText()
    expect(text).toMatch(/FP32 operations:\s*2\.15 GFLOP/)
    expect(text).toContain('of the product')
    await expect.poll(() => details.getByRole('img', { name: /FP32 89\.2/ }).count()).toBe(1)
    // The deep profile includes a verdict, but a card profile does not.
    expect(text).toContain('The last wave')
    expect(faults).toEqual([])
  })

  it("provides the roofline's operation counts, and the chart mentions their source", async () => {
    const { page } = await harness.visit(chart('roofline'))
    await page.locator('.chart-figure canvas').first().waitFor()
    await expect
      .poll(() => page.locator('.notes').innerText())
      .toContain('FP32 operations counted by ncu')
  })

  it('is absent from an older session, and the screen explains how to request it', async () => {
    const { page, faults } = await harness.visit('/session/older/charts/mix')
    await page
      .getByText('this session predates these counters in profile level “standard”')
      .waitFor()
    await expect.poll(() => page.locator('.empty code').innerText()).toContain('--profile standard')
    await expect.poll(() => page.locator('canvas').count()).toBe(0)
    expect(faults).toEqual([])
  })
})
