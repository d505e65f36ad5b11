/** Tests that the layout does not shift while a screen is loading. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { screens } from '../../scripts/lib/screens.mjs'
import { compareRoute, settled, startHarness, type Harness } from './support'

/** Returns all layout shifts except those within half a second after user input. */
const shifts = (page: Page): Promise<string[]> =>
  page.evaluate(
    () =>
      new Promise<string[]>((done) => {
        const found: string[] = []
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) {
            const { value, sources, hadRecentInput } = entry as PerformanceEntry & {
              value: number
              hadRecentInput: boolean
              sources: { node: Node | null }[]
            }
            if (!hadRecentInput)
              found.push(
                `${value.toFixed(4)} ${sources.map(({ node }) => nameOf(node)).join(', ')}`,
              )
          }
        })
        const nameOf = (node: Node | null): string => {
          const element = node instanceof Element ? node : node?.parentElement
          return `${element?.tagName.toLowerCase()}.${element?.className}`
        }
        observer.observe({ type: 'layout-shift', buffered: true })
        // The browser reports earlier shifts in a separate task.
        setTimeout(() => done(found), 100)
      }),
  )

/**
 * Delays and reorders the core's responses, as a busy machine would. The responses arrive in the
 * same order in every run.
 */
async function answerLate(page: Page): Promise<void> {
  let asked = 0
  await page.route('**/rpc/**', async (route) => {
    asked += 1
    await new Promise((done) => setTimeout(done, ((asked * 7) % 5) * 120))
    // The page may already be closed.
    await route.continue().catch(() => undefined)
  })
}

describe('a screen', () => {
  let harness: Harness
  beforeAll(async () => {
    harness = await startHarness()
  })
  afterAll(() => harness.stop())

  it.each(Object.entries(screens))('%s does not shift while it loads', async (name, screen) => {
    const { page } = await harness.open('/nowhere', { width: 1440 })
    await answerLate(page)
    await page.goto('about:blank')
    await page.goto(`${harness.origin}/#${screen.route}`)
    await page.locator(screen.ready).first().waitFor()
    if (name === 'editor') await page.locator('.counters table').waitFor()
    await page.waitForLoadState('networkidle')
    await settled(page)
    expect(await shifts(page)).toEqual([])
    await page.close()
  })

  it.each([
    ['machine code', 'm', '.sass-list .row'],
    ['chain', 'c', '.chain tr'],
  ])(
    'opens its %s without loading another script, and renders each row only once',
    async (_, key, rows) => {
      const route = compareRoute(
        'recorded:gemm-fp32-h200-4096-deep',
        '08_warp_tile',
        '09_register_prefetch',
      )
      const { page } = await harness.open(route, { width: 1440 })
      await page.locator('.cm-line').first().waitFor()
      await page.waitForLoadState('networkidle')
      await settled(page)
      const fetched: string[] = []
      page.on('request', (request) => fetched.push(request.url()))
      const drawn = await page.evaluateHandle((selector) => {
        const drawn = new Set<Element>()
        new MutationObserver((records) => {
          for (const node of records.flatMap(({ addedNodes }) => [...addedNodes]))
            if (node instanceof Element)
              for (const row of [node, ...node.querySelectorAll(selector)])
                if (row.matches(selector)) drawn.add(row)
        }).observe(document, { subtree: true, childList: true })
        return drawn
      }, rows)
      await page.keyboard.press(key)
      await page.locator(rows).first().waitFor()
      await settled(page)
      expect(fetched).toEqual([])
      expect(await drawn.evaluate(({ size }) => size)).toBe(await page.locator(rows).count())
      await page.close()
    },
  )
})
