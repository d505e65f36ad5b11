import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { inEnglish } from '../../../src-main/domain/text/wording'
import { recordingsDir } from '../support'
import { Session } from '../../../src-main/domain/session/session'
import { parseChoice } from '../../../src-main/hosts/cli/arguments'
import { textFormats } from '../../../src-main/domain/report/report-format'
import { report, reportComparison } from '../../../src-main/services/report'
import { buildReport, type ReportModel } from '../../../src-main/services/report/model'
import { reportSections } from '../../../src-main/domain/report/frozen-report'
import { headline, reproduceCommand } from '../../../src-main/domain/report/provenance'
import { scrubber } from '../../../src-main/services/report/scrub'
import type { Sentence } from '../../../src-main/domain/messages/sentence'
import {
  editRung,
  noPrivates,
  recording,
  slowed,
  withHostileStrings,
  withoutMetrics,
  withTroubles,
  type Sample,
} from './samples'
import { gemmProblem } from '../../gemm'
import { isValid } from '../../json-schemas'

const model = (sample: Sample): ReportModel =>
  buildReport({ ...sample, scrub: scrubber(noPrivates), sections: reportSections, date: null })
const words = (sentences: Sentence[]): string[] =>
  sentences.map((sentence) =>
    sentence.map((piece) => (typeof piece === 'string' ? piece : piece.code)).join(''),
  )

describe('the summary', () => {
  it('tells the best rung, the three largest jumps with their counters, and that all paid', () => {
    const { best, jumps, unpaid, allPaid } = model(recording()).summary
    expect(words(best)).toEqual([
      'Best rung: 06_float4 (128-bit access), 3.41 ms ± 0.06 %, 40.3 TFLOP/s; it reaches 0.788× (± 0.08 %) of the throughput of the reference 00_cublas.',
    ])
    expect(words(jumps)).toEqual([
      '02_coalesced is 11.8× (± 0.02 %) as fast as 01_naive. The FMA pipe is busy for 26.8 % of the time instead of 2.3 %, 11.9×.',
      '04_thread_tile_1d is 2.28× (± 0.07 %) as fast as 03_shared_tile. The FMA pipe is busy for 32.1 % of the time instead of 14.1 %, 2.28× (Shared-memory loads 2.68 G → 805 M).',
      '05_thread_tile_2d is 1.56× (± 0.1 %) as fast as 04_thread_tile_1d. The FMA pipe is busy for 48.5 % of the time instead of 32.1 %, 1.51× (Shared-memory loads 805 M → 134 M).',
    ])
    expect(unpaid).toEqual([])
    expect(allPaid).toBe(true)
  })

  it('takes what a header predicted where no counter tells a cause', () => {
    const sample = recording()
    for (const { metrics } of sample.session.rungs) delete metrics['fmaUtilization']
    expect(words(model(sample).summary.jumps)[1]).toBe(
      '04_thread_tile_1d is 2.28× (± 0.07 %) as fast as 03_shared_tile. Shared-memory loads: 2.68 G → 805 M, as its header predicted.',
    )
  })

  it('says in its steps why each is faster, with the share of the step, and in two sessions too', () => {
    const md = report(recording(), { format: 'md' }, noPrivates)
    expect(md).toMatch(
      /Why, with the share of the step:\n\n- \*\*100 %\*\* The FMA pipe is busy for 32\.1 % of the time/,
    )
    expect(md).toMatch(/The standard level .* counts what limits and what warps wait for\./)
    const busy = { value: 31.25, unit: '%', evidence: 'measured' } as const
    const other = slowed(recording(), '06_float4', 2)
    editRung(other, '06_float4', { metrics: { fmaUtilization: busy } })
    const both = reportComparison(recording(), other, { format: 'md' }, noPrivates)
    expect(both).toMatch(
      /First causes:\n\n- `06_float4`: The FMA pipe is busy for only 31\.3 % of the time instead of 62\.5 %/,
    )
  })

  it('tells what did not pay, and keeps quiet about what is within the spread', () => {
    const sample = slowed(slowed(recording(), '06_float4', 2), '03_shared_tile', 1.49, 0.2)
    const [slower, level] = words(model(sample).summary.unpaid)
    expect(slower).toMatch(/^06_float4 is slower than 05_thread_tile_2d: 4\.42 ms → 6\.82 ms/)
    expect(level).toBe(
      '03_shared_tile is on par with 02_coalesced within the spread of both, or half a percent.',
    )
  })

  it('tells of a rung that did not pay what the ladder says of it', () => {
    const sample = slowed(slowed(recording(), '06_float4', 2), '03_shared_tile', 1.49, 0.2)
    for (const entry of sample.session.ladder.rungs) entry.note = `A note on ${entry.id}.`
    const [slower, level] = words(model(sample).summary.unpaid)
    expect(slower).toMatch(/A note on 06_float4\.$/)
    expect(level).toMatch(/ A note on 03_shared_tile\.$/)
  })

  it('tells a rung past the reference, and one level with it', () => {
    const place = (ratio: number): string => {
      const sample = recording()
      const rung = sample.session.rungs.find(({ id }) => id === '06_float4')!
      rung.timing!.ratioToReference = ratio
      return words(model(sample).summary.best)[0]!
    }
    expect(place(1.2)).toContain('reference 00_cublas, ahead of it.')
    expect(place(1.0005)).toContain('reference 00_cublas, on par with it within the spread.')
  })

  it('explains no step by the noise of a unit that does not work', async () => {
    const session = await readSession(join(recordingsDir, 'layer-norm-h200'))
    const { jumps } = model({ session, sources: {} }).summary
    expect(words(jumps)[0]).toMatch(/^02_block_per_row is 18\.4× .*DRAM is busy for/)
    expect(words(jumps)[0]).not.toContain('Tensor pipe')
  })

  it('says so when there is no counter, and when there is no time', () => {
    expect(words(model(withoutMetrics()).summary.jumps)[0]).toContain(
      'None of the collected counters',
    )
    const sample = recording()
    for (const rung of sample.session.rungs) rung.timing = null
    const { best, jumps, allPaid } = model(sample).summary
    expect(words(best)).toEqual(['No rung was verified and timed, so there is no best one.'])
    expect([jumps, allPaid]).toEqual([[], false])
  })
})

describe('the problem', () => {
  const problem = ({ facts }: ReportModel) => facts.find(({ id }) => id === 'problem')!.value

  it('of several sizes is told by its label and their names', () => {
    expect(problem(model(recording()))).toMatch(/, 4096³ \(m 4096, n 4096, k 4096\), alpha 1, /)
  })

  it('of a single size has its name, also where the session is from before', async () => {
    const session = await readSession(join(recordingsDir, 'reduction-h200'))
    const own = model({ session, sources: {} })
    expect(problem(own)).toMatch(/, N = 67108864$/)
    expect(inEnglish(headline(session))).toMatch(/ at N = 67108864$/)
  })
})

describe('the command to reproduce it', () => {
  it('names the rungs, the size and the level', () => {
    expect(reproduceCommand(recording().session)).toBe(
      'kernel-ladder run --ladder gemm-fp32 --rungs 00_cublas,01_naive,02_coalesced,03_shared_tile,04_thread_tile_1d,05_thread_tile_2d,06_float4 --size 4096 --profile card',
    )
  })

  it('names what differs from the defaults, a parameter only where it reaches no other rung', () => {
    const { session } = recording()
    session.problem = gemmProblem(3, 4096, 4096, { beta: 0.5 })
    session.settings.flushL2 = true
    for (const { params } of session.ladder.rungs) if (params.TILE) params.TILE = 16
    session.ladder.rungs.find(({ id }) => id === '05_thread_tile_2d')!.params.BK = 16
    const command = reproduceCommand(session)
    expect(command).toContain(
      '--at m=3 --at n=4096 --at k=4096 --at beta=0.5 --param TILE=16 --profile card',
    )
    expect(command).toMatch(/ --flush-l2$/)
    // As `run` takes it where no task has options of its own.
    const words = command.split(' ')
    expect(
      parseChoice({ at: words.filter((_, index) => words[index - 1] === '--at') }, []),
    ).toEqual({ at: { m: 3, n: 4096, k: 4096, beta: 0.5 } })
    expect(command).not.toContain('BK=')
  })

  it('names a ladder folder by its path, in a report by its name', () => {
    const { session, sources } = recording()
    session.ladder.folder = '/home/mallory/my lab/'
    expect(reproduceCommand(session)).toContain(` --ladder '/home/mallory/my lab/' --rungs `)
    const { facts } = model({ session, sources })
    const fact = (id: string) => facts.find((one) => one.id === id)!.value
    expect(fact('reproduce')).toContain(` --ladder './my lab' --rungs `)
    expect(fact('ladder')).toMatch(/^gemm-fp32 \(.+\), the ladder folder \.\/my lab$/)
  })

  it('quotes the name of an imported file for a shell', () => {
    const { session } = recording()
    session.target = { kind: 'imported', name: "it's $(x).ncu-rep" }
    expect(reproduceCommand(session)).toBe(`kernel-ladder import 'it'\\''s $(x).ncu-rep'`)
  })
})

describe('every format', () => {
  it.each(textFormats)('%s: the same session gives the same bytes', (format) => {
    expect(report(recording(), { format })).toBe(report(recording(), { format }))
  })

  it.each(textFormats)('%s: troubles, no metrics, no rung, no GPU and hostile texts', (format) => {
    const empty = recording()
    empty.session.rungs = []
    empty.session.device = null
    for (const sample of [withTroubles(), withoutMetrics(), empty, withHostileStrings()]) {
      const text = report(sample, { format, wide: true }, noPrivates)
      expect(text.length).toBeGreaterThan(100)
      expect(text).not.toMatch(/undefined|NaN|\[object/)
      // Nothing that hides, moves the reading direction or controls a terminal.
      expect(text.replaceAll(/\r\n|\n|\t/g, '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
    }
  })
})

describe('JSON', () => {
  it('is the session, and no figure differs', () => {
    const { session, sources } = recording()
    expect(JSON.parse(report({ session, sources }, { format: 'json' }, noPrivates))).toEqual(
      session,
    )
  })

  it('keeps hidden characters as escapes, with their value', () => {
    const sample = recording()
    sample.session.warnings = ['a\u202eb\u{e0041}']
    const text = report(sample, { format: 'json' }, noPrivates)
    expect(text).toContain('a\\u202eb\\udb40\\udc41')
    expect((JSON.parse(text) as Session).warnings).toEqual(sample.session.warnings)
  })

  it('is valid by the published schema', () => {
    for (const sample of [recording(), withTroubles(), withHostileStrings()]) {
      const value: unknown = JSON.parse(report(sample, { format: 'json' }))
      expect(isValid('session', value)).toBe(true)
      expect(Session.safeParse(value).error).toBeUndefined()
    }
    expect(isValid('session', { ...recording().session, rungs: [{}] })).toBe(false)
  })
})
