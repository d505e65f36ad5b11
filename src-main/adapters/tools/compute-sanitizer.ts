/** Runs one compute-sanitizer tool on one program and reads its findings. */
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
  /** The program and its arguments. */
  command: readonly string[]
  /** Total time limit, after which the whole process tree is killed. */
  timeoutMs: number
  signal: AbortSignal
  /** The runner's events arrive on compute-sanitizer's stdout. */
  onEvent: (event: RunnerEvent) => void
}

export interface SanitizerAnswer {
  result: ProcessResult
  /** null if the tool wrote no file. */
  xml: SanitizerXml | null
  /** null if the tool ended before its summary. */
  summary: SanitizerSummary | null
  /** The tool's last message, used if there is no verdict. */
  lastWord: string | null
}

/**
 * Limit of reports: every thread of a kernel can err. A thousand reports show where, and the summary counts the rest.
 */
const printLimit = 1000

/** Larger than printLimit records need. */
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
