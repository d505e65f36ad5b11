/**
 * Tests that files of older versions are upgraded when read. Files that are damaged or have an
 * unknown version are rejected.
 */
import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readAttempt } from '../../../src-main/adapters/labs/attempt'
import { parseSession, readSession } from '../../../src-main/adapters/sessions/session-store'
import { message } from '../../../src-main/domain/messages/message'
import { formats, upgraded } from '../../../src-main/domain/session/upgrade'
import { root, tempDir } from '../../services/support'
import { saying } from '../../support'
import { frozenElementId } from '../../../src-main/domain/report/frozen-report'
import type { Session } from '../../../src-main/domain/session/session'
import { parseReportHtml } from '../../../src-main/parsers/report/report-html'
import { readDeep } from '../../../src-main/adapters/sessions/deep-profiles'

const captured = (name: string): string =>
  readFileSync(join(root, 'test/captures/sessions', name), 'utf8')

/**
 * A live run written by version 2. The run's rungs crash, hang, give wrong results, or do not
 * compile.
 */
const failures2 = captured('failures-2.json')
const attempt = captured('attempt-passed.json')

describe('compatibility', () => {
  const json = (text: string): Record<string, unknown> =>
    JSON.parse(text) as Record<string, unknown>

  /** Returns a document in which the value at a path is replaced. */
  function damaged(text: string, path: string, value: unknown): string {
    const document = json(text)
    const steps = path.split('.')
    const last = steps.pop()!
    const at = steps.reduce((so, step) => so[step] as Record<string, unknown>, document)
    at[last] = value
    return JSON.stringify(document)
  }

  describe('a session file', () => {
    const text = failures2
    it.each([
      [
        'schema',
        4,
        /it has schema 4, but this version reads only up to 3; it was written by a newer kernel-ladder/,
      ],
      [
        'schema',
        1,
        /it has schema 1, which is no longer supported: run the ladder again, or import/,
      ],
      ['schema', 0, /it has schema 0, which no version of kernel-ladder writes/],
      ['schema', 1.5, /it has schema 1.5, which no version of kernel-ladder writes/],
      ['schema', 'one', /has no schema version/],
      ['warnings', 'none', /warnings/],
      ['warnings', [7], /this is no text, and no message that this version knows[^]*warnings\[0\]/],
      ['rungs', {}, /rungs/],
      ['rungs.1', null, /rungs\[1\]/],
      ['rungs.1.reason', 7, /rungs\[1\]\.reason/],
      ['rungs.0.metrics', [], /rungs\[0\]\.metrics/],
      ['rungs.0.metrics.fmaUtilization', 'high', /rungs\[0\]\.metrics\.fmaUtilization/],
      ['rungs.0.metrics.fmaUtilization.value', '7', /fmaUtilization\.value/],
      ['rungs.0.timing.medianMs', 'fast', /rungs\[0\]\.timing\.medianMs/],
      ['device', 'H200', /device/],
      ['ladder.rungs', null, /ladder\.rungs/],
      ['completion', 'half', /completion/],
      ['createdAt', 'today', /createdAt/],
    ])('whose %s is %j is rejected with the reason', (path, value, why) => {
      expect(() => parseSession(damaged(text, path, value), 'session.json')).toThrow(why)
    })

    it.each([
      [{ schema: 4 }, /^The file was not changed\. Update kernel-ladder to open it\.$/],
      [{ device: 'H200' }, /^The file was not changed\. Use a backup/],
    ])('with %j yields a one-line error message and a remedy', (change, remedy) => {
      const changed = JSON.stringify({ ...(JSON.parse(text) as object), ...change })
      expect(() => parseSession(changed, 'session.json')).toThrow(
        expect.objectContaining({
          message: expect.stringMatching(
            /^session\.json cannot be read as a session: .+\.$/,
          ) as string,
          remedy: saying(remedy),
        }) as Error,
      )
    })

    const now = JSON.stringify(parseSession(failures2, 'session.json'))
    const reason = (key: string, values: unknown) => ({ key, values })
    it.each([
      [reason('records.exploded', {}), /this is no text, and no message that this version knows/],
      [reason('records.hung', { seconds: 2 }), /records\.hung lacks this value[^]*values\.stage/],
      [
        reason('records.notReached', { when: 'never' }),
        /records\.notReached has no such value[^]*values\.when/,
      ],
      [reason('records.crashed', { stage: null, signal: '' }), /rungs\[1\]\.reason/],
      [{ sentences: [] }, /rungs\[1\]\.reason/],
      [{ sentences: [reason('records.exploded', {})] }, /rungs\[1\]\.reason/],
    ])('with schema 3 is rejected if a rung has the invalid reason %j', (value, why) => {
      expect(() => parseSession(damaged(now, 'rungs.1.reason', value), 'session.json')).toThrow(why)
    })

    it('may have text in addition to a message, as in JSON output for scripts', () => {
      const hung = { ...message('records.notReached'), text: 'It was not reached.' }
      const { rungs } = parseSession(damaged(now, 'rungs.1.reason', hung), 'session.json')
      expect(rungs[1]?.reason).toEqual(message('records.notReached'))
    })
  })

  describe('a version 2 session', () => {
    it('is unchanged on disk', async () => {
      const dir = await tempDir()
      await writeFile(join(dir, 'session.json'), failures2)
      expect((await readSession(dir)).schema).toBe(3)
      expect(await readFile(join(dir, 'session.json'), 'utf8')).toBe(failures2)
    })
  })

  describe('a deep profile', () => {
    const rung = '01_naive'
    const kernel = { name: 'k', instructions: [], lines: [], opcodes: null, rules: [] }
    const opened = async (profile: object) => {
      const dir = await tempDir()
      await mkdir(join(dir, 'deep'))
      await writeFile(join(dir, 'deep', `${rung}.json`), JSON.stringify(profile))
      return readDeep(dir, rung)
    }

    it('with a newer or missing version is rejected with the reason', async () => {
      const profile = { rung, kernels: [kernel], notes: [] }
      await expect(opened({ schema: 3, ...profile })).rejects.toThrow(
        /it has schema 3, but this version reads only up to 2; it was written by a newer kernel-ladder/,
      )
      await expect(opened(profile)).rejects.toThrow(/has no schema version/)
    })
  })

  describe('a lab attempt', () => {
    it.each([
      ['outcome.schema', 3, /schema 3, but this version reads only up to 2/],
      ['outcome.schema', 1, /schema 1, which is no longer supported/],
      ['outcome.schema', null, /has no schema version/],
      ['outcome', 7, /has no schema version/],
      ['outcome.checks', {}, /checks/],
      ['outcome.checks.0.sentence', 7, /checks\[0\]\.sentence/],
      ['outcome.build.reason', [], /build\.reason/],
      ['answers', 7, /answers/],
    ])('whose %s is %j is rejected with the reason', async (path, value, why) => {
      const dir = await tempDir()
      await writeFile(join(dir, 'attempt.json'), damaged(attempt, path, value))
      await expect(readAttempt(dir)).rejects.toThrow(why)
    })
  })

  describe('an upgrader', () => {
    it('accepts any value without modifying it in place', () => {
      const values = [null, 7, 'x', [], {}, [[{}]], { rungs: [null, 7, { metrics: [1] }] }]
      for (const format of Object.values(formats))
        for (const value of values) {
          const document = z.record(z.string(), z.unknown()).safeParse(value)
          const given = document.success ? { ...document.data, [format.version]: 2 } : value
          const before = JSON.stringify(given)
          upgraded(format, given)
          expect(JSON.stringify(given)).toBe(before)
        }
    })
  })
})

describe('an older import with several launches in one row', () => {
  const figure = (value: number, unit: string) => ({ value, unit, evidence: 'measured' })
  const saved = (kernels: { name: string; block: number }[]): string => {
    const session = JSON.parse(failures2) as { rungs: Record<string, unknown>[] }
    const [rung] = session.rungs
    return JSON.stringify({
      ...session,
      target: { kind: 'imported', name: 'ranges.ncu-rep' },
      rungs: [
        {
          ...rung,
          metrics: {
            theoreticalOccupancy: figure(18.8, '%'),
            achievedOccupancy: figure(54, '%'),
            instructions: figure(1000, 'inst'),
          },
          profile: {
            passes: 1,
            kernels: kernels.map(({ name, block }) => ({
              ...{ name, grid: [64, 1, 1], block: [block, 1, 1], passes: 1 },
            })),
          },
        },
      ],
    })
  }
  const occupancyOf = (text: string) => {
    const { metrics } = parseSession(text, 'session.json').rungs[0]!
    return ['theoreticalOccupancy', 'achievedOccupancy', 'instructions'].map(
      (id) => metrics[id]!.value,
    )
  }

  it('loses its occupancy, which describes a single launch, but keeps its sums', () => {
    const text = saved([
      { name: 'scale', block: 256 },
      { name: 'add', block: 128 },
    ])
    expect(occupancyOf(text)).toEqual([null, null, 1000])
    // Imitate a file from an earlier release that has the current version number.
    const session = parseSession(text, 'session.json')
    const { metrics } = (JSON.parse(text) as Session).rungs[0]!
    const text3 = JSON.stringify({ ...session, rungs: [{ ...session.rungs[0], metrics }] })
    const page = `<script type="application/json" id="${frozenElementId}">${JSON.stringify({
      ...{ report: 3, date: null, sections: [] },
      sessions: [{ session: JSON.parse(text3), sources: {} }],
    })}</script>`
    const [read] = parseReportHtml(page, 'old.html').report.sessions
    expect(read!.session.rungs[0]!.metrics['theoreticalOccupancy']!.value).toBeNull()
  })

  it('keeps its occupancy if all launches have the same kernel and shape', () => {
    const same = { name: 'scale', block: 256 }
    expect(occupancyOf(saved([same, same]))).toEqual([18.8, 54, 1000])
  })
})
