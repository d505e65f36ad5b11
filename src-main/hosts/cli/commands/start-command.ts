/**
 * `kernel-ladder` without a command: prints ten lines that list the installed tools and suggest
 * next steps.
 */
import type { SetUp } from '../../../adapters/machine/machine'
import { printText } from '../output'
import { defaultLadder, defaultRecordingRef } from '../../../services/sessions/open-session'
import { listRecordings } from '../../../services/sessions/recordings'
import { appVersion } from '../../../services/version'
import { queryDriver } from '../../../services/bench/tools'
import { recordingOf } from '../../../domain/session/session-ref'
import { listAll } from '../../../services/sessions/list-sessions'

const lastSessions = 3

export async function startCommand(setUp: SetUp): Promise<number> {
  const setup = await setUp()
  const [gpus, recordings, all, recorded] = await Promise.all([
    queryDriver(setup.machine.toolbox(null)).then(
      (driver) => driver.gpus,
      () => [],
    ),
    listRecordings(setup.assets.recordingsDir),
    listAll(setup),
    defaultRecordingRef(setup).catch(() => null),
  ])
  const own = all.filter(({ ref }) => recordingOf(ref) === null).slice(0, lastSessions)
  const gpu = gpus.map(({ name }) => name).join(', ')
  const ladders = new Set(recordings.map(({ summary }) => summary.ladder.id)).size
  const next: readonly (readonly [string, string])[] = [
    ['serve', 'opens the UI'],
    [
      `show ${own[0]?.ref ?? recorded ?? 'SESSION'}`,
      'prints a session and why each rung is faster',
    ],
    gpu === ''
      ? [`run --ladder ${defaultLadder} --target emulated`, 'counts without a GPU']
      : [`run --ladder ${defaultLadder}`, 'builds, verifies, times and profiles a ladder'],
    ['init my-ladder --template softmax', 'creates your own ladder'],
    ['help', 'lists every command'],
  ]
  const width = Math.max(...next.map(([command]) => command.length))
  printText(
    [
      `Kernel Ladder ${appVersion}: optimizes a CUDA kernel step by step, and shows the effect of each change.`,
      `GPU: ${gpu === '' ? 'none found; recordings, builds, and emulation work without (`kernel-ladder doctor`)' : gpu}`,
      `Recordings: ${recordings.length} of ${ladders} ladders${recorded === null ? '' : `, such as ${recorded}`}`,
      `Last sessions: ${own.length === 0 ? 'none yet' : own.map(({ ref }) => ref).join(', ')}`,
      'Next:',
      ...next.map(([command, does]) => `  kernel-ladder ${command.padEnd(width)}  ${does}`),
    ].join('\n'),
  )
  return 0
}
