/**
 * Runs the fake tools as function calls in the test's process, for tests that are not about
 * processes. Arguments, environment, streams, and results are the same as with `runProcess`.
 */
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename } from 'node:path'
import {
  runProcess,
  type ProcessCall,
  type ProcessOutcome,
  type ProcessResult,
} from '../../src-main/adapters/tools/process'
import { calibrate } from './calibrate.mjs'
import { computeSanitizer } from './compute-sanitizer.mjs'
import { launches } from './launches.mjs'
import { ncu } from './ncu.mjs'
import { nvcc } from './nvcc.mjs'
import { nvidiaSmi } from './nvidia-smi.mjs'
import { answers, Died, fakeCall, keepAnswer } from './program.mjs'
import { runner } from './runner.mjs'

type Fake = (call: ReturnType<typeof fakeCall>) => Promise<number>

/** The fakes by file name. A test may place the fake tools' files in any folder. */
const fakes: Record<string, Fake> = {
  nvcc,
  ncu,
  'nvidia-smi': nvidiaSmi,
  'compute-sanitizer': computeSanitizer,
  'kl-runner': runner,
  'kl-launches': launches,
  'kl-calibrate': calibrate,
}

/**
 * Stores all answers in advance, because a fake in a sandbox can read stored answers but cannot
 * store new ones.
 */
export async function keepAllAnswers(): Promise<void> {
  const env = { FAKE_ANSWERS: process.env['FAKE_ANSWERS'], FAKE_BUS: '00000000:00' }
  for (const [name, { words }] of Object.entries(answers)) {
    let said = ''
    const logged: string[] = []
    const call = fakeCall({
      ...{ words, env, cwd: tmpdir(), isProcess: false },
      say: (text: string) => (said += text),
      complain: () => undefined,
      forever: () => new Promise<never>(() => undefined),
      note: (line: string) => logged.push(line),
    })
    await fakes[name]!(call)
    keepAnswer(name, { words, env, said, logged })
  }
}

/**
 * Returns whether a file is a fake. Each fake refers to the `test/fakes` folder by path or through
 * a variable.
 */
function leadsHere(file: string): boolean {
  try {
    const start = readFileSync(file, 'latin1').slice(0, 1000)
    return start.includes(import.meta.dirname) || /asProgram/.test(start)
  } catch {
    return false
  }
}

/**
 * Runs a fake in this process. Other programs run as usual, even if they have the name of a fake.
 */
export function runFake(call: ProcessCall): Promise<ProcessResult> {
  const fake = fakes[basename(call.file)]
  return fake && leadsHere(call.file) ? inProcess(fake, call) : runProcess(call)
}

async function inProcess(fake: Fake, call: ProcessCall): Promise<ProcessResult> {
  const started = performance.now()
  const said = { stdout: '', stderr: '' }
  let ended: Partial<ProcessResult> | null = null
  const over = new AbortController()
  let finish: (how: Partial<ProcessResult>) => void = () => undefined
  const end = new Promise<void>((resolve) => {
    finish = (how) => {
      ended ??= how
      over.abort()
      resolve()
    }
  })
  const endBy = (outcome: ProcessOutcome) => (): void => {
    finish({ outcome })
  }

  let idle: NodeJS.Timeout | undefined
  const touch = (): void => {
    clearTimeout(idle)
    if (call.idleMs !== undefined) idle = setTimeout(endBy('idle'), call.idleMs)
  }
  const deadline =
    call.timeoutMs === undefined ? undefined : setTimeout(endBy('timeout'), call.timeoutMs)
  const onAbort = endBy('cancelled')
  call.signal?.addEventListener('abort', onAbort)

  let line = ''
  const say =
    (stream: keyof typeof said) =>
    (text: string): void => {
      // Ignore output after the process was killed.
      if (ended) return
      touch()
      if (call.passOn) {
        void call.passOn.to(stream, text)
        if (said[stream].length < call.passOn.keep) said[stream] += text
        return
      }
      said[stream] += text
      if (stream === 'stderr' || !call.onStdoutLine) return
      const lines = `${line}${text}`.split('\n')
      line = lines.pop() ?? ''
      for (const whole of lines) call.onStdoutLine(whole)
    }

  touch()
  if (call.signal?.aborted) onAbort()
  else
    fake(
      fakeCall({
        words: call.args,
        env: call.ownEnv ? { ...call.env } : { ...process.env, ...call.env },
        cwd: call.cwd ?? process.cwd(),
        isProcess: false,
        say: say('stdout'),
        complain: say('stderr'),
        forever: () => new Promise<never>(() => undefined),
        signal: over.signal,
      }),
    ).then(
      (exitCode) => {
        if (line !== '' && !ended) call.onStdoutLine?.(line)
        finish({ outcome: 'exited', exitCode })
      },
      (error: unknown) => {
        if (error instanceof Died) finish({ outcome: 'signalled', signal: error.signal })
        // Report the exit as a Node program does.
        else {
          say('stderr')(error instanceof Error ? (error.stack ?? error.message) : String(error))
          finish({ outcome: 'exited', exitCode: 1 })
        }
      },
    )
  await end
  clearTimeout(idle)
  clearTimeout(deadline)
  call.signal?.removeEventListener('abort', onAbort)
  return {
    outcome: 'exited',
    exitCode: null,
    signal: null,
    ...said,
    ...(ended as Partial<ProcessResult> | null),
    seconds: (performance.now() - started) / 1000,
  }
}
