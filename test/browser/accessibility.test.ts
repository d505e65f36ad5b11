/** Tests the accessibility of every screen with axe in both themes and with only the keyboard. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { putTuning } from '../../scripts/lib/pictures.mjs'
import { screens, states, wordsOf, type Screen } from '../../scripts/lib/screens.mjs'
import {
  leaveScreen,
  rulesOfColor,
  seriousFaults,
  settled,
  startHarness,
  type Harness,
} from './support'

let harness: Harness
beforeAll(async () => {
  putTuning(process.env['KERNEL_LADDER_DATA']!)
  harness = await startHarness()
})
afterAll(() => harness.stop())

const words = wordsOf('en')
const themes = ['light', 'dark'] as const
type Theme = (typeof themes)[number]

/** Faults that axe found, by theme and screen. Only the light theme is checked with all rules. */
type Found = Record<Theme, Record<string, string[]>>

/**
 * Checks a page with axe in both themes. Switches the theme without reloading, because opening a
 * page takes as long as running axe. The page keeps the last theme for the next check.
 */
async function lookAt(
  page: Page,
  name: string,
  found: Found,
  asked: readonly Theme[] = themes,
): Promise<void> {
  const now = await page.locator('html').getAttribute('data-theme')
  for (const theme of now === 'dark' ? asked.toReversed() : asked) {
    await page.emulateMedia({ colorScheme: theme })
    await page.locator(`html[data-theme="${theme}"]`).waitFor()
    await settled(page)
    found[theme][name] = await seriousFaults(page, theme === 'light' ? undefined : rulesOfColor)
  }
}

const noFaults = ({ light, dark }: Found): Found => {
  const none = (of: Record<string, string[]>) =>
    Object.fromEntries(Object.keys(of).map((name) => [name, []]))
  return { light: none(light), dark: none(dark) }
}

/** Returns the elements that scroll horizontally, which can be the page or panels. */
const widerThanTheirPlace = (): string[] =>
  [...document.querySelectorAll('html, main, aside')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ tagName, scrollWidth, clientWidth }) => {
      return `${tagName.toLowerCase()} has ${scrollWidth} px in ${clientWidth}`
    })

/**
 * Checks the given screens with axe, one after another in the same page, because opening a page
 * takes longer than running axe.
 */
async function lookAtAll(
  shown: readonly [string, Screen][],
  asked: readonly Theme[] = themes,
): Promise<Found> {
  const { page } = await harness.open('/doctor')
  // Use a tall viewport, so that the bar at the end of a form covers no field.
  await page.setViewportSize({ width: 1280, height: 1600 })
  const found: Found = { light: {}, dark: {} }
  let touched = false
  for (const [name, { route, ready, act }] of shown) {
    // Leave the previous screen first, because its panels would remain open on the same route.
    if (touched) await leaveScreen(page)
    await page.goto(`${harness.origin}/#${route}`)
    await page.locator(ready).first().waitFor()
    await act?.(page, words)
    touched = act !== undefined
    await lookAt(page, name, found, asked)
    found[asked[0]!][name]!.push(...(await page.evaluate(widerThanTheirPlace)))
    const mains = await page.locator('main, [role="main"]').count()
    if (mains !== 1) found[asked[0]!][name]!.push(`${mains} main landmarks`)
  }
  return found
}

describe('accessibility', () => {
  const noScreenHasFaults = async (theme: Theme): Promise<void> => {
    const found = await lookAtAll(Object.entries(screens), [theme])
    expect(Object.keys(found[theme])).toEqual(Object.keys(screens))
    expect(found).toEqual(noFaults(found))
  }
  it('no screen has a serious fault in the light theme', () => noScreenHasFaults('light'))
  it('no screen has a serious fault in the dark theme', { tags: ['thorough'] }, () =>
    noScreenHasFaults('dark'),
  )

  it(
    'no panel or dialog on a screen has a serious fault in either theme',
    { tags: ['thorough'] },
    async () => {
      const found = await lookAtAll(Object.entries(states))
      expect(found).toEqual(noFaults(found))
    },
  )

  it('the palette, the help sheet and the menus have no serious fault in either theme', async () => {
    const { page } = await harness.visit('/doctor')
    const found: Found = { light: {}, dark: {} }
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').waitFor()
    await lookAt(page, 'palette', found)
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await lookAt(page, 'help sheet', found)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Language and theme' }).press('Enter')
    await page.getByRole('menuitemradio').first().waitFor()
    await lookAt(page, 'menu', found)
    expect(found).toEqual(noFaults(found))
  })
})

describe('with only the keyboard', () => {
  const arrived = (page: Page, part: string) =>
    page.waitForURL((url) => decodeURIComponent(url.hash).includes(part))

  it('g and a letter open every screen', async () => {
    const { page } = await harness.visit('/doctor')
    await page.getByRole('heading', { level: 1 }).waitFor()
    for (const [key, part] of [
      ['l', '/ladder'],
      ['c', '/compare/'],
      ['m', '/matrix'],
      ['h', '/charts'],
      ['x', '/export'],
      ['s', '/sessions'],
      ['y', '/sessions/history'],
      ['o', '/occupancy'],
      ['r', '/run'],
      ['k', '/run/checks'],
      ['f', '/run/folders'],
      ['b', '/labs'],
      ['d', '/doctor'],
    ] as const) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await arrived(page, part)
    }
  })

  it('a session screen opens even if no session was opened before', async () => {
    const { page } = await harness.open('/doctor')
    let answer = (): void => undefined
    const asked = new Promise<void>((done) => (answer = done))
    await page.route('**/rpc/app.info', (route) => asked.then(() => route.continue()))
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('m')
    await arrived(page, '?screen=matrix')
    answer()
    await arrived(page, '/matrix')
  })

  /** Presses Tab until the element with the given name has focus. */
  async function tabTo(page: Page, name: RegExp): Promise<void> {
    for (let count = 0; count < 60; count += 1) {
      await page.keyboard.press('Tab')
      const text = await page.evaluate(() => document.activeElement?.textContent ?? '')
      if (name.test(text)) return
    }
    throw new Error(`Tab does not lead to ${String(name)}.`)
  }

  it('a lab can be opened from the list, and the editor from a rung', async () => {
    const { page } = await harness.visit('/labs')
    await page.locator('main li a').first().waitFor()
    await tabTo(page, /^Coalescing$/)
    await page.keyboard.press('Enter')
    await arrived(page, '/labs/01-coalescing')
    await page.goto(`${harness.origin}/#${screens['ladder']!.route}`)
    await page.locator('tr[data-rung="00_cublas"]').focus()
    const last = (await page.locator('tr[data-rung]').last().getAttribute('data-rung'))!
    await page.keyboard.press('End')
    await page.keyboard.press('ArrowRight')
    await page.getByText('Edit a copy', { exact: true }).first().waitFor()
    await tabTo(page, /^Edit a copy$/)
    await page.keyboard.press('Enter')
    await arrived(page, `/edit/${last}`)
  })

  it('the focus is always visible when Tab moves it', async () => {
    const { page } = await harness.visit('/doctor')
    const unseen: string[] = []
    for (const name of ['ladder', 'compare', 'sessions', 'run']) {
      const { route, ready } = screens[name]!
      await page.goto(`${harness.origin}/#${route}`)
      await page.locator(ready).first().waitFor()
      for (let count = 0; count < 30; count += 1) {
        await page.keyboard.press('Tab')
        const found = await page.evaluate(async () => {
          let element = document.activeElement
          while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
          if (!element || element === document.body) return null
          const editor = element.closest('.cm-editor')
          // CodeMirror handles focus after a delay and shows it on the editor frame.
          if (editor) await new Promise((done) => setTimeout(done, 50))
          const { outlineStyle, outlineWidth } = getComputedStyle(editor ?? element)
          return outlineStyle === 'none' || outlineWidth === '0px'
            ? element.outerHTML.slice(0, 90)
            : null
        })
        if (found !== null) unseen.push(`${route}: ${found}`)
      }
    }
    expect(unseen).toEqual([])
  })

  it('typing letters in a field triggers no shortcut', async () => {
    const { page } = await harness.visit('/sessions')
    await page.locator('tr[data-session]').first().waitFor()
    await page.getByRole('searchbox').focus()
    await page.keyboard.type('gd?')
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('gd?')
    expect(page.url()).toContain('/sessions')
  })

  it('a command can be found by part of its name and run', async () => {
    const { page } = await harness.open('/doctor')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.type('matr')
    // Enter selects the first item of the filtered list.
    await page.getByRole('option').first().filter({ hasText: 'Matrix' }).waitFor()
    await page.keyboard.press('Enter')
    await arrived(page, '/matrix')
    await page.locator('[role="gridcell"]').first().waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.type('dark')
    await page.getByRole('option').first().filter({ hasText: /dark/i }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.type('why 128-bit access')
    await page.getByRole('option').first().filter({ hasText: 'faster than' }).waitFor()
    await page.keyboard.press('Enter')
    await arrived(page, '/compare/05_thread_tile_2d/06_float4')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.type('next in 06')
    await page.getByRole('option').first().filter({ hasText: 'What to change next' }).waitFor()
    await page.keyboard.press('Enter')
    await arrived(page, '/ladder?rung=06_float4')
  })

  it('a search without a match shows a message, and Escape changes nothing', async () => {
    const { page } = await harness.visit('/doctor')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.type('<b>nothing</b>')
    await page.getByText('No command matches “<b>nothing</b>”').waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(page.url()).toContain('/doctor')
  })

  it('the first Tab skips the header and moves to the screen', async () => {
    const { page } = await harness.visit('/doctor')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN')
  })
})
