/** What version 1 wrote: its files in test/captures/version-1, and its words for what is said. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { englishTemplate, type Statement } from '../src-main/domain/messages/message'
import { pieces, plain, type Wording } from '../src-main/domain/text/text'
import type { MetricValue } from '../src-main/domain/metrics/metrics'
import type { Session } from '../src-main/domain/session/session'
import { metricLabels1, templates1 } from '../src-main/domain/session/upgrade/english-1'

/** The words may change since; what is said may not. */
const wording1: Wording = {
  template: (key) => (templates1 as Partial<Record<string, string>>)[key] ?? englishTemplate(key),
  metric: (id) => metricLabels1[id] ?? id,
  text: (text) => text,
}

/** Waves that ncu rounded to 0, which version 1 showed as 0. */
const wavesOf1 = (metric: MetricValue): MetricValue =>
  metric.unit === 'waves' && metric.evidence === 'derived' && metric.value! < 0.005
    ? { value: 0, unit: 'waves', evidence: 'measured' }
    : metric

/** With the metrics that version 1 had: one that came to the registry since is none of its figures. */
export const withMetricsOf1 = (session: Session): Session => ({
  ...session,
  rungs: session.rungs.map((rung) => ({
    ...rung,
    metrics: Object.fromEntries(
      Object.entries(rung.metrics).flatMap(([id, metric]) =>
        Object.hasOwn(metricLabels1, id) ? [[id, wavesOf1(metric)]] : [],
      ),
    ),
  })),
})

export const saidIn1 = (statement: Statement): string => plain(pieces(statement, wording1))

const isStatement = (value: object): value is Exclude<Statement, string> =>
  ('key' in value && 'values' in value) || 'sentences' in value

/** A value with every statement in words, as version 1 has it. */
export function inWordsOf1(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inWordsOf1)
  if (typeof value !== 'object' || value === null) return value
  if (isStatement(value)) return saidIn1(value)
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inWordsOf1(one)]))
}

/**
 * Made by the last version before schema 2, over the tools of test/fakes: live runs in which rungs crash,
 * hang, are wrong, do not compile and lose the CUDA context, or counters are missing, a build without a GPU,
 * imports of ncu's tables, attempts at a lab, and a report in HTML. Of the imports some metrics are left out.
 */
const folder1 = join(import.meta.dirname, 'captures/version-1')

/** The text of every JSON file, by name, a row each in `cases.jsonl`. */
const cases1 = new Map(
  readFileSync(join(folder1, 'cases.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const { name, text } = JSON.parse(line) as { name: string; text: string }
      return [name, text] as const
    }),
)

export function file1(name: string): string {
  const text = cases1.get(name)
  if (text === undefined) throw new Error(`test/captures/version-1/cases.jsonl has no ${name}.`)
  return text
}

/** Writes the files of an attempt into a folder. */
export function writeAttempt1(name: string, folder: string): void {
  const from = `labs/${name}/`
  for (const [file, text] of cases1)
    if (file.startsWith(from)) {
      const target = join(folder, file.slice(from.length))
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, text)
    }
}

export const report1 = join(folder1, 'report.html')

export const sessions1 = [
  'failures',
  'no-ncu',
  'no-permission',
  'missing-counters',
  'profile-skipped',
  'static',
  'imported',
  'imported-details',
] as const

export const attempts1 = ['passed', 'hung', 'not-compiling', 'out-of-bounds', 'no-gpu'] as const
