import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inEnglish } from '../../src-main/domain/text/wording'
import type { Session } from '../../src-main/domain/session/session'
import { figureText } from '../../src-renderer/ui/format'
import { shippedSession, startHarness, type Harness } from './support'

let harness: Harness
let ref: string
let session: Session
beforeAll(async () => {
  harness = await startHarness()
  ;({ ref, session } = await shippedSession(harness.core))
})
afterAll(() => harness.stop())

async function startReplay(page: Page): Promise<void> {
  await page.getByLabel('Target').selectOption(ref)
  await page.getByRole('button', { name: 'Start' }).click()
}
const complete = (page: Page) => page.getByRole('heading', { name: 'Complete' }).waitFor()

describe('a run', () => {
  it('replays a recording, shows each rung and opens the session', async () => {
    const { page, faults } = await harness.open('/run')
    await startReplay(page)
    await complete(page)
    const live = await page.getByRole('region', { name: 'Run progress' }).innerText()
    for (const rung of session.rungs) {
      expect(live).toContain(rung.title)
      if (rung.timing) expect(live).toContain(figureText(rung.timing.gflops!, 'GFLOP/s'))
    }
    await page.getByRole('link', { name: 'Open session' }).click()
    await page.locator('tr[data-rung]').first().waitFor()
    expect(faults).toEqual([])
  })

  it('is there again after a reload', async () => {
    const { page } = await harness.open('/run')
    await startReplay(page)
    await page.reload()
    await complete(page)
    expect(await page.getByRole('link', { name: 'Open session' }).isVisible()).toBe(true)
  })

  it('takes only the rungs that were chosen, beside the reference', async () => {
    const { page } = await harness.open('/run')
    await page.getByRole('button', { name: 'Clear' }).click()
    const start = page.getByRole('button', { name: 'Start' })
    expect(await start.isDisabled()).toBe(true)
    const chosen = session.rungs.find(({ id }) => id !== session.ladder.reference)!
    await page.getByRole('checkbox', { name: chosen.title }).check()
    const asked = page.waitForRequest((request) => request.url().endsWith('/rpc/run.start'))
    await startReplay(page)
    const { rungs } = (await asked).postDataJSON() as { rungs: string[] }
    expect(rungs).toEqual(
      [session.ladder.reference, chosen.id].filter((id): id is string => id !== null),
    )
  })

  it('keeps what was chosen when a run ends', async () => {
    const { page } = await harness.open('/run')
    const box = page.getByRole('checkbox', { name: session.rungs.at(-1)!.title })
    await box.uncheck()
    await startReplay(page)
    await page.getByRole('button', { name: 'Start', disabled: false }).waitFor()
    await complete(page)
    expect(await box.isChecked()).toBe(false)
  })

  it('does not offer a GPU that is not there', async () => {
    const { hasGpu } = await harness.core.call('app.info', {})
    const { page } = await harness.open('/run')
    const local = page.getByLabel('Target').locator('option[value="local"]')
    expect(await local.isDisabled()).toBe(!hasGpu)
  })
})

describe('doctor', () => {
  it('lists every check with what to do about it', async () => {
    const report = await harness.core.call('doctor.check', {})
    const { page, faults } = await harness.open('/doctor')
    await page.getByRole('heading', { name: report.checks[0]!.label }).waitFor()
    const text = await page.locator('main').innerText()
    for (const check of report.checks) {
      expect(text).toContain(check.label)
      expect(text).toContain(inEnglish(check.detail))
      if (check.remedy) expect(text).toContain(inEnglish(check.remedy).replaceAll('`', ''))
    }
    expect(faults).toEqual([])
  })
})

describe('the frame', () => {
  it('is reached and left by keyboard alone', async () => {
    const { page } = await harness.open()
    await page.locator('tr[data-rung]').first().waitFor()
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').innerText()).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.locator('main:focus').count()).toBe(1)
    const reached: string[] = []
    for (let count = 0; count < 6; count += 1) {
      await page.keyboard.press('Tab')
      reached.push(await page.locator(':focus').evaluate((element) => element.tagName))
    }
    expect(reached.every((tag) => tag !== 'BODY')).toBe(true)
  })

  it('says that there is no such page', async () => {
    const { page } = await harness.open('/nowhere/at/all')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await page.getByRole('link', { name: 'Open the ladder' }).click()
    await page.locator('tr[data-rung]').first().waitFor()
  })
})
