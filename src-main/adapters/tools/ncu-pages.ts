/**
 * Prints pages from ncu's report, which contain the source counters and the advice for its
 * launches.
 */
import { distinct } from '../../domain/text/english'
import { message, type Statement } from '../../domain/messages/message'
import type { NcuLaunch } from '../../parsers/ncu/ncu-csv'
import { toDeepProfiles, type ReportProfiles } from '../../parsers/ncu/ncu-deep'
import { parseSourcePage } from '../../parsers/ncu/ncu-source'
import { sourceName } from '../disk/build-cache'
import type { ProcessResult } from './process'
import type { Toolbox } from './toolbox'
import { parseRules } from '../../parsers/ncu/ncu-advice'

const pages = {
  'ncu/source-sass': ['--page', 'source', '--print-source', 'sass'],
  'ncu/source-lines': ['--page', 'source', '--print-source', 'cuda,sass'],
  'ncu/details': ['--page', 'details', '--print-units', 'base'],
} as const

type PageKey = keyof typeof pages

interface DeepAnswer {
  byRung: ReportProfiles
  /** Reasons why pages could not be printed. */
  troubles: Statement[]
}

/**
 * Time limit for printing in milliseconds. Printing takes seconds for a few rungs and longer for
 * hundreds of launches.
 */
const printTimeoutMs = 10 * 60_000

export async function readDeepPages(
  toolbox: Toolbox,
  call: { ncu: string; reportPath: string; env: Record<string, string>; signal: AbortSignal },
  launches: readonly NcuLaunch[],
): Promise<DeepAnswer> {
  const troubles: Statement[] = []
  const print = async (key: PageKey): Promise<string> => {
    const result = await toolbox.exec({
      tool: 'ncu',
      key,
      file: call.ncu,
      args: ['--import', call.reportPath, '--csv', ...pages[key]],
      env: call.env,
      timeoutMs: printTimeoutMs,
      signal: call.signal,
    })
    if (result.outcome !== 'exited' || result.exitCode !== 0)
      troubles.push(message('imports.noPage', { page: pages[key][1], text: failureOf(result) }))
    return result.stdout
  }
  // Print pages one at a time, because each call loads the whole report into memory.
  const sass = parseSourcePage(await print('ncu/source-sass'))
  const lines = parseSourcePage(await print('ncu/source-lines'))
  const rules = parseRules(await print('ncu/details'))
  return {
    byRung: toDeepProfiles(launches, { sass, lines, rules, nameOf: sourceName }),
    troubles: distinct(troubles),
  }
}

function failureOf({ outcome, exitCode, stdout, stderr }: ProcessResult): string {
  const errorText =
    /==ERROR== ?(.*)/.exec(`${stdout}\n${stderr}`)?.[1] ?? stderr.trim().split('\n')[0]
  return errorText || (outcome === 'exited' ? `exit code ${exitCode}` : outcome)
}
