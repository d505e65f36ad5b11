/**
 * Tests that an HTML report is self-contained. The report must open from disk, without a network,
 * even years later.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { assets } from '../../src-main/adapters/catalog/assets'
import { printPdf, placesInPdf } from '../../src-main/adapters/print/chromium'
import { reportHtml, reportPdf, type HtmlSource } from '../../src-main/services/report'
import { readTemplate } from '../../src-main/services/report/html'
import {
  largeProfile,
  noPrivates,
  recording,
  slowed,
  withHostileStrings,
} from '../services/report/samples'
import { afterTest } from '../support'
import { tempDir } from '../services/support'
import { sharedBrowser } from './support'

let template: string
beforeAll(async () => {
  template = await readTemplate(await assets())
})

/** Opens a report. Returns the page, its errors, and all requested addresses. */
async function open(
  samples: [HtmlSource] | [HtmlSource, HtmlSource],
  options: Parameters<typeof reportHtml>[1] = {},
  { scripts = true, locale = 'en' } = {},
): Promise<{ page: Page; faults: string[]; requests: string[] }> {
  const file = join(await tempDir(), 'report.html')
  await writeFile(file, reportHtml(samples, options, template, noPrivates))
  const browser = await sharedBrowser()
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    javaScriptEnabled: scripts,
    locale,
    reducedMotion: 'reduce',
  })
  afterTest(() => context.close())
  await context.setOffline(true)
  const page = await context.newPage()
  const faults: string[] = []
  const requests: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
  })
  page.on('request', (request) => requests.push(request.url()))
  await page.goto(`file://${file}`)
  return { page, faults, requests: requests.filter((url) => url !== `file://${file}`) }
}

describe('an HTML report opened from disk, offline', () => {
  it('opens with the summary, and links to the Ladder and Compare screens', async () => {
    const { page, faults, requests } = await open([recording()])
    await page.getByText('Best rung:').waitFor()
    expect(await page.locator('nav a').allTextContents()).toEqual([
      'Summary',
      'Ladder',
      'Compare',
      'Matrix',
      'Charts',
    ])
    await expect
      .poll(() => page.locator('pre').textContent())
      .toContain('kernel-ladder run --ladder gemm-fp32')

    await page.getByRole('link', { name: 'Ladder', exact: true }).click()
    await expect.poll(() => page.locator('tr[data-rung]').count()).toBe(7)
    await page.locator('canvas').first().waitFor()
    await page.locator('tr[data-rung]').nth(5).click()
    await page.locator('tr[data-rung]').nth(6).click()
    await page
      .getByRole('button', { name: /^Compare .* with/ })
      .last()
      .click()
    await page.locator('.cm-content').first().waitFor()
    const [before, after] = await page.locator('.cm-content').allTextContents()
    expect(before).toContain('constexpr int kRowsA = kThreads / BK;')
    expect(after).toContain('constexpr int kRowsA = kThreads / (BK / 4);')
    await expect.poll(() => page.locator('main').textContent()).toContain('Shared-memory loads')
    expect([faults, requests]).toEqual([[], []])
  })

  const namesRungs = async (locale: string, naive: string): Promise<void> => {
    const { page } = await open(
      [recording(), slowed(recording(), '06_float4', 1.5)],
      {},
      { locale },
    )
    await page.locator('tbody .title').first().waitFor()
    expect(await page.locator('tbody .title').allTextContents()).toContain(naive)
  }
  it('shows the rungs of two sessions in Korean', () => namesRungs('ko', '단순 구현'))
  it('shows the rungs of two sessions in Chinese', { tags: ['thorough'] }, () =>
    namesRungs('zh-CN', '朴素实现'),
  )

  it('shows code from a session as text, and never executes it', async () => {
    const { page, faults } = await open([withHostileStrings()])
    await page.getByText('Rungs without a result').waitFor()
    for (const name of ['Ladder', 'Compare', 'Matrix', 'Charts']) {
      await page.getByRole('link', { name, exact: true }).click()
      await page.locator('main *').first().waitFor()
    }
    await expect.poll(() => page.locator('img, script[src], a[href^="http"]').count()).toBe(0)
    expect(faults).toEqual([])
  })

  it('has a policy that runs only its own script', async () => {
    const { page, faults } = await open([recording()])
    await page.getByText('Best rung:').waitFor()
    const ran = await page.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'window.intruder = true'
      document.body.append(script)
      return 'intruder' in window
    })
    expect(ran).toBe(false)
    expect(faults.join()).toContain('Content Security Policy')
  })

  it('shows only the chosen sections', async () => {
    const { page } = await open([recording()], { sections: ['compare'] })
    await page.getByText('Best rung:').waitFor()
    expect(await page.locator('nav a').allTextContents()).toEqual(['Summary', 'Compare'])
  })

  it('shows its findings if scripts are disabled', async () => {
    const { page } = await open([recording()], {}, { scripts: false })
    await expect.poll(() => page.locator('noscript').textContent()).toContain('Best rung:')
  })

  it('shows two sessions side by side, and links to each rung in both sessions', async () => {
    const after = slowed(recording(), '06_float4', 1.5)
    const { page, faults } = await open([recording(), after])
    const row = page.locator('tr', { hasText: '06_float4' }).first()
    await expect.poll(() => row.textContent()).toMatch(/3\.41 ms\s*5\.12 ms\s*0\.667×/)
    await row.getByRole('link').click()
    await page.locator('.cm-content').first().waitFor()
    await page.getByRole('link', { name: 'Ladder', exact: true }).click()
    await page.getByText('Second', { exact: true }).click()
    await page.getByText('5.12').first().waitFor()
    expect(faults).toEqual([])
  })

  it('provides deep profiles to the screens that need them', async () => {
    const profiles = [largeProfile('06_float4', 30)]
    const { page } = await open([{ ...recording(), profiles }])
    await page.getByText('Best rung:').waitFor()
    const ids = await page.locator('script[id]').evaluateAll((all) => all.map(({ id }) => id))
    expect(ids).toContain('kernel-ladder-deep-0')
  })

  it('is at most 2.2 MiB for 14 rungs of a deep session', () => {
    const sample = recording()
    const { session, sources } = sample
    const [like] = session.rungs.slice(-1)
    while (session.rungs.length < 14) {
      const id = `${session.rungs.length}_more`
      session.rungs.push({ ...structuredClone(like!), id })
      sources[id] = sources[like!.id]!
    }
    const profiles = session.rungs.map(({ id }) => largeProfile(id, 1500))
    const html = reportHtml([{ ...sample, profiles }], {}, template, noPrivates)
    expect(Buffer.byteLength(html)).toBeLessThan(2.2 * 2 ** 20)
  })
})

describe('a PDF', () => {
  it('is tagged and reproducible, and has an outline and a numbered table of contents', async () => {
    const print = () => reportPdf([recording()], {}, { printPdf }, noPrivates)
    const pdf = Buffer.from(await print())
    const text = pdf.toString('latin1')
    expect(text.startsWith('%PDF-')).toBe(true)
    expect(text.includes('/Marked true')).toBe(true)
    expect(text.includes('/Type /Outlines')).toBe(true)
    // Charts in the PDF are vector graphics. A bitmap would be an Image object.
    expect(text.includes('/Subtype /Image')).toBe(false)
    const places = placesInPdf(pdf)
    expect([...places.keys()]).toContain('step-4')
    expect(places.get('summary')).toBe(1)
    expect(places.get('provenance')!).toBeGreaterThan(places.get('step-0')!)
    expect(Buffer.from(await print()).equals(pdf)).toBe(true)
  })

  it(
    'of two sessions is tagged, and its table of contents links to the changes',
    { tags: ['thorough'] },
    async () => {
      const after = slowed(recording(), '06_float4', 1.5)
      after.sources['06_float4'] += '// changed\n'
      const pdf = await reportPdf([recording(), after], {}, { printPdf }, noPrivates)
      const text = Buffer.from(pdf).toString('latin1')
      expect(text.includes('/Marked true')).toBe(true)
      expect(text.includes('/Subtype /Image')).toBe(false)
      expect([...placesInPdf(pdf).keys()].sort()).toEqual(
        ['charts', 'counters', 'provenance', 'source-6', 'sources', 'summary', 'times'].sort(),
      )
    },
  )
})
