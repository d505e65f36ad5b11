/** Tests the screens for runs, memory and race checks, and the doctor. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { inEnglish } from '../../src-main/domain/text/english'
import { type Session } from '../../src-main/domain/session/session'
import { figureText } from '../../src-renderer/ui/format'
import { type Harness, type OpenPage, shippedSession, startHarness, seriousFaults } from './support'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import { fakeMachine, type Machine, recordingsDir, rung, setEnv } from '../services/support'

/** Matches the label of a rung by its number, because titles can change after a recording. */
const numbered = ({ id }: { id: string }): RegExp => new RegExp(`^${id.slice(0, 2)} `)

describe('the UI', () => {
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
    it('replays a recording, shows each rung, and opens the session', async () => {
      const { page, faults } = await harness.open('/run')
      await startReplay(page)
      await complete(page)
      const live = await page.getByRole('region', { name: 'Run progress' }).innerText()
      for (const rung of session.rungs) {
        expect(live).toContain(rung.title)
        if (rung.timing) expect(live).toContain(figureText(rung.timing.gflops!, 'GFLOP/s'))
      }
      // In a window of the narrowest common width, no figure may be cut off.
      expect(
        await page
          .getByRole('region', { name: 'Run progress' })
          .evaluate((region) => region.scrollWidth - region.clientWidth),
      ).toBe(0)
      await page.getByRole('link', { name: 'Open session' }).click()
      await page.locator('tr[data-rung]').first().waitFor()
      expect(faults).toEqual([])
    })

    it('shows the rungs in the UI language', { tags: ['thorough'] }, async () => {
      const { page } = await harness.open('/run', { locale: 'ko' })
      await page.getByLabel('대상').selectOption(ref)
      await page.getByRole('button', { name: '시작' }).click()
      await page.getByRole('heading', { name: '완료' }).waitFor()
      const rung = page.getByRole('rowheader', { name: /^02/ })
      expect(await rung.innerText()).toContain('전역 메모리 접근 병합')
    })

    it('reappears after a reload', async () => {
      const { page } = await harness.open('/run')
      await startReplay(page)
      await page.reload()
      await complete(page)
      await expect
        .poll(() => page.getByRole('link', { name: 'Open session' }).isVisible())
        .toBe(true)
    })

    it('lists the machines, and reports a faulty host when a machine is added', async () => {
      const { page } = await harness.visit('/run')
      await page.getByText('Machines', { exact: true }).click()
      const panel = page.locator('details.machines')
      await panel.getByLabel('Name').fill('titan')
      await panel.getByLabel('Host').fill('-oProxyCommand=x')
      await panel.getByRole('button', { name: 'Check host' }).click()
      await panel.getByRole('alert').waitFor()
      await expect.poll(() => panel.getByRole('alert').innerText()).toContain('a host that')
      expect(await seriousFaults(page)).toEqual([])
    })

    it('runs only the chosen rungs and the reference', async () => {
      const { page } = await harness.open('/run')
      await page.getByRole('button', { name: 'Clear' }).click()
      const start = page.getByRole('button', { name: 'Start' })
      await expect.poll(() => start.isDisabled()).toBe(true)
      const chosen = session.rungs.find(({ id }) => id !== session.ladder.reference)!
      await page.getByRole('checkbox', { name: numbered(chosen) }).check()
      const asked = page.waitForRequest((request) => request.url().endsWith('/rpc/run.start'))
      await startReplay(page)
      const { rungs } = (await asked).postDataJSON() as { rungs: string[] }
      expect(rungs).toEqual(
        [session.ladder.reference, chosen.id].filter((id): id is string => id !== null),
      )
    })

    it("preserves the user's choices after a run", async () => {
      const { page } = await harness.open('/run')
      const box = page.getByRole('checkbox', { name: numbered(session.rungs.at(-1)!) })
      await box.uncheck()
      await startReplay(page)
      await page.getByRole('button', { name: 'Start', disabled: false }).waitFor()
      await complete(page)
      await expect.poll(() => box.isChecked()).toBe(false)
    })

    it('does not offer a missing GPU', async () => {
      const { hasGpu } = await harness.core.call('app.info', {})
      const { page } = await harness.visit('/run')
      const local = page.getByLabel('Target').locator('option[value="local"]')
      await expect.poll(() => local.isDisabled()).toBe(!hasGpu)
    })
  })

  describe('doctor', () => {
    it('lists every check with its remedy', async () => {
      const report = await harness.core.call('doctor.check', {})
      const { page, faults } = await harness.visit('/doctor')
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
    it('can be entered and left with only the keyboard', async () => {
      const { page } = await harness.open()
      await page.locator('tr[data-rung]').first().waitFor()
      await page.keyboard.press('Tab')
      await expect.poll(() => page.locator(':focus').innerText()).toBe('Skip to content')
      await page.keyboard.press('Enter')
      await expect.poll(() => page.locator('main:focus').count()).toBe(1)
      const reached: string[] = []
      for (let count = 0; count < 6; count += 1) {
        await page.keyboard.press('Tab')
        reached.push(await page.locator(':focus').evaluate((element) => element.tagName))
      }
      expect(reached.every((tag) => tag !== 'BODY')).toBe(true)
    })

    it('reports an unknown page', async () => {
      const { page } = await harness.visit('/nowhere/at/all')
      await page.getByRole('heading', { name: 'Page not found' }).waitFor()
      await page.getByRole('link', { name: 'Open the ladder' }).click()
      await page.locator('tr[data-rung]').first().waitFor()
    })
  })
})

describe('live runs', () => {
  let harness: Harness | undefined
  afterEach(async () => {
    await harness?.stop()
    harness = undefined
  })

  async function openRun(
    faults: string,
    target = 'local',
    without: readonly string[] = [],
  ): Promise<{ machine: Machine; page: Page }> {
    const machine = await fakeMachine(without)
    setEnv({ FAKE_FAULTS: faults })
    harness = await startHarness(machine.setup.machine)
    const { page } = await harness.open('/run')
    await page.getByLabel('Target').selectOption(target)
    await page.getByLabel('Size').selectOption({ label: '1024³' })
    return { machine, page }
  }
  const progress = (page: Page) => page.getByRole('region', { name: 'Run progress' })
  const start = (page: Page) => page.getByRole('button', { name: 'Start' }).click()

  describe('with a GPU', () => {
    it('show a compile error at its line and continue with the other rungs', async () => {
      const { machine, page } = await openRun('03_shared_tile=compile-error')
      await start(page)
      await page.getByRole('heading', { name: 'Complete' }).waitFor()
      await expect.poll(() => progress(page).innerText()).toMatch(/identifier "j" is undefined/)
      expect(await seriousFaults(page)).toEqual([])
      await page.getByRole('link', { name: 'Open session' }).click()
      await page.locator('tr[data-rung="06_float4"]').waitFor()
      await expect.poll(() => page.getByText(/^Live, /).isVisible()).toBe(true)
      expect(await readdir(machine.store)).toHaveLength(1)
    })

    it('are canceled immediately, and their finished part can be opened', async () => {
      const { page } = await openRun('02_coalesced=hang')
      const replayed = await readSession(join(recordingsDir, 'gemm-fp32-h200-1024'))
      const naive = Math.round(rung(replayed, '01_naive').timing!.gflops!)
      await start(page)
      await progress(page).getByText(`${naive} GFLOP/s`).waitFor()
      expect(await seriousFaults(page)).toEqual([])
      await expect.poll(() => progress(page).innerText()).not.toContain('not reached')
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('heading', { name: 'Canceled' }).waitFor()
      await page.getByRole('link', { name: 'Open session' }).click()
      await page.locator('tr[data-rung="01_naive"]').waitFor()
      await expect
        .poll(() => page.locator('table').innerText())
        .toContain('The run ended before it reached this rung.')
    })
  })

  describe('with a compiler but no GPU', () => {
    it("offer an emulated GPU first on Run and Edit, without the previous session's data", async () => {
      const { setup } = await fakeMachine(['nvidia-smi', 'ncu'])
      harness = await startHarness(setup.machine)
      const { ref } = await shippedSession(harness.core)
      const { page, faults } = await harness.open(`/session/${ref}/ladder`)
      const facts = page.locator('header .facts')
      await facts.waitFor()
      await page.getByRole('link', { name: 'Run', exact: true }).click()
      await expect.poll(() => page.getByLabel('Target').inputValue()).toBe('emulated:h200')
      const offered = await page.locator('form .note li').allInnerTexts()
      expect(offered.map((text) => text.split(':')[0])).toEqual([
        'Emulated GPU',
        'Predicted',
        'Recordings',
        'Build only',
      ])
      expect(await facts.count()).toBe(0)
      await page.getByRole('link', { name: 'Doctor', exact: true }).click()
      await page.getByRole('heading', { name: 'This machine' }).waitFor()
      expect(await facts.count()).toBe(0)
      await page.goto(`${harness.origin}/#/session/${ref}/edit/02_coalesced`)
      const run = page.getByRole('button', { name: 'Run', exact: true })
      await expect.poll(() => run.isEnabled()).toBe(true)
      const edit = await page.locator('main').innerText()
      expect(edit).toContain('Run uses an emulated GPU')
      expect(edit).not.toContain('not run')
      expect(faults).toEqual([])
    })

    it("execute a copy with the scalars and options of the copied rung's session", async () => {
      const { setup } = await fakeMachine(['nvidia-smi', 'ncu'])
      harness = await startHarness(setup.machine)
      const ref = 'recorded:softmax-h200-bf16-8192x8192'
      const { problem, rungs } = await harness.core.call('sessions.get', { ref })
      expect(problem!.options).toEqual({ dtype: 'bf16' })
      const { page } = await harness.open(`/session/${ref}/edit/${rungs[1]!.id}`)
      const asked = page.waitForRequest('**/rpc/run.start')
      await page.route('**/rpc/run.start', (route) => route.abort())
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      // An emulated run uses its own smaller size, because emulating a timed run may take hours.
      expect((await asked).postDataJSON()).toMatchObject({
        target: 'emulated',
        at: { ...problem!.scalars, ...problem!.options },
      })
    })

    it("build for a GPU from the built-in table, and show the compiler's messages", async () => {
      const { machine, page } = await openRun('03_shared_tile=compile-error', 'static:h200', [
        'nvidia-smi',
        'ncu',
      ])
      await page.getByLabel('GPU to build for').selectOption('a100')
      await expect.poll(() => page.getByLabel('Profile').count()).toBe(0)
      await start(page)
      await page.getByRole('heading', { name: 'Complete' }).waitFor()
      const told = await progress(page).innerText()
      expect(told).toContain('built for A100, not run')
      expect(told).toMatch(/identifier "j" is undefined/)
      // The rows do not repeat the message above the table.
      expect(told).not.toContain('nothing runs without a GPU')
      const naive = progress(page).getByRole('row', { name: /Naive/ })
      await expect.poll(() => naive.innerText()).toMatch(/32 registers\s+100\.0 %/)
      expect(machine.calls('runner')).toEqual([])
      await page.getByRole('link', { name: 'Open session' }).click()
      await page.locator('tr[data-rung="01_naive"]').waitFor()
    })
  })

  it('disable build-only targets without a compiler', async () => {
    const { setup } = await fakeMachine(['nvidia-smi', 'ncu', 'nvcc'])
    harness = await startHarness(setup.machine)
    const { page } = await harness.open('/run')
    await expect
      .poll(() => page.getByLabel('Target').locator('option[value^="static:"]').isDisabled())
      .toBe(true)
  })
})

describe('memory and race checks', () => {
  let harness: Harness | undefined
  afterEach(async () => {
    await harness?.stop()
    harness = undefined
  })

  async function open(faults: string, route = '/run/checks'): Promise<OpenPage> {
    const { setup } = await fakeMachine()
    setEnv({ FAKE_FAULTS: faults })
    harness = await startHarness(setup.machine)
    return harness.open(route)
  }
  const result = (page: Page) => page.getByRole('region', { name: 'Results of the checks' })
  const start = (page: Page) => page.getByRole('button', { name: 'Check' }).click()

  it('show each finding at its source line, and list the clean rungs', async () => {
    const { page, faults } = await open('02_coalesced=out-of-bounds,03_shared_tile=race')
    await start(page)
    await page.getByRole('heading', { name: '2 checks have findings' }).waitFor()
    const text = await result(page).innerText()
    expect(text).toMatch(/gemm\/02_coalesced\.cu:14\s+error\s+Invalid __global__ write of size 4/)
    expect(text).toContain('Write here, Read at gemm/03_shared_tile.cu:15')
    expect(text).toMatch(/01\s+Naive.*\s+clean\s+clean\s+clean\s+clean/i)
    await expect.poll(() => page.locator('.excerpt .here').first().innerText()).toContain('14')
    expect(await seriousFaults(page)).toEqual([])
    expect(faults).toEqual([])
  })

  it('run on the rung that a link names, and end when canceled', async () => {
    const { page } = await open(
      '01_naive=sanitizer-hang',
      '/run/checks?ladder=gemm-fp32&rung=01_naive',
    )
    await start(page)
    await page.getByText('Checking 0/4').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await result(page).getByText('Canceled').waitFor()
    await expect.poll(() => result(page).innerText()).toContain('not run')
    await expect.poll(() => result(page).locator('tbody tr').count()).toBe(1)
  })

  it('are not offered without a GPU, but the doctor is', async () => {
    setEnv({ KERNEL_LADDER_PATH_ONLY: '1', PATH: '/nonexistent' })
    harness = await startHarness()
    const { page } = await harness.open('/run/checks')
    await page.locator('form').getByText('No GPU was found here.').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Check' }).isDisabled()).toBe(true)
    await expect.poll(() => page.getByText('Size (m × n × k)').isVisible()).toBe(true)
  })
})
