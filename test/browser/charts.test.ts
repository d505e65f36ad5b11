/** The charts over the shipped recordings: what is drawn, what is said in words, what is saved. */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Session } from '../../src-main/domain/session/session'
import { startHarness, type Harness, type OpenPage } from './support'

let harness: Harness
beforeAll(async () => void (harness = await startHarness()))
afterAll(() => harness.stop())

const route = (recording: string, chart = '') =>
  `/session/${encodeURIComponent(`recorded:${recording}`)}/charts${chart && `/${chart}`}`
const get = (recording: string): Promise<Session> =>
  harness.core.call('sessions.get', { ref: `recorded:${recording}` })

const climb = 'gemm-fp32-h200-4096'
/** At the level card. */
const card = 'gemm-fp32-h200-8192'
const study = 'seed-rtx3090-h200-1024'

async function open(
  recording: string,
  chart: string,
  options: { width?: number; dark?: boolean } = {},
): Promise<OpenPage> {
  const opened = await harness.open(route(recording, chart), options)
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
    // In words for who does not see it, made from the figures.
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

it('opens with the first chart that has something to draw, and leads to the others by keyboard', async () => {
  const { page } = await harness.open(route(card))
  await page.getByRole('heading', { name: 'Occupancy limiters' }).waitFor()
  await page.getByRole('link', { name: 'Waves and tail' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Waves and tail' }).waitFor()
  expect(page.url()).toContain('/charts/waves')
})

it('names the level and the command instead of zeros where nothing was collected', async () => {
  const session = await get(card)
  expect(session.settings.profile).toBe('card')
  for (const chart of ['stalls', 'traffic', 'roofline']) {
    const { page } = await harness.open(route(card, chart))
    await page.getByText('Not collected').waitFor()
    expect(await page.locator('.empty code').innerText()).toBe(
      `kernel-ladder run --ladder ${session.ladder.id} --size 8192 --profile standard`,
    )
    expect(await page.locator('canvas').count()).toBe(0)
    await page.close()
  }
})

describe('the table behind a chart', () => {
  it('holds the occupancy that ncu measured beside the one that was calculated', async () => {
    const { page } = await open(climb, 'occupancy')
    await page.getByText('Table', { exact: true }).focus()
    await page.keyboard.press('Enter')
    const rows = page.locator('table.figures tbody tr')
    const session = await get(climb)
    await rows.first().waitFor()
    expect(await rows.count()).toBe(session.rungs.filter(({ profile }) => profile).length)
    for (const rung of session.rungs) {
      const own = rung.metrics['theoreticalOccupancy']?.value
      if (own == null) continue
      const text = await rows.filter({ hasText: rung.title }).first().innerText()
      // Once calculated, once as ncu says.
      expect(text.split(`${own.toFixed(1)} %`).length - 1, rung.id).toBeGreaterThanOrEqual(2)
    }
  })

  it("holds the author's figures of a study beside ours", async () => {
    const { page } = await open(study, 'study')
    await page.getByText('Table', { exact: true }).click()
    const text = await page.locator('table.figures').innerText()
    expect(text).toContain('6.00 TFLOP/s')
    const session = await get(study)
    for (const rung of session.rungs.filter(({ params }) => params['STRIDE'] !== undefined))
      expect(text).toContain(rung.title)
  })
})

it('joins sessions of several sizes, one a size, and drops one that is let go of', async () => {
  const { page } = await open(climb, 'sweep')
  const words = () => page.locator('.chart-host').getAttribute('aria-label')
  await expect.poll(words).toContain('1024³')
  expect(await words()).toContain('4096³')
  await page.getByRole('checkbox', { name: /1024³/ }).focus()
  await page.keyboard.press('Space')
  await expect.poll(words).not.toContain('1024³')
})

describe('a saved chart', () => {
  it('is an SVG on white with its title and origin, whatever the theme', async () => {
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

  it('is a PNG of print resolution', async () => {
    const { page } = await open(climb, 'occupancy')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as PNG' }).click(),
    ])
    const png = await readFile((await download.path())!)
    expect(png.subarray(1, 4).toString()).toBe('PNG')
    // 170 mm at 300 dots an inch.
    expect(Math.abs(png.readUInt32BE(16) - 2009)).toBeLessThan(3)
  })
})
