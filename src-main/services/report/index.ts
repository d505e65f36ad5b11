/** From opened sessions to the text of a report. Pure but for the names of this machine, which it takes out. */
import { homedir, hostname, tmpdir, userInfo } from 'node:os'
import { inputError } from '../../domain/errors'
import type { OpenedSession } from '../sessions'
import { buildComparison, regressions } from './comparison'
import {
  ciMarkdown,
  comparisonCsv,
  comparisonJson,
  comparisonMarkdown,
  comparisonTex,
} from './comparison-print'
import { printLongCsv, printWideCsv } from './csv'
import { printMarkdown } from './markdown'
import { buildReport, type ReportInput } from './model'
import { scrubber, type Privates } from './scrub'
import { printTex } from './tex'
import { visibleJson } from './text'

export const reportFormats = ['md', 'csv', 'json', 'tex'] as const
export type ReportFormat = (typeof reportFormats)[number]

/** Named in the plan and not made yet. */
const laterFormats = ['html', 'pdf']

export function parseFormat(word: string): ReportFormat {
  const format = reportFormats.find((known) => known === word)
  if (format) return format
  const what = laterFormats.includes(word) ? 'is not offered yet' : 'is not a format'
  throw inputError(
    `--format ${JSON.stringify(word)} ${what}.`,
    `Formats: ${reportFormats.join(', ')}.`,
  )
}

/** What names this machine and its user; a session may have been made here. */
export function machinePrivates(): Privates {
  const name = hostname()
  const [short = ''] = name.split('.')
  let user = ''
  try {
    user = userInfo().username
  } catch {
    // A container may run under a number that no user has.
  }
  return { folders: [homedir(), tmpdir()], words: [name, short, user] }
}

export interface ReportOptions {
  format: ReportFormat
  /** CSV with a line a rung in place of a line a figure. */
  wide?: boolean
  /** A day to print; a report has none of itself, so that the same session gives the same bytes. */
  date?: string
}

const input = (
  { session, sources }: Pick<OpenedSession, 'session' | 'sources'>,
  privates: Privates,
  date?: string,
): ReportInput => ({ session, sources, scrub: scrubber(privates), date: date ?? null })

type Opened = Pick<OpenedSession, 'session' | 'sources'>

export function report(
  opened: Opened,
  { format, wide, date }: ReportOptions,
  privates = machinePrivates(),
): string {
  const model = buildReport(input(opened, privates, date))
  switch (format) {
    case 'md':
      return printMarkdown(model)
    case 'csv':
      return wide ? printWideCsv(model) : printLongCsv(model)
    case 'json':
      return visibleJson(model.session)
    case 'tex':
      return printTex(model)
  }
}

export function reportComparison(
  before: Opened,
  after: Opened,
  { format, date }: Omit<ReportOptions, 'wide'>,
  privates = machinePrivates(),
): string {
  const model = buildComparison(input(before, privates, date), input(after, privates, date))
  switch (format) {
    case 'md':
      return comparisonMarkdown(model)
    case 'csv':
      return comparisonCsv(model)
    case 'json':
      return comparisonJson(model)
    case 'tex':
      return comparisonTex(model)
  }
}

/** A summary for continuous integration, and whether the check passes. */
export function reportCi(
  baseline: Opened,
  now: Opened,
  thresholdPercent: number,
  privates = machinePrivates(),
): { text: string; passed: boolean } {
  const model = buildComparison(input(baseline, privates), input(now, privates))
  const found = regressions(model, thresholdPercent)
  return {
    text: ciMarkdown(model, found, thresholdPercent),
    passed: found.slower.length + found.broken.length === 0,
  }
}
