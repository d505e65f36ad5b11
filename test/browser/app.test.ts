/** Tests the whole page: its initial size, its stored settings, and its languages. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Page } from 'playwright-core'
import { budget } from '../../scripts/bench/budgets.mjs'
import { screens, wordsOf, type Screen } from '../../scripts/lib/screens.mjs'
import { initialScripts } from '../../scripts/lib/initial-size.mjs'
import { type Harness, leaveScreen, settled, startHarness, englishOn } from './support'
import { shippedKernels } from '../services/support'

describe('page load', () => {
  const { files, libraries, kb } = initialScripts(join(import.meta.dirname, '../../out/renderer'))

  it("the first page's scripts are within their size budget", () => {
    expect(files.length).toBeGreaterThan(0)
    expect(kb).toBeGreaterThan(20)
    expect(kb).toBeLessThanOrEqual(budget('initialScripts').most)
  })

  it('scripts for charts, the editor, and formulas load on demand', () => {
    expect(libraries).toEqual([])
  })
})

describe('preferences', () => {
  let harness: Harness
  beforeAll(async () => {
    harness = await startHarness()
  })
  afterAll(() => harness.stop())

  const choose = async (page: Page, name: string): Promise<void> => {
    await page.locator('.preferences').click()
    await page.getByRole('menuitemradio', { name, exact: true }).first().click()
    await page.keyboard.press('Escape')
  }
  const heading = (page: Page, name: string) =>
    page.getByRole('heading', { level: 1, name }).waitFor()
  const surface = (page: Page): Promise<string> =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor)

  describe('the language', () => {
    it.each([
      ['ko-KR', 'ko', '이 컴퓨터'],
      ['zh-CN', 'zh-CN', '本机'],
      ['fr-FR', 'en', 'This machine'],
    ])('defaults to the language of a %s system', async (locale, lang, title) => {
      const { page, faults } = await harness.open('/doctor', { locale })
      await heading(page, title)
      await expect.poll(() => page.locator('html').getAttribute('lang')).toBe(lang)
      expect(faults).toEqual([])
    })

    it('can be changed without a reload, and is remembered after a reload', async () => {
      const { page } = await harness.open('/doctor')
      await choose(page, '한국어')
      await heading(page, '이 컴퓨터')
      expect(await page.title()).toBe('진단 · Kernel Ladder')
      await page.reload()
      await heading(page, '이 컴퓨터')
      await choose(page, 'English')
      await heading(page, 'This machine')
    })

    it('is downloaded only when a user selects it', async () => {
      const { page } = await harness.open('/doctor')
      // The page loads the command palette when the browser is idle. Wait until the palette has
      // loaded.
      await page.waitForLoadState('networkidle')
      const fetched: string[] = []
      page.on('request', (request) => fetched.push(request.url()))
      await choose(page, '简体中文')
      await heading(page, '本机')
      expect(fetched.filter((url) => url.endsWith('.js'))).toHaveLength(1)
    })
  })

  describe('the theme', () => {
    it('follows the system theme until the user chooses a theme, which is then remembered', async () => {
      const { page } = await harness.open('/doctor', { dark: true })
      await heading(page, 'This machine')
      const dark = await surface(page)
      await choose(page, 'Light')
      const light = await surface(page)
      expect(light).not.toBe(dark)
      await page.reload()
      await heading(page, 'This machine')
      expect(await surface(page)).toBe(light)
      await choose(page, 'Dark')
      expect(await surface(page)).toBe(dark)
    })
  })
})

describe('languages', () => {
  let harness: Harness
  beforeAll(async () => {
    harness = await startHarness()
  })
  afterAll(() => harness.stop())

  const recorded = (name: string, rest: string): string =>
    `/session/${encodeURIComponent(`recorded:${name}`)}/${rest}`
  const beside = (name: string): string => `?with=${encodeURIComponent(`recorded:${name}`)}`
  const compare = 'compare/02_coalesced/03_shared_tile'

  /** Screens that are not in the shared list, and additional session states. */
  const more: (Screen & { name: string })[] = [
    {
      name: 'two sizes that must not be compared',
      route: recorded('gemm-fp32-h200-4096', compare + beside('gemm-fp32-h200-1024')),
      ready: '.guard',
    },
    {
      name: 'two ladders compared',
      route: recorded('gemm-fp32-h200-4096', compare + beside('gemm-fp32-h200-4096-deep')),
      ready: '.guard',
    },
    {
      name: 'a rung in detail',
      route: recorded('gemm-fp32-h200-4096', 'ladder'),
      ready: 'canvas',
      act: (page) => page.locator('tr[data-rung="06_float4"] .expand').click(),
    },
    {
      name: 'roofline',
      route: recorded('gemm-fp32-h200-4096-deep', 'charts/roofline'),
      ready: 'canvas',
    },
    {
      name: 'a negative ladder',
      route: recorded('seed-cutlass-h200', 'ladder'),
      ready: 'tr[data-rung]',
    },
    ...['gemm-tensor-h200-4096', 'scan-h200', 'softmax-h200', 'seed-rtx3090-h200-1024'].map(
      (name) => ({ name, route: recorded(name, 'ladder'), ready: 'tr[data-rung]' }),
    ),
    ...readdirSync(join(shippedKernels, 'labs'))
      .filter((name) => /^\d/.test(name))
      .map((name) => ({ name, route: `/labs/${name}`, ready: 'main article h1' })),
    { name: 'its summary', route: recorded('seed-cutlass-h200', 'export'), ready: 'article .best' },
  ]

  const usual = Object.entries(screens).map(([name, own]) => ({ name, ...own }))

  const hasNoEnglish = async (locale: string, all: typeof more): Promise<void> => {
    const { page } = await harness.open('/doctor', { locale })
    const found: Record<string, string[]> = {}
    let touched = false
    for (const { name, route, ready, act } of all) {
      // Leave the previous screen first, because its panels would remain open on the same route.
      if (touched) await leaveScreen(page)
      await page.goto(`${harness.origin}/#${route}`)
      await page.locator(ready).first().waitFor()
      await act?.(page, wordsOf(locale))
      touched = act !== undefined
      await settled(page)
      found[name] = await englishOn(page)
    }
    expect(found).toEqual(Object.fromEntries(all.map(({ name }) => [name, []])))
  }
  it('no Korean screen has an English sentence', () => hasNoEnglish('ko', usual))
  it(
    'no Korean page for a lab or unusual session has an English sentence',
    { tags: ['thorough'] },
    () => hasNoEnglish('ko', more),
  )
  it('no Chinese screen has an English sentence', { tags: ['thorough'] }, () =>
    hasNoEnglish('zh-CN', [...usual, ...more]),
  )

  it('the check detects an English sentence', async () => {
    const { page } = await harness.open('/doctor')
    await page.locator('main h2').first().waitFor()
    expect(await englishOn(page)).not.toEqual([])
  })
})
