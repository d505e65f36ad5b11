/** Runs one compute-sanitizer tool on a program and parses its findings. */
import type { SanitizerTool } from '../../domain/session/sanitizer'
import {
  lastSanitizerWord,
  parseSanitizerSummary,
  parseSanitizerXml,
  type SanitizerSummary,
  type SanitizerXml,
} from '../../parsers/cuda/compute-sanitizer'
import type { ProcessResult } from './process'
import { eventLines, type RunnerEvent } from './runner'
import type { Toolbox } from './toolbox'

interface SanitizerCall {
  sanitizer: string
  tool: SanitizerTool
  /** The program to check, and its arguments. */
  command: readonly string[]
  /** Time limit in milliseconds, after which the whole process tree is killed. */
  timeoutMs: number
  signal: AbortSignal
  /** Receives the runner's events, which arrive on compute-sanitizer's stdout. */
  onEvent: (event: RunnerEvent) => void
}

export interface SanitizerAnswer {
  result: ProcessResult
  /** Parsed XML report, or null if compute-sanitizer wrote no file. */
  xml: SanitizerXml | null
  /** Parsed summary, or null if compute-sanitizer exited without printing one. */
  summary: SanitizerSummary | null
  /** compute-sanitizer's last message, which is shown if there is no verdict. */
  lastWord: string | null
}

/**
 * Maximum number of reports. Every thread of a kernel can cause a report. A thousand reports are
 * enough to show the locations, and the summary counts the rest.
 */
const printLimit = 1000

/** Maximum size of the XML report in bytes, which is more than printLimit records need. */
const xmlLimitBytes = 64 * 1024 * 1024
const xmlName = 'report.xml'

/** Matches `2025.3.1.0` in `Version 2025.3.1.0 (build …)`. */
export const sanitizerVersionPattern = /Version\s+([\d.]+)/

export async function sanitizerVersion(
  toolbox: Toolbox,
  sanitizer: string,
  signal: AbortSignal,
): Promise<string | null> {
  const { stdout } = await toolbox.exec({
    tool: 'compute-sanitizer',
    key: 'compute-sanitizer/version',
    file: sanitizer,
    args: ['--version'],
    timeoutMs: 60_000,
    signal,
  })
  return sanitizerVersionPattern.exec(stdout)?.[1] ?? null
}

export async function runSanitizer(
  toolbox: Toolbox,
  call: SanitizerCall,
): Promise<SanitizerAnswer> {
  const scratch = await toolbox.scratch()
  try {
    const result = await toolbox.exec({
      tool: 'compute-sanitizer',
      key: `compute-sanitizer/${call.tool}`,
      file: call.sanitizer,
      args: [
        ...['--tool', call.tool, '--xml', '--save', `${scratch.path}/${xmlName}`],
        ...['--print-limit', String(printLimit), '--show-backtrace', 'no'],
        ...call.command,
      ],
      timeoutMs: call.timeoutMs,
      signal: call.signal,
      onStdoutLine: eventLines(call.onEvent),
    })
    const xml = await scratch.read(xmlName, xmlLimitBytes)
    return {
      result,
      xml: xml === null ? null : parseSanitizerXml(xml),
      summary: parseSanitizerSummary(result.stdout),
      lastWord: lastSanitizerWord(result.stdout),
    }
  } finally {
    await scratch.remove()
  }
}
