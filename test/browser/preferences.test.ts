/** Language and theme: by system, changeable, kept. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { startHarness, type Harness } from './support'

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
  ])('is that of a %s system', async (locale, lang, title) => {
    const { page, faults } = await harness.open('/doctor', { locale })
    await heading(page, title)
    expect(await page.locator('html').getAttribute('lang')).toBe(lang)
    expect(faults).toEqual([])
  })

  it('can be chosen, at once and for good', async () => {
    const { page } = await harness.open('/doctor')
    await choose(page, '한국어')
    await heading(page, '이 컴퓨터')
    expect(await page.title()).toBe('진단 · Kernel Ladder')
    await page.reload()
    await heading(page, '이 컴퓨터')
    await choose(page, 'English')
    await heading(page, 'This machine')
  })

  it('is fetched only by those who read it', async () => {
    const { page } = await harness.open('/doctor')
    // What the page fetches when it is idle, the command palette, has come by then.
    await page.waitForLoadState('networkidle')
    const fetched: string[] = []
    page.on('request', (request) => fetched.push(request.url()))
    await choose(page, '简体中文')
    await heading(page, '本机')
    expect(fetched.filter((url) => url.endsWith('.js'))).toHaveLength(1)
  })
})

describe('the theme', () => {
  it('follows the system until one is chosen, which is remembered', async () => {
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
