import { readFileSync, writeFileSync } from 'node:fs'
import { ncuProgram } from './ncu-program.mjs'
import { likeOf, recorded } from './support.mjs'

// What ncu says when it cannot profile. No machine that does was at hand: the texts are ncu's as NVIDIA
// documents them and users quote them.
export const ncuFailures = {
  'counter-permission': {
    text: '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0. For instructions on enabling permissions and to get more information see https://developer.nvidia.com/ERR_NVGPUCTRPERM',
    exitCode: 1,
  },
  'counters-busy': {
    text: '==ERROR== Profiling failed because a driver resource was unavailable. Ensure that no other tool (like DCGM) is concurrently collecting profiling data. See https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html#faq for more details.',
    exitCode: 9,
  },
  'driver-library': {
    text: '==ERROR== Failed to initialize the profiler: LibraryNotLoaded. Check that a compatible driver library is loaded.',
    exitCode: 1,
  },
  'driver-incompatible': {
    text: '==ERROR== Cuda driver is not compatible with Nsight Compute.',
    exitCode: 1,
  },
  'application-failed': {
    text: '==ERROR== The application returned an error code (9).',
    exitCode: 9,
  },
  'unknown-metric': {
    text: '==ERROR== Failed to find metric regex:^sm__nope\\.(sum|min)$',
    exitCode: 1,
  },
  'lock-file': {
    text: '==ERROR== Failed to open/create lock file /tmp/nsight-compute-lock. Please check that the process has write permissions on the file.',
    exitCode: 1,
  },
  'no-kernels': {
    text: '==WARNING== No kernels were profiled.',
    exitCode: 0,
  },
}

// The deep level replays the recording that was made at it.
const deep = 'gemm-fp32-h200-4096-deep'

const baseName = (name) => name.split('.')[0]

/** The recorded text without the columns of counters that are unknown. */
function withoutColumns(text, unknown) {
  const lines = text.split('\n')
  const header =
    lines
      .find((line) => line.startsWith('"'))
      ?.slice(1, -1)
      .split('","') ?? []
  const kept = (_cell, at) => !unknown.includes(baseName(header[at] ?? ''))
  return lines
    .map((line) =>
      line.startsWith('"') ? `"${line.slice(1, -1).split('","').filter(kept).join('","')}"` : line,
    )
    .join('\n')
}

export async function ncu(call) {
  const { words, env, option, options, path, say, logCall, callsOf } = call
  // `counters-busy:2` fails so the first two times that it is asked to profile.
  const [fault = '', times = 'Infinity'] = (env.FAKE_NCU ?? '').split(':')
  const profiled = callsOf('ncu').filter((call) => !call.includes('--version')).length
  const isKilled = env.FAKE_NCU === 'killed'
  if (fault && !isKilled && !ncuFailures[fault])
    throw new Error(`FAKE_NCU names no failure: ${fault}`)

  // An ncu that does not know these counters, by base name: asked for one, it profiles nothing.
  const unknown = (env.FAKE_NCU_UNKNOWN ?? '').split(',').filter(Boolean)
  const refused = (option('--metrics') ?? '')
    .split(',')
    .find((name) => unknown.includes(baseName(name)))

  if (words[0] === '--log-file' && !fault && !refused) return ncuProgram(call)
  logCall('ncu')
  if (words.includes('--version')) {
    say(recorded('ncu/version'))
    return 0
  }
  if (options('--import').length > 0) {
    readFileSync(path(option('--import')))
    const page =
      option('--page') === 'details'
        ? 'details'
        : option('--print-source') === 'sass'
          ? 'source-sass'
          : 'source-lines'
    say(recorded(`ncu/${page}`, 'stdout', deep))
    return 0
  }
  const report = option('--export')
  // ncu's own words go where it was told to write them.
  const told = option('--log-file')
  const speak = told ? (text) => writeFileSync(path(told), text) : say
  if (isKilled) {
    if (report) writeFileSync(path(report), 'cut', { flag: 'wx' })
    call.die('SIGKILL')
  }
  if (ncuFailures[fault] && profiled < Number(times)) {
    const { text, exitCode } = ncuFailures[fault]
    speak(`==PROF== Connected to process 1 (./kl-runner)\n${text}\n`)
    if (report) writeFileSync(path(report), 'cut', { flag: 'wx' })
    return exitCode
  }
  if (refused) {
    const { text, exitCode } = ncuFailures['unknown-metric']
    const [base, ...suffix] = refused.split('.')
    const pattern = suffix.length > 0 ? `${base}\\.(${suffix.join('\\.')})` : base
    speak(
      `==PROF== Connected to process 1 (./kl-runner)\n${text.replace(/\^.*\$/, () => `^${pattern}$`)}\n`,
    )
    return exitCode
  }
  if (words.at(-1) === 'probe') {
    const isRow = (line) => line.startsWith('"')
    const [header, units, first] = recorded('ncu/profile').split('\n').filter(isRow)
    say(`${[header, units, first].join('\n')}\n`)
    return 0
  }
  // By the recorded rung whose part they play, the rungs that are asked for.
  const players = new Map()
  for (const word of options('--rung')) {
    const [rung, library] = [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]
    const like = likeOf(readFileSync(path(library), 'utf8')) ?? rung
    players.set(like, [...(players.get(like) ?? []), rung])
  }
  const recordedRung = (line) =>
    /<default domain>:([^:]+):/.exec(line)?.[1] ?? /^\{.*"rung":"([^"]+)"/.exec(line)?.[1]
  const text =
    option('--set') === 'full' ? recorded('ncu/profile', 'stdout', deep) : recorded('ncu/profile')
  for (const line of withoutColumns(text, unknown).split('\n')) {
    const rung = recordedRung(line)
    if (rung === undefined) say(`${line}\n`)
    else for (const player of players.get(rung) ?? []) say(`${line.replaceAll(rung, player)}\n`)
  }
  // As the real one: it does not write over a report that is there.
  if (report) writeFileSync(path(report), 'NVR\0', { flag: 'wx' })
  return 0
}
