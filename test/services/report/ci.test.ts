/** Tests the baseline check as Markdown and as JSON with the published schema. */
import { join } from 'node:path'
import MarkdownIt from 'markdown-it'
import { describe, expect, it } from 'vitest'
import { readSources } from '../../../src-main/adapters/sessions/session-sources'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { CiDocument } from '../../../src-main/domain/analysis/baseline-document'
import { reportCi } from '../../../src-main/services/report'
import { faultsOf, isValid } from '../../json-schemas'
import { recordingsDir } from '../support'
import {
  editRung,
  noPrivates,
  recording,
  slowed,
  withHostileStrings,
  withTroubles,
  type Sample,
} from './samples'

const check = (now: Sample, json = false, baseline = recording()) =>
  reportCi(baseline, now, { thresholdPercent: 3, json }, noPrivates)

const document = (now: Sample, baseline?: Sample): CiDocument =>
  CiDocument.parse(JSON.parse(check(now, true, baseline).text))

describe('the check in Markdown', () => {
  it('has the headline first and one row per rung, with slower and undecided rungs at the top', () => {
    const now = editRung(slowed(recording(), '05_thread_tile_2d', 1.05), '06_float4', {
      timing: null,
    })
    now.session.rungs.at(-1)!.params = { BM: 64 }
    const { text, verdict, headline } = check(now)
    expect(verdict).toBe('fail')
    expect(text.startsWith(`## Kernel Ladder: ${headline}\n`)).toBe(true)
    const html = new MarkdownIt({ html: true }).render(text)
    const rows = [...html.matchAll(/<tr>\s*<td[^>]*><code>(\w+)<\/code>[^]*?<\/tr>/g)]
      .map(([row, id]) => ({ id: id!, row }))
      .slice(0, now.session.rungs.length)
    expect(rows.map(({ id }) => id).slice(0, 2)).toEqual(['05_thread_tile_2d', '06_float4'])
    expect(rows.map(({ id }) => id).sort()).toEqual(now.session.rungs.map(({ id }) => id).sort())
    expect(rows[0]!.row).toContain('▼ slower')
    expect(rows[1]!.row).toMatch(/\? unresolved[^]*no time in the new session/)
    expect(text).toContain('has different parameters: `BK=8 BM=128 BN=128 TM=8 TN=8` and `BM=64`.')
  })

  it('starts with the reason that times are not compared, and with notes on other differences', () => {
    const now = recording()
    now.session.device!.name = 'NVIDIA <b>B200'
    now.session.device!.driver = '590.1'
    const { text, verdict } = check(now)
    expect(verdict).toBe('unresolved')
    expect(text).toContain(
      '> **Not compared:** The GPUs differ: NVIDIA H200 and NVIDIA &lt;b&gt;B200.',
    )
    expect(text).toContain('> **Note:** The driver versions differ: 580.159.04 and 590.1.')
  })
})

describe('the check in JSON', () => {
  const samples = (): Sample[] => [recording(), withTroubles(), withHostileStrings()]

  it('matches the published schema', () => {
    for (const now of samples())
      for (const baseline of samples()) {
        const value: unknown = JSON.parse(check(now, true, baseline).text)
        expect(faultsOf('ci', value)).toEqual([])
      }
    expect(isValid('ci', { ...document(recording()), verdict: 'yes' })).toBe(false)
  })

  it('has the verdict, the exit code, and the figures and reasons of each rung', () => {
    const { verdict, exitCode, headline, rungs } = document(
      slowed(recording(), '05_thread_tile_2d', 1.05),
    )
    expect({ verdict, exitCode, headline }).toEqual({
      verdict: 'fail',
      exitCode: 1,
      headline: '1 of 7 rungs regressed',
    })
    const rung = rungs.find(({ id }) => id === '05_thread_tile_2d')!
    expect(rung).toMatchObject({ verdict: 'slower', reasons: [{ code: 'baseline.time' }] })
    expect(rung.change!.ratio).toBeCloseTo(1.05)
    expect(rung.change!.low).toBeLessThan(1.05)
    expect(rung.change!.high).toBeGreaterThan(1.05)
    expect(document(recording())).toMatchObject({ verdict: 'pass', exitCode: 0 })
  })
})

describe('recordings from the H200', () => {
  const open = async (name: string): Promise<Sample> => {
    const folder = join(recordingsDir, name)
    const session = await readSession(folder)
    return { session, sources: (await readSources(folder, session)).texts }
  }

  it('pass for two runs of one ladder, but are undecided for a throttled run against itself', async () => {
    const [one, two, throttled] = await Promise.all(
      ['gemm-fp32-h200-4096', 'gemm-fp32-h200-4096-deep', 'gemm-3xtf32-h200-8192'].map(open),
    )
    // Pretend that both sessions were timed with the same L2 state. A product of this size reads
    // its operands so often that a warm L2 makes no difference.
    two!.session.settings.cacheState = one!.session.settings.cacheState
    // The naive rung is so slow that its timing has only four samples.
    for (const { session } of [one!, two!])
      session.rungs = session.rungs.filter(({ id }) => id !== '01_naive')
    expect(document(two!, one!)).toMatchObject({ verdict: 'pass', normalized: false })
    const { verdict, rungs } = document(throttled!, throttled!)
    expect(verdict).toBe('unresolved')
    expect(rungs.filter((rung) => rung.verdict === 'unresolved').map(({ id }) => id)).toEqual([
      '62_tf32x3_wgmma',
    ])
  })
})
