/** Tests the verdicts of a baseline check. The headline must always agree with the rows. */
import { describe, expect, it } from 'vitest'
import {
  checkAgainst,
  foldVerdicts,
  rungVerdicts,
  type BaselineCheck,
  type RungVerdict,
} from '../../../src-main/domain/analysis/baseline-check'
import { inEnglish } from '../../../src-main/domain/text/english'
import { rungOf, rungStatuses, type Session } from '../../../src-main/domain/session/session'
import { editRung, recording, slowed, stretched, type Sample } from '../../services/report/samples'
import { standardSession } from '../../captures'
import { across } from '../../../src-main/domain/analysis/across-machines'

const check = (now: Sample, threshold = 3, baseline = recording()): BaselineCheck =>
  checkAgainst(baseline.session, now.session, threshold)

const row = ({ rungs }: BaselineCheck, id: string) => {
  const { verdict, reasons, ...rest } = rungs.find((rung) => rung.id === id)!
  return { verdict, why: reasons.map(inEnglish).join(' '), ...rest }
}

const id = '05_thread_tile_2d'
const { reference } = recording().session.ladder
const first = recording().session.rungs.find((rung) => rung.id !== reference)!.id

/** Returns a session with all times multiplied by a factor, including the reference's time. */
function drifted(factor: number, clock = 1, own: Record<string, number> = {}): Sample {
  const sample = recording()
  for (const rung of sample.session.rungs) {
    const timing = stretched(rung.timing!, factor * (own[rung.id] ?? 1))
    rung.timing = {
      ...timing,
      referenceMedianMs: timing.referenceMedianMs! * factor,
      smClockBeforeMHz: timing.smClockBeforeMHz! * clock,
      smClockAfterMHz: timing.smClockAfterMHz! * clock,
    }
  }
  return sample
}

describe('the check against a baseline', () => {
  it('passes a session that is compared with itself, and judges every rung by its time', () => {
    const { verdict, rungs, obstacles, notes, normalized } = check(recording())
    expect({ verdict, obstacles, notes, normalized }).toEqual({
      verdict: 'pass',
      obstacles: [],
      notes: [],
      normalized: false,
    })
    expect(rungs.map(({ verdict: one }) => one)).toEqual(rungs.map(() => 'same'))
  })

  it('fails a rung if the whole confidence interval of its slowdown exceeds the threshold', () => {
    const found = check(slowed(recording(), id, 1.05))
    expect([found.verdict, inEnglish(found.headline)]).toEqual(['fail', '1 of 7 rungs regressed'])
    expect(row(found, id)).toMatchObject({
      verdict: 'slower',
      why: expect.stringMatching(/^\+5\.00 % \(/),
    })
    expect(check(slowed(recording(), id, 1.02)).verdict).toBe('pass')
    expect(check(slowed(recording(), id, 1.05), 10).verdict).toBe('pass')
    expect(row(check(slowed(recording(), id, 0.9)), id).verdict).toBe('faster')
  })

  it('is unresolved if the threshold is inside the confidence interval', () => {
    for (const factor of [1, 1.05]) {
      const found = check(slowed(recording(), id, factor, 0.12))
      expect(found.verdict).toBe('unresolved')
      expect(row(found, id)).toMatchObject({
        verdict: 'unresolved',
        why: expect.stringContaining('the confidence interval contains the threshold of 3 %'),
      })
    }
    expect(check(slowed(recording(), id, 2, 0.12)).verdict).toBe('fail')
  })

  it.each<[string, (now: Sample) => unknown, RegExp]>([
    [
      'a rung that is missing',
      ({ session }) =>
        session.rungs.splice(
          session.rungs.findIndex((rung) => rung.id === id),
          1,
        ),
      /in the baseline but not in the new session/,
    ],
    ['a time that is null', (now) => editRung(now, id, { timing: null }), /no time in the new/],
    [
      'a time of zero',
      (now) => Object.assign(rungOf(now.session, id)!.timing!, { medianMs: 0 }),
      /no time in the new/,
    ],
    [
      'a median that is not that of the samples',
      (now) => (rungOf(now.session, id)!.timing!.medianMs *= 0.99),
      /does not match its samples/,
    ],
    [
      'a spread that is not that of the samples',
      (now) => (rungOf(now.session, id)!.timing!.spread = 0.12),
      /does not match its samples/,
    ],
    [
      'too few samples',
      (now) => (rungOf(now.session, id)!.timing!.samplesMs = [1, 1, 1]),
      /3 samples in the new session are too few; a confidence interval needs at least 6/,
    ],
    [
      'another clock',
      (now) =>
        Object.assign(rungOf(now.session, id)!.timing!, {
          smClockBeforeMHz: 1500,
          smClockAfterMHz: 1500,
        }),
      /SM clocks differ: 1980 MHz and 1500 MHz/,
    ],
    [
      'a clock that one side alone knows',
      (now) =>
        Object.assign(rungOf(now.session, id)!.timing!, {
          smClockBeforeMHz: null,
          smClockAfterMHz: null,
        }),
      /known for only one session/,
    ],
    ['no verification', (now) => editRung(now, id, { verify: null }), /not verified in the new/],
    [
      'another epilogue',
      (now) => editRung(now, id, { flags: ['relu'] }),
      /In one session 05_thread_tile_2d computes/,
    ],
    [
      'a rung that was not reached',
      (now) => editRung(now, id, { status: 'not-run', timing: null }),
      /ended before reaching it/,
    ],
  ])('is unresolved with %s', (_what, change, why) => {
    const now = recording()
    change(now)
    const found = check(now)
    expect(found.verdict).toBe('unresolved')
    expect(row(found, id)).toMatchObject({ verdict: 'unresolved', why: expect.stringMatching(why) })
    expect(found.rungs.filter(({ verdict }) => verdict === 'unresolved')).toHaveLength(1)
  })

  it.each<[string, (session: Session) => unknown, RegExp]>([
    ['GPU', ({ device }) => (device!.name = 'NVIDIA B200'), /^The GPUs differ/],
    [
      'compute capability',
      ({ device }) => (device!.computeCapability = '10.0'),
      /^The compute cap/,
    ],
    ['number of SMs', ({ device }) => (device!.smCount = 60), /^The SM counts/],
    ['seed', ({ settings }) => (settings.seed = 7), /^The input seeds/],
    [
      'contents of L2',
      ({ settings }) => (settings.cacheState = 'cold'),
      /not ranked: L2 was warm .* cold .* kernel-ladder run /,
    ],
    ['size', (session) => (session.problem!.sizes.k = 1024), /^The problems differ/],
    [
      'data type',
      (session) => (session.problem!.options.dtype = 'f16'),
      /^The sessions differ in the type of the inputs/,
    ],
    ['ladder', (session) => (session.ladder.id = 'other'), /^The ladder/],
  ])('is unresolved if the sessions differ in their %s', (_what, change, why) => {
    const now = recording()
    change(now.session)
    const found = check(now)
    expect(found.obstacles.map(inEnglish)).toEqual([expect.stringMatching(why)])
    expect(found.verdict).toBe('unresolved')
    expect(new Set(found.rungs.map(({ verdict }) => verdict))).toEqual(new Set(['unresolved']))
  })

  it('fails a rung whose slowdown is larger than its lower clock explains', () => {
    const at = (factor: number): RungVerdict => {
      const now = slowed(recording(), id, factor)
      Object.assign(rungOf(now.session, id)!.timing!, {
        smClockBeforeMHz: 1800,
        smClockAfterMHz: 1800,
      })
      return row(check(now), id).verdict
    }
    // At nine tenths of the clock, 10 % more time is about the same number of cycles.
    expect([at(1.1), at(1.5)]).toEqual(['unresolved', 'slower'])
  })

  it('is unresolved if no rung has a time or if both sessions are empty', () => {
    const empty = recording()
    empty.session.rungs = []
    expect(check(empty, 3, empty).verdict).toBe('unresolved')
    const now = recording()
    for (const rung of now.session.rungs)
      Object.assign(rung, { status: 'unsupported', timing: null })
    const found = check(now, 3, now)
    expect(inEnglish(found.headline)).toMatch(/^cannot tell .*no rung has a time in both sessions$/)
    expect([found.verdict, row(found, id).verdict]).toEqual(['unresolved', 'skipped'])
  })

  it('distinguishes a broken rung from a rung that is fixed, new, or wrong in both sessions', () => {
    const wrong = editRung(recording(), id, { status: 'wrong', timing: null, reason: 'NaN.' })
    const broke = check(wrong)
    expect([broke.verdict, row(broke, id)]).toMatchObject([
      'fail',
      { verdict: 'broken', why: 'The rung passed in the baseline but is now wrong: NaN.' },
    ])
    expect(row(check(recording(), 3, wrong), id).verdict).toBe('mended')
    expect(check(wrong, 3, wrong).verdict).toBe('unresolved')
    const fewer = recording()
    fewer.session.rungs = fewer.session.rungs.filter((rung) => rung.id !== id)
    const more = check(recording(), 3, fewer)
    expect([more.verdict, row(more, id).verdict]).toEqual(['pass', 'new'])
    // The rung's status contradicts its verification.
    const contradicted = recording()
    rungOf(contradicted.session, id)!.verify!.passed = false
    expect(row(check(contradicted), id)).toMatchObject({
      verdict: 'broken',
      why: 'The rung passed in the baseline but is now wrong: it failed verification.',
    })
  })

  it('fails if one rung regressed and another is undecided, and reports both', () => {
    const now = slowed(recording(), id, 1.2)
    editRung(now, first, { timing: null })
    const found = check(now)
    expect([found.verdict, inEnglish(found.headline)]).toEqual([
      'fail',
      '1 of 7 rungs regressed, and 1 could not be decided',
    ])
  })

  it('lists the checked rungs if only some were requested', () => {
    const now = slowed(recording(), id, 1.2)
    const { verdict, notes, rungs } = checkAgainst(recording().session, now.session, 3, [first])
    expect([verdict, rungs.length]).toEqual(['pass', 1])
    expect(notes.map(inEnglish)).toEqual([expect.stringContaining(first)])
  })
})

describe("a check in which the reference's time changed", () => {
  it("normalizes the times, and says so, if every rung's time changed by the same factor", () => {
    for (const [factor, clock] of [
      [1.06, 0.94],
      [0.94, 1.06],
    ] as const) {
      const found = check(drifted(factor, clock))
      expect([found.verdict, found.normalized]).toEqual(['pass', true])
      expect(found.notes.map(inEnglish).join()).toMatch(/moved in the same direction .*normalized/)
      expect(row(found, id)).toMatchObject({
        verdict: 'same',
        why: expect.stringContaining('after normalizing'),
      })
    }
  })

  it('still finds a rung whose time changed more than the reference’s time', () => {
    const slow = check(drifted(1.06, 1, { [id]: 1.08 }))
    expect([slow.normalized, row(slow, id).verdict, row(slow, first).verdict]).toEqual([
      true,
      'slower',
      'same',
    ])
    // The higher clock makes the rung faster, so the raw time hides the slowdown.
    const hidden = check(drifted(0.9, 1, { [id]: 1.08 }))
    expect([hidden.normalized, row(hidden, id).verdict]).toEqual([true, 'slower'])
  })

  it('leaves a rung unresolved if it was not interleaved with the reference', () => {
    const now = drifted(1.06)
    rungOf(now.session, id)!.timing!.referenceMedianMs = null
    expect(row(check(now), id)).toMatchObject({
      verdict: 'unresolved',
      why: expect.stringContaining('not timed alternately'),
    })
  })

  it('does not normalize the times if the reference changed too much or alone', () => {
    const far = check(drifted(1.5))
    expect([far.verdict, far.normalized]).toEqual(['fail', false])
    expect(row(far, id).why).toMatch(
      /Judged by its time, the rung is slower; relative to .* it is same/,
    )
    expect(row(far, id).verdict).toBe('unresolved')
    const alone = slowed(recording(), reference!, 0.9)
    for (const { timing } of alone.session.rungs) timing!.referenceMedianMs! *= 0.9
    const found = check(alone)
    expect([found.verdict, found.normalized]).toEqual(['unresolved', false])
    expect(row(found, id).why).toMatch(
      /Judged by its time, the rung is same; relative to .* it is slower/,
    )
    expect(found.notes.map(inEnglish).join()).toContain(
      'not every rung moved in the same direction',
    )
  })

  it('treats a reference with different source code as missing', () => {
    const now = drifted(1.06)
    rungOf(now.session, reference!)!.sourceHash = '0'.repeat(64)
    const found = check(now)
    expect([found.verdict, found.normalized]).toEqual(['fail', false])
  })
})

describe('the headline', () => {
  it('summarizes the rows, for every pair of verdicts', () => {
    for (const one of rungVerdicts)
      for (const two of rungVerdicts) {
        const both: RungVerdict[] = [one, two]
        const worse = both.some((verdict) => verdict === 'slower' || verdict === 'broken')
        const unknown = both.includes('unresolved')
        const timed = both.some((verdict) => verdict === 'same' || verdict === 'faster')
        const wanted = worse ? 'fail' : unknown || !timed ? 'unresolved' : 'pass'
        expect(foldVerdicts(both), both.join()).toBe(wanted)
      }
  })

  it('has the same counts as the rows, for many sessions', () => {
    let state = 11
    const random = (below: number): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
    const changes: ((sample: Sample, rung: string) => unknown)[] = [
      () => undefined,
      () => undefined,
      (sample, rung) => slowed(sample, rung, 0.9 + random(30) / 100),
      (sample, rung) => slowed(sample, rung, 1.05, random(20) / 100),
      (sample, rung) => editRung(sample, rung, { timing: null }),
      (sample, rung) => editRung(sample, rung, { status: rungStatuses[random(5)]! }),
      (sample, rung) => editRung(sample, rung, { verify: null }),
      ({ session }, rung) => {
        session.rungs = session.rungs.filter((one) => one.id !== rung)
      },
    ]
    const draw = (): Sample => {
      const sample = random(4) === 0 ? drifted(0.9 + random(20) / 100) : recording()
      for (let count = random(4); count > 0; count -= 1) {
        const left = sample.session.rungs.filter(({ timing }) => timing)
        changes[random(changes.length)]!(sample, left[random(left.length)]!.id)
      }
      return sample
    }
    const seen = new Set<string>()
    for (let turn = 0; turn < 400; turn += 1) {
      const { verdict, headline, rungs } = check(draw(), 3, random(3) === 0 ? draw() : recording())
      const verdicts = rungs.map(({ verdict: one }) => one)
      const count = (...wanted: RungVerdict[]): number =>
        verdicts.filter((one) => wanted.includes(one)).length
      const [worse, unknown] = [count('slower', 'broken'), count('unresolved')]
      const words = inEnglish(headline)
      expect(verdict).toBe(foldVerdicts(verdicts))
      expect(words.includes('regressed')).toBe(worse > 0)
      if (worse > 0) expect(words).toMatch(new RegExp(`^${worse} of ${rungs.length} rungs`))
      if (worse === 0 && unknown > 0) expect(words).toMatch(/^cannot tell/)
      if (words.startsWith('no rung got')) expect([worse, unknown]).toEqual([0, 0])
      expect(rungs.every(({ reasons }) => reasons.length > 0)).toBe(true)
      seen.add(verdict)
    }
    expect(seen).toEqual(new Set(['pass', 'fail', 'unresolved']))
  })
})

const other = (session: Session): Session => ({
  ...session,
  device: { ...session.device!, name: 'NVIDIA A100', computeCapability: '8.0', smCount: 108 },
  rungs: session.rungs.slice(1),
})

it("a check on several machines lists each machine's result per rung, without comparing times across GPUs", async () => {
  const session = await standardSession()
  const { rungs, timesComparable, reasons } = across([session, other(session)])
  expect(timesComparable).toBe(false)
  expect(reasons.map((reason) => inEnglish(reason)).join(' ')).toContain('times cannot')
  expect(rungs[0]!.on[1]).toBeNull()
  const [first, second] = rungs[1]!.on
  const timing = session.rungs[1]!.timing!
  expect(first!.timeMs).toBe(timing.medianMs)
  // The same rate is a larger fraction of a smaller GPU's peak. The smaller GPU has fewer SMs, and
  // each SM has half the lanes.
  expect(first!.rate).toEqual(second!.rate)
  expect(first!.share).not.toBeNull()
  expect(second!.share).not.toBeNull()
})

it('a check compares times if the GPUs are the same model', async () => {
  const session = await standardSession()
  const { timesComparable, reasons } = across([session, session])
  expect(timesComparable).toBe(true)
  expect(reasons).toEqual([])
})
