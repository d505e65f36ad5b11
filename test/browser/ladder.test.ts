import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compareRungs } from '../../src-main/domain/analysis/compare'
import { cardMetricIds } from '../../src-main/domain/metrics/metrics'
import { rungBefore, type Session } from '../../src-main/domain/session/session'
import { formatRatio } from '../../src-main/domain/metrics/units'
import { bareFigure, fixed } from '../../src-renderer/ui/format'
import { ladderRoute, settled, shippedSession, startHarness, type Harness } from './support'

let harness: Harness
let ref: string
let session: Session
beforeAll(async () => {
  harness = await startHarness()
  ;({ ref, session } = await shippedSession(harness.core))
})
afterAll(() => harness.stop())

const row = (id: string) => `tr[data-rung="${id}"]`
/** Returns the last timed rung that has a previous rung, together with the previous rung. */
const pair = () => {
  const b = session.rungs.filter((rung) => rung.timing && rungBefore(session, rung.id)).at(-1)!
  return { a: rungBefore(session, b.id)!, b }
}

describe('the first view', () => {
  it('shows every rung with its figures, and marks the session as a recording', async () => {
    const { page, faults } = await harness.visit(ladderRoute(ref))
    await page.locator(row(session.rungs[0]!.id)).waitFor()
    await expect.poll(() => page.locator('tr[data-rung]').count()).toBe(session.rungs.length)
    for (const rung of session.rungs) {
      const text = await page.locator(row(rung.id)).innerText()
      expect(text).toContain(rung.title)
      if (rung.timing) expect(text).toContain(fixed(rung.timing.gflops!))
      for (const id of cardMetricIds) {
        const metric = rung.metrics[id]
        if (metric?.value != null) expect(text).toContain(bareFigure(metric.value, metric.unit))
      }
    }
    // The legend lists only the kinds of evidence that the session contains.
    const legend = await page.getByRole('list', { name: 'How to read the table' }).innerText()
    expect(legend).toMatch(/measured\s+derived/)
    expect(legend).not.toContain('emulated')
    const badge = page.getByText(`Recorded on ${session.device!.name}`)
    await expect.poll(() => badge.isVisible()).toBe(true)
    expect(faults).toEqual([])
  })

  it.each(['reduction-h200', 'gemm-fp32-h200-4096'])(
    'shows every heading of %s in full in the narrowest common window size',
    async (name) => {
      const { page } = await harness.visit(ladderRoute(`recorded:${name}`))
      await page.locator('tr[data-rung]').first().waitFor()
      const cut = await page
        .locator('thead :is(th, .short)')
        .evaluateAll((all) =>
          all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent),
        )
      expect(cut).toEqual([])
    },
  )

  it('shows its hint in full even if the ladder has a long title', async () => {
    const { page } = await harness.visit(ladderRoute('recorded:seed-cutlass-h200'))
    const hint = page.locator('.hint')
    await expect.poll(() => hint.innerText()).toBe('Pick two to compare')
    expect(await hint.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0)
  })

  it('opens by default if the address has no session', async () => {
    const { page, faults } = await harness.open()
    await page.locator('tr[data-rung]').first().waitFor()
    expect(page.url()).toContain('/ladder')
    expect(faults).toEqual([])
  })

  it.each([
    [1000, false],
    [1280, true],
    [1920, false],
    [3840, true],
  ])('fits a window of %i px', async (width, dark) => {
    const { page, faults } = await harness.visit(ladderRoute(ref), { width, dark })
    await page.locator('canvas').first().waitFor()
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    expect(overflow).toBe(0)
    expect(faults).toEqual([])
  })
})

describe('a figure', () => {
  it('shows its meaning and the tool that measured it', async () => {
    const { page } = await harness.visit(ladderRoute(ref))
    const profiled = session.rungs.find((rung) => rung.metrics['fmaUtilization']?.value != null)!
    await page
      .locator(`${row(profiled.id)} td.metric`)
      .first()
      .hover()
    const tip = page.getByRole('tooltip')
    await tip.waitFor()
    await expect.poll(() => tip.innerText()).toContain(`Measured by ncu ${session.tools.ncu}`)
    await page.keyboard.press('Escape')
    await tip.waitFor({ state: 'hidden' })
  })

  it('shows its tooltip if scrolling or a moving row places it under a stationary mouse pointer', async () => {
    const { page } = await harness.open(ladderRoute(ref))
    await page.locator(row(session.rungs[0]!.id)).waitFor()
    await settled(page)
    const tip = page.getByRole('tooltip')
    // The cell is scrolled out of view on the right. The cell's mouse event arrives before the
    // scroll event.
    await page.locator('tr[data-rung] [data-tip]').last().hover()
    await tip.waitFor()
    const before = await tip.innerText()
    // The rows below the expanded row move down, so the mouse is over a different row.
    const details = page
      .locator(row(session.rungs[0]!.id))
      .getByRole('button', { name: /^Details/ })
    await details.dispatchEvent('click')
    await page.locator('.detail-cell').waitFor()
    await expect.poll(async () => (await tip.count()) && tip.innerText()).not.toBe(before)
  })

  it('shows the outcome of the prediction', async () => {
    const { page } = await harness.visit(ladderRoute(ref))
    await page.locator(row(session.rungs[0]!.id)).waitFor()
    for (const rung of session.rungs) {
      const before = rungBefore(session, rung.id)
      if (!before || rung.id === session.ladder.reference) continue
      const known = compareRungs({ session, rung: before }, { session, rung }).metrics.filter(
        ({ id, expected }) =>
          expected != null &&
          expected.met !== null &&
          [...cardMetricIds, 'registersPerThread'].includes(id),
      )
      for (const met of [true, false]) {
        const marks = page.locator(`${row(rung.id)} .expect.${met ? 'met' : 'missed'}`)
        const expected = known.filter((metric) => metric.expected!.met === met).length
        await expect.poll(() => marks.count(), { message: `${rung.id}` }).toBe(expected)
      }
    }
  })
})

describe('a row', () => {
  it('expands to its build, verification, samples, and kernels', async () => {
    const { page } = await harness.visit(ladderRoute(ref))
    const { b } = pair()
    await page.getByRole('button', { name: `Details of ${b.title}`, exact: true }).click()
    const details = page.locator('.detail-cell')
    const text = await details.innerText()
    expect(text).toContain(b.idea)
    expect(text).toContain(b.file)
    expect(text).toContain(b.verify!.worstRelativeError!.toExponential(2))
    for (const kernel of b.profile?.kernels ?? []) expect(text).toContain(kernel.name)
    await expect.poll(() => details.locator('circle').count()).toBe(b.timing!.samplesMs.length)
  })

  it('expands to the launched kernel’s registers and the maximum over all compiled kernels', async () => {
    const { title, build, metrics } = session.rungs.find(({ id }) => id === '09_register_prefetch')!
    const launched = metrics['registersPerThread']!.value!
    expect(build!.registersPerThread).toBeGreaterThan(launched)
    const { page } = await harness.visit(ladderRoute(ref))
    await page.getByRole('button', { name: `Details of ${title}`, exact: true }).click()
    const text = await page.locator('.detail-cell').innerText()
    expect(text).toContain(`${launched}, at most ${build!.registersPerThread} of those compiled`)
    await page.close()
  })

  it("expands to the ladder's note about the rung, even if the rung became faster", async () => {
    const noted = 'recorded:seed-cutlass-h200'
    const { ladder } = await harness.core.call('sessions.get', { ref: noted })
    const { id, title, note } = ladder.rungs.find((own) => own.note && !own.negative)!
    const { page } = await harness.visit(ladderRoute(noted))
    await page.getByRole('button', { name: `Details of ${title}`, exact: true }).click()
    expect((await page.locator('.detail-cell').innerText()).split(note!), id).toHaveLength(2)
  })

  it('can be selected with the keyboard, and two selected rows open Compare', async () => {
    const { page } = await harness.open(ladderRoute(ref))
    const { a, b } = pair()
    await page.locator(row(session.rungs[0]!.id)).focus()
    for (const rung of session.rungs) {
      if (rung.id === a.id || rung.id === b.id) await page.keyboard.press('Space')
      if (rung.id === b.id) break
      await page.keyboard.press('ArrowDown')
    }
    await expect.poll(() => page.locator('tr[aria-selected="true"]').count()).toBe(2)
    await page.getByRole('button', { name: `Compare ${a.title} with ${b.title}` }).click()
    await page.waitForURL((url) => url.hash.endsWith(`/compare/${a.id}/${b.id}`))
  })
})

it("the ladder's filter, rows, and row details work with only the keyboard", async () => {
  const { page, faults } = await harness.open(ladderRoute(ref))
  await page.locator(row('09_register_prefetch')).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('pipelining')
  await page.locator('tr[data-rung]').nth(1).waitFor({ state: 'detached' })
  await page.keyboard.press('Enter')
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-rung'))
  await expect.poll(focused).toBe('09_register_prefetch')
  await page.keyboard.press('Enter')
  await page.locator('.details').waitFor()
  await page.keyboard.press('Enter')
  await page.locator('.details').waitFor({ state: 'hidden' })
  expect(faults).toEqual([])
})

it('the command palette finds a rung by its id and opens it in the ladder', async () => {
  const { page, faults } = await harness.visit('/doctor')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  await page.keyboard.type('09_register')
  // Enter selects the first item of the filtered list.
  await page.getByRole('option').first().filter({ hasText: 'Software pipelining' }).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('.details').waitFor()
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-rung'))
  await expect.poll(focused).toBe('09_register_prefetch')
  expect(faults).toEqual([])
})

describe('controls', () => {
  it('select the column whose metric is charted', async () => {
    const { page } = await harness.visit(ladderRoute(ref))
    const button = page.getByRole('button', { name: 'Chart Shared-memory loads' })
    await button.click()
    await expect.poll(() => button.getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('application', { name: /^Shared-memory loads across the rungs/ }).waitFor()
  })

  it('switch the throughput axis', async () => {
    const { page } = await harness.visit(ladderRoute(ref))
    const slow = page.locator('tr[data-rung="01_naive"] .plot .bar')
    const before = (await slow.boundingBox())!.width
    await page
      .getByRole('radio', { name: 'Log' })
      .or(page.getByText('Log', { exact: true }))
      .first()
      .click()
    await expect.poll(async () => (await slow.boundingBox())!.width).toBeGreaterThan(before * 3)
  })

  it('switch the session', async () => {
    const others = (await harness.core.call('sessions.list', {})).filter(
      (item) => item.ref !== ref && !item.damaged,
    )
    const { page } = await harness.open(ladderRoute(ref))
    await page.getByRole('button', { name: 'Session' }).click()
    const items = page.getByRole('menuitemradio')
    await expect.poll(() => items.count()).toBe(others.length + 1)
    if (!others.length) return
    await page.locator('[role="menuitemradio"][aria-checked="false"]').first().click()
    await page.waitForURL((url) => !decodeURIComponent(url.hash).includes(ref))
    await page.locator('tr[data-rung]').first().waitFor()
  })
})

it('a missing session is reported once', async () => {
  const { page } = await harness.open('/session/no-such-session/ladder')
  let calls = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/rpc/sessions.get')) calls += 1
  })
  await page.getByRole('alert').waitFor()
  await page.waitForTimeout(300)
  // The page may have sent one more call before the program responded.
  expect(calls).toBeLessThanOrEqual(2)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('alert').waitFor()
})

describe('an address opened while the first view is still loading', () => {
  it("remains the page's address after loading", async () => {
    const { page } = await harness.open()
    for (const [first, afterMs] of ['', '#/labs'].flatMap((first) =>
      [0, 8, 24].map((afterMs) => [first, afterMs] as const),
    )) {
      await page.goto('about:blank')
      await page.goto(`${harness.origin}/${first}`, { waitUntil: 'domcontentloaded' })
      await page.waitForTimeout(afterMs)
      await page.evaluate(() => {
        window.location.hash = '#/doctor'
      })
      await page.getByRole('heading', { name: 'GPU' }).waitFor()
      expect(page.url()).toContain('/doctor')
    }
    await page.waitForTimeout(500)
    expect(page.url()).toContain('/doctor')
  })
})

describe('a ladder in use', () => {
  const titles = (page: Page) =>
    page
      .locator('tr[data-rung]')
      .evaluateAll((rows) => rows.map((element) => element.getAttribute('data-rung')))

  it('can be searched, sorted, and pinned', async () => {
    const { page } = await harness.open(ladderRoute(ref))
    await page.locator(row('06_float4')).waitFor()
    await page.getByRole('searchbox', { name: 'Find a rung' }).fill('thread tile')
    await expect.poll(() => titles(page)).toEqual(['04_thread_tile_1d', '05_thread_tile_2d'])
    await page.keyboard.press('Escape')
    await page.getByLabel('Order of the rungs').selectOption({ label: 'Fastest first' })
    const byTime = session.rungs
      .toSorted((a, b) => a.timing!.medianMs - b.timing!.medianMs)
      .map(({ id }) => id)
    await expect.poll(() => titles(page)).toEqual(byTime)
    await page.locator(row('01_naive')).focus()
    await page.keyboard.press('p')
    await expect.poll(async () => (await titles(page))[0]).toBe('01_naive')
  })

  it('shows the ratio to the first rung on request', async () => {
    const { page } = await harness.visit(ladderRoute(ref))
    await page.getByRole('button', { name: /Show the next ratio: vs\. first/ }).click()
    const [, first, second] = session.rungs
    await expect
      .poll(() => page.locator(row(second!.id)).innerText())
      .toContain(formatRatio(first!.timing!.medianMs / second!.timing!.medianMs))
  })

  it('opens three selected rungs in the matrix', async () => {
    const { page } = await harness.open(ladderRoute(ref))
    for (const id of ['05_thread_tile_2d', '01_naive', '03_shared_tile'])
      await page.locator(`${row(id)} .number`).click()
    await page.getByRole('button', { name: 'Matrix of 3 rungs' }).click()
    await page.waitForURL((url) =>
      decodeURIComponent(url.hash).endsWith('?rungs=01_naive,03_shared_tile,05_thread_tile_2d'),
    )
  })
})

it('a rung that is slower than the previous rung is marked, with the counter that explains the slowdown', async () => {
  const seed = 'recorded:seed-cutlass-h200'
  const { rungs, ladder } = await harness.core.call('sessions.get', { ref: seed })
  const slow = ladder.rungs.find(({ id, negative }) => {
    const measured = rungs.find((rung) => rung.id === id)!
    return (
      negative &&
      measured.timing!.medianMs > rungBefore({ rungs, ladder } as Session, id)!.timing!.medianMs
    )
  })!
  const { page } = await harness.visit(ladderRoute(seed))
  await page.getByRole('button', { name: `Details of ${slow.title}`, exact: true }).click()
  const details = await page.locator('.detail-cell').innerText()
  expect(details).toContain('Slower than the previous rung')
  expect(details).toMatch(/The counter that shows it: .+ → /)
  expect(details).toContain(slow.note)
})

it("rungs that compute in a different precision show their error next to the reference's error", async () => {
  const { page } = await harness.visit('/session/recorded:gemm-3xtf32-h200-4096/ladder')
  await page.locator('tr[data-rung="62_tf32x3_wgmma"]').waitFor()
  await page.getByRole('columnheader', { name: /^Error/ }).waitFor()
  await expect.poll(() => page.locator('tr[data-rung="00_cublas"]').innerText()).toContain('3.4e-7')
  const row = await page.locator('tr[data-rung="62_tf32x3_wgmma"]').innerText()
  expect(row).toContain('3.5e-6')
  expect(row).toContain('10.2× ref.')
})

it("the ladder shows a rung's recorded measurements in a session, but not in the recording itself", async () => {
  const id = '05_thread_tile_2d'
  const measured = (await harness.core.call('ladders.measured', { ladder: session.ladder.id }))[id]!
  expect(ref).toBe(`recorded:${measured.recording}`)
  const other = 'recorded:gemm-fp32-h200-1024'
  for (const [shown, there] of [
    [other, true],
    [ref, false],
  ] as const) {
    const { page, faults } = await harness.open(ladderRoute(shown))
    await page.getByRole('button', { name: 'Details of 2D thread tile', exact: true }).click()
    const details = page.locator('.detail-cell')
    await details.getByText('Timing', { exact: true }).waitFor()
    const section = details.locator('section', { hasText: 'In the recordings' })
    if (!there) {
      await expect.poll(() => section.count()).toBe(0)
      continue
    }
    await section.waitFor()
    const text = await section.innerText()
    expect(text).toContain('NVIDIA H200, 4096³ f32')
    expect(text).toContain(`→ ${measured.medianMs.toFixed(2)} ms`)
    expect(text).toContain(formatRatio(measured.reference!.ratio))
    await section.getByRole('link', { name: measured.recording }).click()
    await page.waitForURL(new RegExp(`${measured.recording}/ladder`))
    expect(faults).toEqual([])
  }
})
