/**
 * Tests unusual sessions: empty, failed, partly measured, overlong, malicious or dissimilar. The
 * page must show each session without executing code from it.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import type { Session } from '../../src-main/domain/session/session'
import { ownStore, startHarness, type Harness, settled } from './support'
import { recordingsDir } from '../services/support'

/** Malicious markup that sets `window.ran` if any part of it is executed. */
const hostile = `<img src=x onerror="window.ran=1"><script>window.ran=1</script>{{ran=1}}" onfocus="window.ran=1`
const long = 'Long name '.repeat(30)
/** Text with right-to-left script, astral characters, combining marks, and direction overrides. */
const scripts = 'نواة سريعة \u202e🧮👩🏽‍🔬 ядро カーネル नाभिक Z̷͇̈́a̶l̸g̵o ' + '核'.repeat(120)

let harness: Harness
let own: Awaited<ReturnType<typeof ownStore>>
beforeAll(async () => {
  own = await ownStore()
  const real = await readSession(join(recordingsDir, 'gemm-fp32-h200-4096'))
  const failed = (rung: Session['rungs'][number]): Session['rungs'][number] => ({
    ...rung,
    status: 'failed',
    reason: `nvcc found errors in ${rung.file}.`,
    diagnostics: [
      { severity: 'error', file: rung.file, line: 12, message: 'identifier "j" is undefined' },
    ],
    build: null,
    verify: null,
    timing: null,
    profile: null,
    metrics: {},
  })
  const named = (text: string): Partial<Session> => ({
    ladder: {
      ...real.ladder,
      title: text,
      summary: text,
      rungs: real.ladder.rungs.map((rung) => ({ ...rung, title: text, note: text })),
    },
    device: { ...real.device!, name: text },
    warnings: [text],
    rungs: real.rungs.map((rung, index) => ({
      ...(index === 3 ? failed(rung) : rung),
      title: text,
      idea: text,
      ...(index === 3 ? { reason: text } : {}),
      diagnostics: [{ severity: 'error', file: text, line: 1, message: text }],
      profile: rung.profile && {
        ...rung.profile,
        kernels: rung.profile.kernels.map((kernel) => ({ ...kernel, name: text })),
      },
    })),
  })
  const edges: Record<string, Partial<Session>> = {
    'no-rungs': { rungs: [], ladder: { ...real.ladder, rungs: [] }, completion: 'cancelled' },
    'one-rung': { rungs: real.rungs.slice(1, 2) },
    'all-failed': { rungs: real.rungs.map(failed) },
    'half-missing': {
      rungs: real.rungs.map((rung, index) => ({
        ...rung,
        metrics: Object.fromEntries(
          Object.entries(rung.metrics).flatMap(([id, value], at) =>
            at % 2 === 0
              ? [[id, value]]
              : index % 2 === 0
                ? []
                : [
                    [
                      id,
                      {
                        ...value,
                        value: null,
                        evidence: 'unavailable' as const,
                        reason: 'Too old.',
                      },
                    ],
                  ],
          ),
        ),
      })),
    },
    'long-names': named(long),
    hostile: named(hostile),
    'any-script': named(scripts),
    'one-failed': {
      rungs: real.rungs.map((rung) => (rung.id === '03_shared_tile' ? failed(rung) : rung)),
    },
    'counts-alone': {
      target: { kind: 'emulated', name: 'h200' },
      device: null,
      rungs: real.rungs.map((rung) => ({
        ...rung,
        timing: null,
        metrics: Object.fromEntries(
          Object.entries(rung.metrics).map(([id, value]) => [
            id,
            value.evidence === 'measured' ? { ...value, evidence: 'emulated' as const } : value,
          ]),
        ),
      })),
    },
    'other-gpu': {
      device: { ...real.device!, name: 'NVIDIA A10', computeCapability: '8.6', smCount: 72 },
    },
  }
  for (const [name, over] of Object.entries(edges)) {
    const folder = join(own.store, name)
    await mkdir(folder, { recursive: true })
    const session = { ...real, id: name, target: { kind: 'live', name: 'local' }, ...over }
    await writeFile(join(folder, 'session.json'), JSON.stringify(session))
  }
  harness = await startHarness()
})
afterAll(async () => {
  await harness.stop()
  await own.remove()
})

/** Sessions with the most unusual content. */
const extreme = ['no-rungs', 'half-missing', 'hostile', 'any-script']
const others = ['one-rung', 'all-failed', 'long-names', 'one-failed']
const views = ['ladder', 'compare', 'matrix', 'charts']

/**
 * Checks a page for executed code, horizontal overflow, alerts, and images, which no session may
 * cause.
 */
const lookOver = (page: Page) =>
  page.evaluate(() => ({
    ran: 'ran' in window,
    wider: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    alerts: document.querySelectorAll('main [role="alert"]').length,
    images: document.querySelectorAll('main img, header img').length,
  }))
const wellBehaved = { ran: false, wider: 0, alerts: 0, images: 0 }
async function keep(page: Page, name: string): Promise<void> {
  const folder = process.env['KERNEL_LADDER_SCREENSHOTS']
  if (folder) await page.screenshot({ path: join(folder, `edge-${name}.png`) })
}

const shows = (name: string): void => {
  it('renders on every screen without errors, and executes no injected code', async () => {
    const { page, faults } = await harness.visit(`/session/${name}/ladder`)
    for (const view of views) {
      await page.goto(`${harness.origin}/#/session/${name}/${view}`)
      await page.locator('main h1, main h2').first().waitFor()
      await settled(page)
      await keep(page, `${name}-${view}`)
      expect(await lookOver(page), view).toEqual(wellBehaved)
    }
    expect(faults).toEqual([])
  })
}
describe.each(extreme)('a session with %s', shows)
describe.each(others)('a session with %s', { tags: ['thorough'] }, shows)

const recorded = 'recorded:gemm-fp32-h200-4096'
const deep = `${recorded}-deep`
const sameRung = '08_warp_tile/08_warp_tile'

/**
 * Pairs of sessions with different levels, GPUs, sources or results, each with the expected
 * message.
 */
const unlike = {
  'a deep and a card level': [
    deep,
    'recorded:gemm-fp32-h200-1024',
    sameRung,
    'Not collected for b',
  ],
  'two GPUs': [recorded, 'other-gpu', sameRung, 'A10'],
  'a rung that failed': [
    'one-failed',
    undefined,
    '02_coalesced/03_shared_tile',
    'nvcc found errors',
  ],
  'tasks of two kinds': ['recorded:softmax-h200', recorded, '03_online/06_float4', 'softmax'],
} as const

describe.each(Object.entries(unlike))(
  'a comparison of %s',
  { tags: ['thorough'] },
  (name, [ref, other, pair, said]) => {
    it('renders in every view without errors', async () => {
      const query = other === undefined ? '' : `?with=${encodeURIComponent(other)}`
      const route = `/session/${encodeURIComponent(ref)}/compare/${pair}${query}`
      const { page, faults } = await harness.visit(route)
      await page.locator('.compare .headline').waitFor()
      let text = ''
      // Check all four views: sources, whole kernels, memory, and the chain.
      for (const key of ['', 'm', 'y', 'c']) {
        if (key) await page.keyboard.press(key)
        await settled(page)
        await keep(page, `${name.replaceAll(' ', '-')}-${key || 's'}`)
        expect(await lookOver(page), key).toEqual(wellBehaved)
        text += await page.locator('main').innerText()
      }
      expect(text).toContain(said)
      expect(text).not.toMatch(/NaN|undefined|Infinity|\[object/)
      expect(faults).toEqual([])
    })
  },
)

describe('messages', () => {
  it('for a session without rungs mention the missing rungs and a possible reason', async () => {
    const { page } = await harness.visit('/session/no-rungs/ladder')
    await page.getByRole('heading', { name: 'This session has no rungs' }).waitFor()
    await page.goto(`${harness.origin}/#/session/no-rungs/compare`)
    await page.getByRole('heading', { name: 'There is nothing to compare' }).waitFor()
    await page.goto(`${harness.origin}/#/session/no-rungs/matrix`)
    await page.getByRole('heading', { name: 'No values to show' }).waitFor()
  })

  it('for failed rungs show the compiler’s error at its line', async () => {
    const { page } = await harness.visit('/session/all-failed/ladder')
    const row = page.locator('tr[data-rung="06_float4"]')
    await row.waitFor()
    await expect.poll(() => row.innerText()).toContain('nvcc found errors in gemm/06_float4.cu.')
    await expect.poll(() => row.innerText()).toContain('gemm/06_float4.cu:12')
  })

  it('distinguish figures that were not collected, are unavailable, or are zero', async () => {
    const { page } = await harness.visit('/session/half-missing/matrix')
    await page.locator('[role="gridcell"]').first().waitFor()
    for (const kind of ['value', 'unavailable', 'absent'])
      await expect
        .poll(() => page.locator(`[role="gridcell"].${kind}`).count(), { message: kind })
        .toBeGreaterThan(0)
    await expect.poll(() => page.locator('[role="gridcell"].absent').first().innerText()).toBe('—')
    await expect
      .poll(() => page.locator('[role="gridcell"].unavailable').first().innerText())
      .toBe('n/a')
  })

  it('for names that reverse the text direction leave the text after each name unchanged', async () => {
    const { page } = await harness.visit('/session/any-script/ladder')
    await page.locator('tr[data-rung]').first().waitFor()
    const all = await page.locator('body').innerText()
    expect(all).toContain('\ufffd🧮')
    expect(all).not.toContain('\u202e')
  })

  it('omit the time columns for a session with counters but no times', async () => {
    const { page } = await harness.visit('/session/counts-alone/ladder')
    await page.locator('tr[data-rung]').first().waitFor()
    const headings = await page.getByRole('columnheader').allInnerTexts()
    expect(headings.join()).not.toMatch(/GFLOP|Median|Step/)
    expect(headings.join()).toContain('waves')
    const cells = await page.locator('tr[data-rung="06_float4"] > *').count()
    expect(cells).toBe(await page.locator('thead .labels > *').count())
    expect(await page.locator('.legend .reference').count()).toBe(0)
  })

  it('for counters without times give the largest change as the reason, and one note about times', async () => {
    const pair = '01_naive/02_coalesced'
    const { page } = await harness.visit(`/session/counts-alone/compare/${pair}`)
    expect(await page.locator('.figures .headline').innerText()).toMatch(/^Stalled: dispatch .* → /)
    expect(await page.locator('.figures .why').innerText()).toMatch(
      /^Why\s+Counters that changed most: Stalled: dispatch .* → .* Neither rung was timed\.$/,
    )
    // If operations were not counted, the roofline has no message about them and is not the first
    // chart.
    await page.goto(`${harness.origin}/#/session/counts-alone/charts/roofline`)
    await page.getByText('Roofline: nothing to draw').waitFor()
    expect(await page.locator('main').innerText()).toContain('The rung has no time.')
    await page.goto(`${harness.origin}/#/session/counts-alone/charts`)
    await page.getByRole('heading', { name: 'Stall reasons' }).waitFor()
    await page.goto(`${harness.origin}/#/session/counts-alone/compare/${pair}`)
    await page.locator('.figures .headline').waitFor()
    expect(await page.locator('.figures').innerText()).not.toMatch(/has no time|No time to compare/)
  })

  it('for an emulated GPU include a mark above the screen and in the session list', async () => {
    const { page } = await harness.visit('/session/counts-alone/ladder')
    const bar = page.locator('header.frame')
    await expect.poll(() => bar.innerText()).toContain('Emulated on H200')
    expect(await bar.innerText()).not.toContain('no GPU recorded')
    await expect.poll(() => bar.locator('.trigger').innerText()).toContain('emulated H200')
    await page.goto(`${harness.origin}/#/sessions`)
    const row = page.locator('tr[data-session="counts-alone"]')
    await expect.poll(() => row.innerText()).toContain('emulated H200')
  })

  it('for emulated counts include a mark in the matrix and its meaning in the legend', async () => {
    const { page } = await harness.visit('/session/counts-alone/matrix')
    const cell = page.locator('[role="gridcell"].emulated').first()
    await cell.waitFor()
    expect(await cell.evaluate((one) => getComputedStyle(one, '::after').borderRadius)).toBe('0px')
    expect(await page.locator('[role="gridcell"].measured').count()).toBe(0)
  })

  it('for malicious names show the names as plain text', async () => {
    const { page } = await harness.visit('/session/hostile/ladder')
    await page.locator('tr[data-rung="06_float4"]').waitFor()
    await expect
      .poll(() => page.locator('tr[data-rung="06_float4"] .title').innerText())
      .toContain(hostile)
  })
})

it('a session without times offers no command for a size sweep, because a sweep compares times', async () => {
  const { page } = await harness.visit('/session/counts-alone/charts/sweep')
  await page.getByText('No rung of this session was timed.').waitFor()
  expect(await page.getByText('kernel-ladder run').count()).toBe(0)
})
