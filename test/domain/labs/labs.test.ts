/** Tests labs: their inputs, copies of their solutions, and their verdicts. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { inEnglish } from '../../../src-main/domain/text/english'
import { readCatalog } from '../../../src-main/adapters/catalog/catalog'
import { readShippedLabs } from '../../../src-main/adapters/labs/lab-folders'
import { profileLevelOf, type Lab } from '../../../src-main/domain/labs/lab'
import {
  findLikenesses,
  likenessTo,
  normalizedTokens,
} from '../../../src-main/domain/labs/similarity'
import { judgeChecks } from '../../../src-main/domain/labs/judge/judge'
import { submissionId, type LabEvidence } from '../../../src-main/domain/labs/judge/evidence'
import { judgePredictions } from '../../../src-main/domain/labs/reflect'
import {
  completesLab,
  noAnswers,
  outcomeStatus,
  type CheckResult,
} from '../../../src-main/domain/labs/outcome'
import type { MetricValue } from '../../../src-main/domain/metrics/metrics'
import type { Session } from '../../../src-main/domain/session/session'
import { said } from '../../support'
import { emulatedLab } from '../../../src-main/domain/labs/emulated-lab'
import { flops, leastBytes } from '../../../src-main/domain/task/problem'
import { withInputs } from '../../../src-main/domain/labs/lab-inputs'
import { problemAt } from '../../../src-main/domain/task/problem-request'

const catalog = await readCatalog(new URL('../../../cuda-kernels', import.meta.url).pathname)
const softmax = catalog.tasks.get('softmax')!
const fill = { kind: 'uniform', lo: '60', hi: '100' } as const

describe("a lab's inputs", () => {
  it('replace only the fill of their buffer in the task', () => {
    const { task, faults } = withInputs(softmax, { x: fill })
    expect(faults).toEqual([])
    expect(task).toEqual({
      ...softmax,
      buffers: { ...softmax.buffers, x: { ...softmax.buffers['x'], fill } },
    })
    expect(Object.keys(task.buffers)).toEqual(Object.keys(softmax.buffers))
  })

  it('are used in the lab’s own task, and not in the same task of another lab', async () => {
    const { labs } = await readShippedLabs(catalog)
    const fillOf = (id: string) =>
      labs.find((one) => one.id === id)!.catalog.tasks.get('softmax')!.buffers['x']!.fill
    expect(fillOf('15-online-softmax')).toEqual({ kind: 'uniform', lo: 60, hi: 100 })
    expect(fillOf('13-reduction')).toEqual(softmax.buffers['x']!.fill)
  })

  it.each([
    ['for a missing buffer', { q: fill }, 'reads no buffer named q'],
    ['for a result buffer', { y: fill }, 'reads no buffer named y'],
    ['from a file', { x: { kind: 'file', path: 'x.npy' } as const }, 'cannot fill a buffer'],
    ['with an unknown name', { x: { ...fill, hi: 'nope' } }, 'nope'],
  ])('%s are rejected', (_, inputs, why) => {
    expect(
      withInputs(softmax, inputs)
        .faults.map(({ message }) => inEnglish(message))
        .join(),
    ).toContain(why)
  })
})

describe('source tokens', () => {
  it('exclude comments, layout, and includes, and treat all names, numbers, and strings as equal', () => {
    expect(
      normalizedTokens(
        '#include <cmath>\n  # include "x.h"\n// a\nint n /* b\n*/ = 0x1f; // c\nf<<<g, 1.5e3f>>>("a\\"b", \'\\n\');\n#define N 3\n',
      ),
    ).toEqual('int v = 0 ; v <<< v , 0 >>> ( "" , "" ) ; # v v 0'.split(' '))
  })

  it('end an unclosed string with its line, and an unclosed comment with the file', () => {
    expect(normalizedTokens('"open\nx')).toEqual(['""', 'v'])
    expect(normalizedTokens('"open\\\nx')).toEqual(['""', 'v'])
    expect(normalizedTokens('x /* open')).toEqual(['v'])
  })

  // On such malicious text, a quadratic tokenizer would read the rest of the text again from every
  // position.
  it.each([
    ['quotes and backslashes', '"\\', 1],
    ['open comments', '/* ', 0],
    ['blanks', ' ', 0],
  ])('are found in one pass over %s', (_, piece, count) => {
    expect(normalizedTokens(piece.repeat(500_000)).length).toBe(count)
  })

  it('are reported as similar after renaming, unless the shared code is from the starter', () => {
    const body = Array.from(
      { length: 40 },
      (_, at) => `a[${at}] = b + c * ${at}; if (a) { b -= a; } while (c < ${at}) c++;`,
    ).join('\n')
    const sources = new Map([
      ['one', body],
      ['two', body.replaceAll('a', 'z').replaceAll('b', 'y')],
    ])
    expect(findLikenesses(sources, [])).toEqual([{ a: 'one', b: 'two', share: 1 }])
    expect(findLikenesses(sources, [body])).toEqual([])
  })
})

describe('a copy of the solution', () => {
  const labs = join(import.meta.dirname, '../../../cuda-kernels/labs')
  const folders = readdirSync(labs, { withFileTypes: true }).filter((one) => one.isDirectory())
  const sources = folders.map(({ name: lab }) => {
    const text = (name: string) => readFileSync(join(labs, lab, name), 'utf8')
    return [lab, text('starter.cu'), text('solution.cu')] as const
  })
  /** Returns the source with other names and comments, on fewer lines. */
  const renamed = (source: string): string =>
    source
      .replaceAll(/\/\/[^\n]*/g, '// my own work')
      .replaceAll(/\b(row|col|sum|tile|acc|value|lane|warp|step|i|j|k|p)\b/g, 'my_$1')

  it.each(sources)('is detected in %s, unchanged and renamed', (_lab, starter, solution) => {
    const own = likenessTo(solution, solution, [starter])
    // If the solution is only one or two lines, all correct submissions are identical.
    if (own === null) return
    expect(own).toBe(1)
    expect(likenessTo(solution, renamed(solution), [starter])).toBe(1)
    expect(likenessTo(solution, starter, [starter])).toBeNull()
  })

  it('is detected in every lab except the lab whose solution only swaps two names', () => {
    const untold = sources.filter(
      ([, starter, solution]) => likenessTo(solution, solution, [starter]) === null,
    )
    expect(untold.map(([lab]) => lab)).toEqual(['01-coalescing'])
  })
})

// Tests the verdict of a lab about bank conflicts. If the structural conflicts are known, they
// decide the verdict. If the structural conflicts are unknown, the verdict has a warning.

const metric = 'sharedStoreBankConflicts'
const structural = 'sharedStoreStructuralConflicts'

const lab = {
  before: 'before',
  checks: [
    { kind: 'metric', id: 'none', metric, max: 0 },
    { kind: 'metric', id: 'fewer', metric, below: { rung: 'before', factor: 0.1 } },
  ],
  predictions: [{ id: 'gone', metric, ask: 'direction', factor: true, tolerance: 0.1 }],
} as unknown as Lab

const conflicts = (value: number, evidence: MetricValue['evidence'] = 'measured'): MetricValue => ({
  ...{ value, evidence },
  unit: 'conflicts',
})

/**
 * Judges a submission by ncu's counter for each rung, and by the structural conflicts if they are
 * known.
 */
function judged(of: Record<string, [counter: number, part?: number]>) {
  const rungs = Object.entries(of).map(([id, [counter, part]]) => ({
    id,
    status: 'ok',
    metrics: {
      [metric]: conflicts(counter),
      ...(part === undefined ? {} : { [structural]: conflicts(part, 'derived') }),
    },
  }))
  const session = { rungs, ladder: { task: null }, target: { kind: 'live', name: 'local' } }
  const evidence = {
    session: session as unknown as Session,
    ...{ reason: null, build: null, sanitized: {} },
  } as LabEvidence
  const checks = judgeChecks(lab, evidence)
  return {
    statuses: checks.map(({ status }) => status),
    sentences: checks.map(({ sentence }) => said(sentence)),
    prediction: judgePredictions(lab, evidence, noAnswers)[0]!,
  }
}

describe('a lab about bank conflicts', () => {
  it('collects counters per instruction', () => {
    expect(profileLevelOf(lab)).toBe('deep')
    expect(profileLevelOf({ ...lab, predictions: [], checks: lab.checks.slice(0, 0) })).toBe('none')
  })

  it('passes code without conflicts, even if the counter is noisy', () => {
    const { statuses, sentences, prediction } = judged({
      before: [20_693_591, 16_777_216],
      [submissionId]: [3_998_212, 0],
    })
    expect(statuses).toEqual(['passed', 'passed'])
    expect(sentences.join()).toMatch(/^Structural conflicts, shared stores: 0, ≤ 0/)
    expect(sentences.join()).not.toMatch(/noise/)
    expect(prediction).toMatchObject({ factor: 0, before: { value: 16_777_216 } })
  })

  it('fails code with structural conflicts, even if the conflict counter is low', () => {
    const { statuses } = judged({ before: [20, 20], [submissionId]: [1, 8] })
    expect(statuses).toEqual(['failed', 'failed'])
  })

  it('uses the counter for all rungs, and says so, if one rung lacks a structural count', () => {
    const { statuses, sentences, prediction } = judged({
      before: [20_693_591],
      [submissionId]: [3_998_212, 0],
    })
    // The first check needs figures only from the submission.
    expect(statuses).toEqual(['passed', 'failed'])
    expect(sentences[1]).toMatch(/^Bank conflicts, shared stores: 4\.00 M.*vary from run to run/)
    expect(prediction.after.value).toBe(3_998_212)
  })
})

const { labs } = await readShippedLabs(catalog)
const taskOf = (lab: Lab) =>
  catalog.tasks.get(catalog.ladders.find(({ id }) => id === lab.ladder)!.task)!

describe('a lab scaled down for the emulator', () => {
  it.each(labs.map(({ lab }) => [lab.id, lab] as const))(
    'is small enough to run in seconds: %s',
    (_, lab) => {
      const task = taskOf(lab)
      const small = emulatedLab(lab, task)
      const sizes = [
        small.size,
        ...small.checks.flatMap((check) => (check.kind === 'correctness' ? check.sizes : [])),
      ]
      for (const size of sizes) {
        const problem = problemAt(task, { at: size }, { options: lab.options })
        expect(flops(task, problem) ?? 0).toBeLessThan(1e7)
        expect(leastBytes(task, problem)).toBeLessThan(1e7)
      }
      expect(small.checks.map(({ id }) => id)).toEqual(lab.checks.map(({ id }) => id))
    },
  )

  it('allows proportionally fewer conflicts, but the same number of sectors per request', () => {
    const bounds = (id: string) => {
      const { lab } = labs.find((one) => one.lab.id === id)!
      return [lab, emulatedLab(lab, taskOf(lab))].map(
        ({ checks }) => new Map(checks.map((check) => [check.id, check])),
      )
    }
    const [conflicts, fewer] = bounds('07-bank-conflicts')
    expect(conflicts!.get('loads')).toMatchObject({ max: 1e6 })
    expect(fewer!.get('loads')).toMatchObject({ max: 1e6 / 16 ** 3 })
    const [wide, still] = bounds('06-float4')
    expect(still!.get('sectors')).toEqual(wide!.get('sectors'))
  })
})

describe("an outcome's status", () => {
  const check = (kind: CheckResult['kind'], id: string, status: CheckResult['status']) =>
    ({ kind, id, status, title: '', sentence: '', figures: [] }) as CheckResult
  const right = check('correctness', 'right', 'passed')
  const untimed = check('time', 'fast', 'unavailable')
  const metric = (status: CheckResult['status']) => check('metric', 'loads', status)

  it.each([
    ['is a pass if all judged checks passed', [right, metric('passed'), untimed], 'passed'],
    ['is a failure if a judged check failed', [right, metric('failed'), untimed], 'failed'],
    ['is unavailable without a counter', [right, untimed], 'unavailable'],
    [
      'is unavailable if a result is unknown',
      [check('correctness', 'right', 'unavailable'), metric('passed'), untimed],
      'unavailable',
    ],
  ] as const)('without times %s', (_, checks, status) => {
    expect(outcomeStatus(checks, { times: false }, ['loads', 'fast'])).toBe(status)
  })

  const emulated = { kind: 'emulated', name: 'h200' } as const
  const live = { kind: 'live', name: 'local' } as const
  const recorded = { kind: 'recorded', name: '07-solution' } as const
  const unknown = check('metric', 'fma', 'unavailable')
  it.each([
    ['counts on a GPU', live, [right, metric('passed')], true],
    [
      'counts on an emulated GPU if all checks except time checks were judged',
      emulated,
      [right, untimed],
      true,
    ],
    [
      'does not count on an emulated GPU with an unjudged counter',
      emulated,
      [right, unknown, untimed],
      false,
    ],
    ['does not count in a replay', recorded, [right, metric('passed')], false],
  ] as const)('passed %s', (_, target, checks, counts) => {
    expect(completesLab({ status: 'passed', target, checks: [...checks] })).toBe(counts)
  })

  it('completes the lab only if it is a pass', () => {
    expect(completesLab({ status: 'failed', target: live, checks: [right] })).toBe(false)
  })

  it('is unavailable if no usable check detects the starter, or if times can be measured but are missing', () => {
    const checks = [right, metric('passed'), untimed]
    expect(outcomeStatus(checks, { times: false }, ['fast'])).toBe('unavailable')
    expect(outcomeStatus(checks, { times: true }, ['loads'])).toBe('unavailable')
  })
})
