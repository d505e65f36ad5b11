/**
 * Measures a submission without exposing the expected results. Kernels can read all memory of their
 * process, so each measurement uses three processes.
 *
 * The first process measures the trusted rungs. The second process times the submission, with
 * inputs that change before each launch. The third process checks the timed launches' results. The
 * events of all processes are combined into a single measurement.
 */
import { mkdir } from 'node:fs/promises'
import { parseRunnerLine } from '../../parsers/cuda/runner-events'
import { runProcess, type ProcessResult } from '../tools/process'
import type { ToolCall } from '../tools/toolbox'

/** Options that take no value. */
const flags = new Set(['--ceilings', '--warm'])
const besides = ['--reference', '--ceilings', '--bursts', '--sustained']
const timing = ['--warm', '--max-seconds', '--max-samples', '--min-samples']

const isOfRung = (option: string): boolean => option === '--rung' || option === '--rung-case'

/** Returns the options whose names `wanted` accepts, including their values. */
function chosen(
  words: readonly string[],
  wanted: (option: string, value: string) => boolean,
): string[] {
  const found: string[] = []
  for (let at = 0; at < words.length; at += flags.has(words[at]!) ? 1 : 2)
    if (wanted(words[at]!, words[at + 1] ?? ''))
      found.push(...words.slice(at, at + (flags.has(words[at]!) ? 1 : 2)))
  return found
}

interface BlindCalls {
  /** Arguments for measuring the trusted rungs, or null if only the submission is measured. */
  others: string[] | null
  blind: string[]
  check: string[]
}

/** Returns the arguments for the three processes. Each list begins with the runner's command. */
export function blindCalls(
  [, ...words]: readonly string[],
  submission: string,
  results: string,
): BlindCalls {
  const trusted = words.filter((_, at) => words[at - 1] === '--reference-rung')
  const idOf = (value: string): string => value.slice(0, value.indexOf('='))
  const ofOthers = chosen(words, (option, value) => !isOfRung(option) || idOf(value) !== submission)
  return {
    others: ofOthers.includes('--rung') ? ['measure', ...ofOthers] : null,
    blind: [
      ...['blind', '--results', results],
      ...chosen(
        words,
        (option, value) =>
          !besides.includes(option) && (!isOfRung(option) || idOf(value) === submission),
      ),
    ],
    check: [
      ...['check', '--results', results],
      ...chosen(
        words,
        (option, value) =>
          ![...besides, ...timing].includes(option) &&
          (!isOfRung(option) || [submission, ...trusted].includes(idOf(value))),
      ),
    ],
  }
}

type Run = (call: ToolCall) => Promise<ProcessResult>

/** Runs a measurement. `results` is the path of a folder that does not exist yet. */
export async function measureBlind(
  call: ToolCall,
  submission: string,
  results: string,
  run: Run = runProcess,
): Promise<ProcessResult> {
  await mkdir(results, { recursive: true })
  const reference = call.args[call.args.indexOf('--reference') + 1]
  const calls = blindCalls(call.args, submission, results)
  const printed: string[] = []
  const say = (line: string): void => {
    printed.push(line)
    call.onStdoutLine?.(line)
  }
  const part = (args: readonly string[], onStdoutLine: (line: string) => void) =>
    run({ ...call, args, onStdoutLine })
  const ended = (result: ProcessResult): ProcessResult => ({
    ...result,
    stdout: printed.map((line) => `${line}\n`).join(''),
  })
  const finished = ({ outcome, exitCode }: ProcessResult): boolean =>
    outcome === 'exited' && exitCode === 0

  let referenceMedianMs: number | null = null
  if (calls.others) {
    let done = ''
    const result = await part(calls.others, (line) => {
      const event = parseRunnerLine(line)
      if (event?.event === 'timing' && event.rung === reference) referenceMedianMs = event.medianMs
      if (event?.event === 'done') done = line
      else say(line)
    })
    if (!finished(result)) {
      if (done) say(done)
      return ended(result)
    }
  }

  // Output lines since the timing started, which are held back until the results have been checked.
  const pendingLines: string[] = []
  let given = false
  const timed = await part(calls.blind, (line) => {
    const event = parseRunnerLine(line)
    if (event?.event === 'failed' || event?.event === 'unsupported') given = true
    if (event?.event === 'device' && calls.others) return
    if (event?.event === 'done' || event?.event === 'progress') return
    if (pendingLines.length > 0 || (event?.event === 'start' && event.stage === 'time'))
      pendingLines.push(line)
    else say(line)
  })
  if (!finished(timed) || given) {
    for (const line of pendingLines) if (parseRunnerLine(line)?.event !== 'timing') say(line)
    if (finished(timed)) say('{"event":"done"}')
    return ended(timed)
  }

  let passed = false
  const checked = await part(calls.check, (line) => {
    const event = parseRunnerLine(line)
    if (!event || event.event === 'device' || event.event === 'done') return
    if ('rung' in event && event.rung !== null && event.rung !== submission) return
    if (event.event === 'verify') passed = event.passed
    say(line)
  })
  if (!finished(checked)) return ended(checked)
  if (passed)
    for (const line of pendingLines)
      say(
        parseRunnerLine(line)?.event === 'timing'
          ? JSON.stringify({ ...(JSON.parse(line) as object), referenceMedianMs })
          : line,
      )
  say('{"event":"done"}')
  return ended(checked)
}
