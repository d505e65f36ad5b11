/**
 * Provides tools that replay a recording. Each call returns the recorded output of the real tool.
 */
import type { ProcessResult } from './process'
import type { Toolbox } from './toolbox'
import { openRaw, type RawOutputs } from './raw-files'

export function recordedToolbox(folder: string): Toolbox {
  let outputs: Promise<RawOutputs> | undefined
  return {
    replays: true,
    recorder: null,
    ownerPid: null,
    locate: (tool) => Promise.resolve(tool),
    async exec(call): Promise<ProcessResult> {
      if (call.signal?.aborted) return { ...absent, outcome: 'cancelled', stderr: '' }
      const raw = await (await (outputs ??= openRaw(folder))).get(call.key)
      if (!raw) return { ...absent, stderr: `The recording contains no output of ${call.key}.` }
      for (const line of raw.stdout.split('\n')) if (line !== '') call.onStdoutLine?.(line)
      return {
        outcome: raw.call.outcome,
        exitCode: raw.call.exitCode,
        signal: raw.call.signal,
        stdout: raw.stdout,
        stderr: raw.stderr,
        seconds: raw.call.seconds,
        reused: raw.call.reused ?? false,
        argv: raw.call.argv,
      }
    },
    scratch: () =>
      Promise.resolve({
        path: '',
        read: () => Promise.resolve(null),
        readLog: () => Promise.resolve({ text: '', whole: true }),
        remove: () => Promise.resolve(),
      }),
    readBuilt: () => Promise.resolve(null),
    claimGpu: () => Promise.resolve({ state: 'held', lock: { release: () => undefined } }),
    output: (keptAt) => Promise.resolve({ path: keptAt, take: () => Promise.resolve() }),
  }
}

const absent: ProcessResult = {
  outcome: 'not-found',
  exitCode: null,
  signal: null,
  stdout: '',
  stderr: '',
  seconds: 0,
}
