/**
 * Generates the tables about public ladders, changed public kernels, and public kernels at their
 * limit in docs/evidence/next.md.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { md, mdTable } from '../../src-main/domain/text/markdown'
import { formatMs, formatRatio } from '../../src-main/domain/metrics/units'
import { firstCount, shareText, tolerance, worth } from './backtest'
import { stepsTable, type StepRow } from './steps-table'

export const publicCapture = 'test/captures/next/public.json'

interface Measured {
  ms: number
  /** Half the interquartile range of the times, divided by the median time. */
  spread: number
}

interface Suggested {
  move: string
  low: number
  mid: number
  high: number
}

interface PublicStep {
  from: string
  to: string
  /** Moves that the author made, according to the author's text and code. */
  made: string[]
  before: Measured
  after: Measured
  limit: string | null
  suggested: Suggested[]
}

export interface PublicCapture {
  gpu: string
  driver: string
  date: string
  ladders: {
    name: string
    repository: string
    commit: string
    path: string
    problem: Record<string, number>
    leftOut: string[]
    steps: PublicStep[]
  }[]
  /**
   * Kernels that a person changed, in the order of the attempts. The person saw only the source and
   * the output of `next`.
   */
  kernels: {
    repository: string
    commit: string
    path: string
    kernel: string
    problem: Record<string, number>
    /** Limit of the best rung as reported by `next`. */
    limit: string
    tries: PublicStep[]
  }[]
  limits: {
    repository: string
    commit: string
    path: string
    kernel: string
    problem: Record<string, number>
    ms: number
    limit: string
    suggested: Suggested[]
  }[]
}

export const readPublicCapture = (root: string): PublicCapture =>
  JSON.parse(readFileSync(join(root, publicCapture), 'utf8')) as PublicCapture

export interface Judged {
  gain: number
  isFirst: boolean
  /**
   * The first suggestion that matches a move of the step, and whether the step's gain is within the
   * suggested range. Null if no suggestion matches.
   */
  range: (Suggested & { holds: boolean }) | null
}

export function judged({ made, before, after, suggested }: PublicStep): Judged {
  const gain = before.ms / after.ms
  const own = suggested.find(({ move }) => made.includes(move))
  return {
    gain,
    isFirst: suggested.slice(0, firstCount).some(({ move }) => made.includes(move)),
    range: own
      ? { ...own, holds: gain >= own.low / tolerance && gain <= own.high * tolerance }
      : null,
  }
}

function stepRow(of: string, step: PublicStep): StepRow {
  const { from, to, made, suggested } = step
  const first = suggested.slice(0, firstCount).map(({ move }) => move)
  return { ...{ of, from, to, made, first }, ...judged(step) }
}

function scoreRow(name: string, steps: readonly PublicStep[]): string[] {
  const all = steps.map(judged)
  const ranges = all.flatMap(({ range }) => (range ? [range] : []))
  const of = (count: number, total: number) =>
    `${count} of ${total} (${shareText(total === 0 ? null : count / total)})`
  return [
    name,
    of(all.filter(({ isFirst }) => isFirst).length, all.length),
    of(ranges.filter(({ holds }) => holds).length, ranges.length),
  ]
}

const commitLink = (repository: string, commit: string, path: string): string =>
  `[${repository}](https://github.com/${repository}/blob/${commit}/${path})`

/** Returns the generated part of docs/evidence/next.md about public ladders. */
export function publicLaddersPart({ ladders }: PublicCapture): string {
  const all = ladders.flatMap(({ steps }) => steps)
  const scores = mdTable(
    [
      { header: '', align: 'left' },
      { header: 'move among the first three', align: 'right' },
      { header: 'gain within the range', align: 'right' },
    ],
    [
      scoreRow('all steps', all),
      scoreRow(
        'steps that gained 2 % or more',
        all.filter((step) => judged(step).gain >= worth),
      ),
      ...ladders.map(({ repository, commit, path, name, steps }) =>
        scoreRow(`${md(name)}, ${commitLink(repository, commit, path)}`, steps),
      ),
    ],
  )
  const table = stepsTable(
    'ladder',
    ladders.flatMap(({ name, steps }) => steps.map((step) => stepRow(md(name), step))),
  )
  const left = ladders.flatMap(({ name, leftOut }) => leftOut.map((one) => `${name}: ${one}.`))
  return [
    scores,
    `Excluded: ${left.map(md).join(' ')}`,
    `<details>\n<summary>Every step</summary>\n\n${table}\n\n</details>`,
  ].join('\n\n')
}

/**
 * Returns the generated part of docs/evidence/next.md about public kernels that were changed
 * according to `next`.
 */
export function kernelsPart({ kernels }: PublicCapture): string {
  const tries = kernels.flatMap((one) => one.tries.map(judged))
  const faster = tries.filter(({ gain }) => gain >= worth).length
  const held = tries.filter(({ range }) => range?.holds).length
  const above = tries.filter(({ gain, range }) => range && !range.holds && gain > range.high).length
  const best = ({ tries: own }: PublicCapture['kernels'][number]): number =>
    Math.min(...own.map(({ after }) => after.ms))
  const summary = mdTable(
    [
      { header: 'kernel', align: 'left' },
      { header: 'problem', align: 'left' },
      { header: 'before', align: 'right' },
      { header: 'best', align: 'right' },
      { header: 'gain', align: 'right' },
      { header: 'tries', align: 'right' },
      { header: 'limit of the best version', align: 'left' },
    ],
    kernels.map((one) => [
      `\`${one.kernel}\` of ${commitLink(one.repository, one.commit, one.path)}`,
      Object.entries(one.problem)
        .map(([name, value]) => `${md(name)} = ${value}`)
        .join(', '),
      formatMs(one.tries[0]!.before.ms),
      formatMs(best(one)),
      formatRatio(one.tries[0]!.before.ms / best(one)),
      String(one.tries.length),
      md(one.limit),
    ]),
  )
  const table = stepsTable(
    'kernel',
    kernels.flatMap(({ kernel, tries: own }) => own.map((step) => stepRow(`\`${kernel}\``, step))),
  )
  return [
    `${faster} of ${tries.length} tries made the kernel at least 2 % faster. The gain was inside the range in ${held} tries, above it in ${above}, and below it in ${tries.length - held - above}.`,
    summary,
    `<details>\n<summary>Every try</summary>\n\n${table}\n\n</details>`,
  ].join('\n\n')
}

/** Returns the generated part of docs/evidence/next.md about public kernels at their limit. */
export const limitsPart = ({ limits }: PublicCapture): string =>
  mdTable(
    [
      { header: 'kernel', align: 'left' },
      { header: 'problem', align: 'left' },
      { header: 'limit according to `next`', align: 'left' },
      { header: 'largest suggested gain with the same result', align: 'left' },
    ],
    limits.map(({ repository, commit, path, kernel, problem, limit, suggested }) => {
      const most = suggested
        .filter(({ move }) => move !== 'precision' && move !== 'library')
        .reduce((a, b) => (b.high > a.high ? b : a))
      return [
        `\`${kernel}\` of ${commitLink(repository, commit, path)}`,
        Object.entries(problem)
          .map(([name, value]) => `${md(name)} = ${value}`)
          .join(', '),
        md(limit),
        `\`${most.move}\`, ${formatRatio(most.low)} to ${formatRatio(most.high)}`,
      ]
    }),
  )
