/** `kernel-ladder sanitize`: runs compute-sanitizer on a ladder's rungs. */
import type { SetUp } from '../../../adapters/machine/machine'
import { inEnglish } from '../../../domain/text/english'
import { exitCodes, inputError } from '../../../domain/errors'
import { problemWord } from '../../../domain/task/problem'
import {
  placeLabel,
  SanitizerTool,
  sanitizerTools,
  type SanitizeReport,
  type SanitizerCheck,
  type SanitizerFinding,
} from '../../../domain/session/sanitizer'
import { sanitizeLive } from '../../../services/sanitize/sanitize-job'
import { parseChoice, parseParams, type ProblemOptions } from '../parse-run-request'
import { ladderCommandThere, machineOf } from '../elsewhere'
import { sanitizeDocument } from '../documents/sanitize'
import { note, printJson, printText } from '../output'
import { table } from '../table'
import { abortOnStop } from '../stop-signals'
import { SanitizeRequest } from '../../../contract/sanitize'
import type { NamedOption } from '../task-options'
import { gpuNumber, wholeNumber, words } from '../option-values'
import { askTrust } from '../ask'

export interface SanitizeCommandOptions extends ProblemOptions {
  ladder: string
  rungs?: string
  tool?: string
  param?: string[]
  timeout?: string
  gpu?: string
  target?: string
  wait: boolean
  /** Whether to trust the ladder folder. */
  trust?: boolean
  json?: boolean
}

function parseTools(word: string): SanitizerTool[] {
  const wanted = words(word)
  const unknown = wanted.find((name) => !SanitizerTool.safeParse(name).success)
  if (unknown !== undefined || wanted.length === 0)
    throw inputError(
      `--tool ${JSON.stringify(unknown ?? word)} is not a compute-sanitizer tool.`,
      `Tools: ${sanitizerTools.join(', ')}.`,
    )
  return sanitizerTools.filter((tool) => wanted.includes(tool))
}

function parseSanitizeRequest(
  options: SanitizeCommandOptions,
  named: readonly NamedOption[],
): SanitizeRequest {
  const rungs = options.rungs === undefined ? undefined : words(options.rungs)
  const parsed = SanitizeRequest.safeParse({
    ladder: options.ladder,
    ...(rungs ? { rungs } : {}),
    ...(options.tool === undefined ? {} : { tools: parseTools(options.tool) }),
    ...parseChoice(options, named),
    params: parseParams(options.param ?? []),
    ...(options.target === undefined ? {} : { target: options.target }),
  })
  if (parsed.success) return parsed.data
  if (parsed.error.issues.some(({ path }) => path[0] === 'target'))
    throw inputError(
      `--target ${JSON.stringify(options.target)} does not support memory and race checks.`,
      'They run on local or a machine, with compute-sanitizer, or on emulated or emulated:<gpu>, without a GPU.',
    )
  throw inputError(
    rungs
      ? `--rungs ${JSON.stringify(options.rungs)} or --ladder ${JSON.stringify(options.ladder)} does not exist.`
      : `There is no ladder named ${JSON.stringify(options.ladder)}.`,
    'See `kernel-ladder ladders`.',
  )
}

export async function sanitizeCommand(
  setUp: SetUp,
  options: SanitizeCommandOptions,
  named: readonly NamedOption[],
  given: readonly string[],
): Promise<number> {
  const elsewhere = machineOf(options.target)
  const request = parseSanitizeRequest(
    elsewhere === null ? options : { ...options, target: 'local' },
    named,
  )
  const setup = await setUp()
  if (elsewhere !== null) {
    const signal = abortOnStop('stopping there; finished checks are printed.')
    const ended = await ladderCommandThere(setup, elsewhere, given, options, signal)
    process.stdout.write(ended.stdout)
    return ended.code
  }
  let lastText = ''
  await askTrust(setup, request.ladder, options)
  const report = await sanitizeLive(setup, request, {
    signal: abortOnStop('stopping; finished checks are printed.'),
    waitForGpu: options.wait,
    ...(options.gpu === undefined ? {} : { gpu: gpuNumber(options.gpu) }),
    ...(options.timeout === undefined
      ? {}
      : { secondsARung: wholeNumber(options.timeout, '--timeout', 86_400) }),
    onProgress: ({ stage, tool, rung, done, total, notice }) => {
      const line =
        notice !== undefined
          ? `warning: ${inEnglish(notice)}`
          : stage === 'prepare'
            ? 'Checking the machine…'
            : stage === 'build'
              ? `  build ${done}/${total} ${rung ?? ''}`
              : rung === null
                ? ''
                : `  ${tool ?? ''} ${done}/${total} ${rung}`
      if (line !== '' && line !== lastText) note(line)
      lastText = line
    },
  })
  if (options.json) printJson(sanitizeDocument, report)
  else printText(describeReport(report))
  return exitCodeOf(report)
}

function exitCodeOf({ completion, rungs }: SanitizeReport): number {
  const bad = rungs.some(({ checks }) =>
    checks.some(({ status }) => ['found', 'failed', 'not-run'].includes(status)),
  )
  return bad || completion === 'cancelled' ? exitCodes.failed : 0
}

function verdictWord({ status, total, findings }: SanitizerCheck): string {
  if (status !== 'found') return status
  return String(total ?? findings.reduce((sum, { count }) => sum + count, 0))
}

const triple = (values: readonly number[] | null): string =>
  values ? `(${values.join(',')})` : 'unknown'

function describeFinding(finding: SanitizerFinding): string[] {
  const { count, severity, message, place, conflict, thread, block, address, excerpt } = finding
  const times = count === 1 ? '' : ` ×${count}`
  const access = conflict
    ? `${conflict.first} here, ${conflict.second} at ${placeLabel(conflict.place) || 'an unknown location'}`
    : null
  const example = thread
    ? `first: thread ${triple(thread)}, block ${triple(block)}${address ? `, address ${address}` : ''}`
    : null
  return [
    `    ${placeLabel(place) || '(unknown location)'}: ${severity}: ${message}${times}`,
    ...[access, example].flatMap((line) => (line === null ? [] : [`      ${line}`])),
    ...(excerpt?.lines ?? []).map((line, index) => {
      const number = excerpt!.from + index
      return `      ${number === place.line ? '>' : ' '} ${String(number).padStart(4)} ${line}`
    }),
  ]
}

function describeReport(report: SanitizeReport): string {
  const { rungs, problem, device, sanitizer } = report
  const tools = rungs[0]?.checks.map(({ tool }) => tool) ?? []
  const details = rungs.flatMap(({ id, checks }) =>
    checks.flatMap((check) =>
      check.status === 'clean'
        ? []
        : [
            `  ${id} ${check.tool}: ${check.status}${check.reason ? `. ${inEnglish(check.reason)}` : ''}`,
            ...check.findings.flatMap(describeFinding),
            ...(check.notPrinted > 0
              ? [`    and ${check.notPrinted} more that compute-sanitizer did not print`]
              : []),
          ],
    ),
  )
  const printed = rungs.flatMap((rung) => rung.printed ?? []).map((one) => `  ${inEnglish(one)}`)
  return [
    `${report.ladder} at ${problemWord(problem)} · ${device.name}, cc ${device.computeCapability} · ${report.emulated ? 'emulated' : `compute-sanitizer ${sanitizer ?? '(version unknown)'}`}, one launch per rung`,
    table(rungs, [
      { header: 'rung', align: 'left', cell: ({ id }) => id },
      ...tools.map((tool, index) => ({
        header: tool,
        cell: ({ checks }: (typeof rungs)[number]) =>
          checks[index] ? verdictWord(checks[index]) : '',
      })),
    ]),
    ...details,
    ...(printed.length > 0 ? ['printed:', ...printed] : []),
  ].join('\n')
}
