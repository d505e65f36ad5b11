import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { readLibrary, capturedCall, likeOf, recorded } from './support.mjs'

// ncu's error output when it cannot profile. The texts are from NVIDIA's documentation and user
// reports, because no machine with these errors was available.
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

// The recording that the fake replays at the deep level.
const deep = 'gemm-fp32-h200-4096-deep'

const baseName = (name) => name.split('.')[0]

/** Returns the recorded text without the columns of counters that the fake ncu does not support. */
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

/** First line of a preview's fake report. */
const tableHead = 'NVR preview\n'

export async function ncu(call) {
  const { words, env, option, options, path, say, logCall, callsOf } = call
  // `counters-busy:2` makes the first two profiling calls fail with the named error.
  const [fault = '', times = 'Infinity'] = (env.FAKE_NCU ?? '').split(':')
  const profiled = callsOf('ncu').filter((call) => !call.includes('--version')).length
  const isKilled = env.FAKE_NCU === 'killed'
  if (fault && !isKilled && !ncuFailures[fault])
    throw new Error(`FAKE_NCU names no failure: ${fault}`)

  // Base names of counters that the fake ncu does not support. If an unsupported counter is
  // requested, the fake profiles nothing.
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
    const imported = readFileSync(path(option('--import')), 'latin1')
    if (imported.startsWith(tableHead)) {
      say(readFileSync(path(option('--import')), 'utf8').slice(tableHead.length))
      return 0
    }
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
  // ncu writes its messages to the log file if one was requested.
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
  // The requested rungs, grouped by the recorded rung that they replay.
  const players = new Map()
  for (const word of options('--rung')) {
    const [rung, library] = [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]
    const like = likeOf(readLibrary(path(library))) ?? rung
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
  // Like the real ncu, do not overwrite an existing report.
  if (report) writeFileSync(path(report), 'NVR\0', { flag: 'wx' })
  return 0
}

// Functions for profiling a user's program. The fake ncu runs the program itself. The program's
// kernels are from the capture in `$FAKE_PROGRAM`.

const folder = 'ncu/2025.3.1-h200-programs'
const files = join(import.meta.dirname, '..', 'captures', folder)

/** The ncu options that take no value. All other options take a value. */
const switches = ['--nvtx', '--csv']

/** Returns the arguments after ncu's own options. */
function programOf(words) {
  let at = 0
  while (words[at]?.startsWith('-')) at += switches.includes(words[at]) ? 1 : 2
  return words.slice(at)
}

function runIt([file, ...args], { env, cwd, say, complain, signal, isProcess }) {
  return new Promise((resolve) => {
    const stdio = isProcess ? 'inherit' : 'pipe'
    const child = spawn(file, args, { stdio: ['ignore', stdio, stdio], env, cwd, signal })
    child.stdout?.setEncoding('utf8').on('data', say)
    child.stderr?.setEncoding('utf8').on('data', complain)
    child.on('error', () => resolve(null))
    child.on('close', (code, by) => resolve(by ? 1 : code))
  })
}

const notFound = (file) =>
  `==ERROR== '${file}' does not exist or is not an executable. Please make sure to specify the absolute path to '${file}' if the executable is not in the local directory.\n`

const cell = (line, at) => line.slice(1, -1).split('","')[at]

/** Returns a table row with its launch moved to another GPU. */
const onGpu = (row, gpu) =>
  row.replace(/("\([^"]*\)","\([^"]*\)",)"\d+"/, (_, extents) => `${extents}"${gpu}"`)

/** Returns the table rows that pass ncu's filters. Renumbers the rows of each process. */
function chosen(log, option, env) {
  const rows = log
    .split('\n')
    .filter((line) => /^"\d/.test(line))
    .map((row) =>
      env.FAKE_NVTX === 'none' ? row.replace(/"\d+ +""<default domain>:[^"]*"" "/, '""') : row,
    )
  const name = (row) =>
    cell(row, 6)
      .replace(/^void /, '')
      .replaceAll('<unnamed>::', '')
      .split(/[<(]/)[0]
      .split('::')
      .at(-1)
  const pattern = option('--kernel-name')?.replace(/^regex:/, '')
  const range = option('--nvtx-include')?.replace(/\/$/, '')
  const skip = Number(option('--launch-skip') ?? 0)
  const own = rows
    .filter((row) => pattern === undefined || new RegExp(pattern).test(name(row)))
    .filter((row) => range === undefined || row.includes(`<default domain>:${range}:`))
    .slice(skip, skip + Number(option('--launch-count') ?? Infinity))
  return Array.from({ length: Number(env.FAKE_PROCESSES || 1) }, () => own)
    .flat()
    .map((row, index) => onGpu(row, index % Number(env.FAKE_GPUS || 1)))
    .map((row, index) => row.replace(/^"\d+"/, `"${index}"`))
}

/**
 * Imitates a kernel that waits for a second kernel, which ncu does not start. The fake hangs until
 * its process is killed.
 */
async function hang({ env, signal }, log) {
  writeFileSync(
    log,
    `==PROF== Connected to process 565 (/tmp/peers)
==PROF== Profiling "${env.FAKE_STUCK}" - 2: 0%....50%
==WARNING== Launching the workload is taking more time than expected. If this continues to hang, terminate the profile and re-try by profiling the range of all related launches using '--replay-mode range'. See https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html#replay for more details.
`,
  )
  await new Promise((resolve) => signal?.addEventListener('abort', resolve))
  return 1
}

async function ncuProgram(call) {
  const { words, env, path, say, logCall } = call
  logCall('ncu')
  const command = programOf(words)
  // Exclude the arguments of the profiled program, because its options may have the same names as
  // ncu's options.
  const own = words.slice(0, words.length - command.length)
  const option = (name) => (own.includes(name) ? own[own.indexOf(name) + 1] : undefined)
  if (env.FAKE_STUCK) return hang(call, path(option('--log-file')))
  const exit = await runIt(command, call)
  if (exit === null) {
    say(notFound(command[0]))
    return 1
  }
  const failed = exit === 0 ? '' : `==ERROR== The application returned an error code (${exit}).\n`
  const log = path(option('--log-file'))
  // Under the profiler, the program may launch no kernels, or kernels that differ from the preview.
  const [first, second = first] = (env.FAKE_PROGRAM ?? '').split(',')
  const isPreview = option('--metrics') === 'gpu__time_duration.sum'
  const report = path(option('--export'))
  const name = isPreview ? first : second
  if (name === '' || name === 'none') {
    writeFileSync(log, `==WARNING== No kernels were profiled.\n${failed}`)
    return exit
  }
  const captured = capturedCall(folder, `preview-${name}`).log
  const rows = chosen(captured, option, env)
  const head = captured.split('\n').filter((line) => line.startsWith('"ID'))
  const said = captured.split('\n').filter((line) => line.startsWith('=='))
  const none = rows.length === 0
  writeFileSync(
    log,
    `${said.join('\n')}\n${none ? '==WARNING== No kernels were profiled.\n' : ''}${failed}`,
  )
  // The report of a preview is only printed, so the fake report contains the table itself.
  if (!none)
    writeFileSync(
      report,
      isPreview
        ? `${tableHead}${[...head, ...rows].join('\n')}\n`
        : brotliDecompressSync(readFileSync(join(files, `deep-${name}.ncu-rep.br`))),
      { flag: 'wx' },
    )
  return exit
}
