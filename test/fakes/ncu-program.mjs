// ncu over a program of the user's own: runs the program itself, and has its kernels from a capture, `$FAKE_PROGRAM`.
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { capturedCall } from './support.mjs'

const folder = 'ncu/2025.3.1-h200-programs'
const files = join(import.meta.dirname, '..', 'captures', folder)

/** Options of ncu's without a value; every other one has one. */
const switches = ['--nvtx', '--csv']

/** The words after ncu's own. */
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

/** The table's row as of a launch on another GPU. */
const onGpu = (row, gpu) =>
  row.replace(/("\([^"]*\)","\([^"]*\)",)"\d+"/, (_, extents) => `${extents}"${gpu}"`)

/** The table's rows that the filters leave, of each process, numbered anew. */
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

export async function ncuProgram(call) {
  const { words, env, path, say, logCall } = call
  logCall('ncu')
  const command = programOf(words)
  // The program may have options of the same names.
  const own = words.slice(0, words.length - command.length)
  const option = (name) => (own.includes(name) ? own[own.indexOf(name) + 1] : undefined)
  const exit = await runIt(command, call)
  if (exit === null) {
    say(notFound(command[0]))
    return 1
  }
  const failed = exit === 0 ? '' : `==ERROR== The application returned an error code (${exit}).\n`
  const log = path(option('--log-file'))
  // The program may launch nothing now, or have launched other kernels than the last time.
  const [first, second = first] = (env.FAKE_PROGRAM ?? '').split(',')
  const report = option('--export')
  const name = report ? second : first
  if (name === '' || name === 'none') {
    writeFileSync(log, `==WARNING== No kernels were profiled.\n${failed}`)
    return exit
  }
  const captured = capturedCall(folder, `preview-${name}`).log
  const rows = chosen(captured, option, env)
  const head = captured
    .split('\n')
    .filter((line) => line.startsWith('==') || line.startsWith('"ID'))
  const none = rows.length === 0 ? '==WARNING== No kernels were profiled.\n' : ''
  writeFileSync(
    log,
    report || none ? `${none}${failed}` : `${[...head, ...rows].join('\n')}\n${failed}`,
  )
  if (report && !none)
    writeFileSync(
      path(report),
      brotliDecompressSync(readFileSync(join(files, `deep-${name}.ncu-rep.br`))),
      { flag: 'wx' },
    )
  return exit
}
