// The input and output of a fake tool. The tool runs in a separate process or as a function call in
// the test's process.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'

/**
 * Derives a PCI bus id from a text, using two FNV-1a hashes. Loading node:crypto would take a tenth
 * of a fake's run time.
 */
function busOf(text) {
  const hash = (seed) => {
    let state = seed
    for (const byte of Buffer.from(text)) state = Math.imul(state ^ byte, 0x01000193) >>> 0
    return state.toString(16).padStart(8, '0').toUpperCase()
  }
  return `${hash(0x811c9dc5)}:${hash(0x2166136).slice(0, 2)}`
}

/** Ends a fake with a signal. */
export class Died extends Error {
  constructor(signal) {
    super(`died of ${signal}`)
    this.signal = signal
  }
}

/**
 * `isProcess`: whether the fake is a separate process, which may start children, use much memory
 * and be killed. `note` receives log lines.
 * @param {{ words: readonly string[], env: Record<string, string | undefined>, cwd: string, isProcess: boolean,
 * say(text: string): unknown, complain(text: string): unknown, forever(): Promise<never>, note?:
 * (line: string) => unknown, signal?: AbortSignal }} given
 */
export function fakeCall(given) {
  const { words, env, cwd, isProcess, say, complain, forever, note, signal } = given
  const logWords = (...words) => {
    const line = JSON.stringify(words)
    note?.(line)
    if (env.FAKE_LOG) appendFileSync(env.FAKE_LOG, `${line}\n`)
  }
  return {
    words,
    env,
    cwd,
    isProcess,
    say,
    complain,
    forever,
    line: (event) => say(`${JSON.stringify(event)}\n`),
    path: (name) => resolve(cwd, name),
    option(name) {
      const index = words.indexOf(name)
      return index < 0 ? undefined : words[index + 1]
    },
    options: (name) => words.flatMap((word, index) => (words[index - 1] === name ? [word] : [])),
    logWords,
    logCall: (tool) => logWords(tool, ...words),
    /** Returns the calls to a fake tool so far. The first word of each call is the tool's name. */
    callsOf(tool) {
      if (!env.FAKE_LOG || !existsSync(env.FAKE_LOG)) return []
      const calls = readFileSync(env.FAKE_LOG, 'utf8').split('\n').filter(Boolean)
      return calls.map((line) => JSON.parse(line)).filter(([name]) => name === tool)
    },
    /**
     * Returns a rung's fault from `$FAKE_FAULTS`, as in `02_coalesced=hang,…`. `$FAKE_FAULTS` is
     * for tests that cannot edit the rung's source.
     */
    faultOf: (rung) =>
      (env.FAKE_FAULTS ?? '')
        .split(',')
        .find((word) => word.startsWith(`${rung}=`))
        ?.slice(rung.length + 1),
    /**
     * Returns the bus id of a different GPU for each fake machine, so that parallel tests do not
     * wait for each other.
     */
    busIdOfMachine(gpu = Number.parseInt(env.CUDA_VISIBLE_DEVICES || '0')) {
      const bus = env.FAKE_BUS || busOf(env.KERNEL_LADDER_CACHE ?? '')
      return `${bus}:${gpu.toString(16).padStart(2, '0').toUpperCase()}.0`
    },
    die(by) {
      throw new Died(by)
    },
    pause: (ms) => setTimeout(ms, undefined, { signal }),
  }
}

// The functions below store a fake program's answers. A shell starts thirty times faster than Node with a fake, so
// frequent answers are stored as shell scripts in the folder $FAKE_ANSWERS.

/**
 * For each fake, the arguments of the stored answer, the environment variables that determine the
 * answer, and a file that disables the answer.
 */
export const answers = {
  nvcc: { words: ['--version'], variables: [] },
  ncu: { words: ['--version'], variables: [] },
  'compute-sanitizer': { words: ['--version'], variables: [] },
  'nvidia-smi': { words: ['-q', '-x'], variables: ['FAKE_GPUS', 'FAKE_GPU_PROGRAMS'] },
  'kl-runner': {
    words: ['device'],
    variables: ['CUDA_VISIBLE_DEVICES', 'FAKE_GPUS', 'FAKE_GONE_AT', 'FAKE_RUNNER'],
    unless: '$KERNEL_LADDER_CACHE/gpu-gone',
  },
}

/** Writes a shared file atomically. Does nothing without write permission. */
function putWhole(file, content) {
  const draft = `${file}.${process.pid}`
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(draft, content)
    renameSync(draft, file)
  } catch {
    // Ignore the error, because a missing answer only makes the next call slower.
  }
}

const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`

/**
 * Stores a fake's answer. An answer that contains the GPU's PCI bus id is stored for any bus id.
 */
export function keepAnswer(name, { words, env, said, logged }) {
  const { words: often, variables } = answers[name] ?? {}
  if (words.join(' ') !== often?.join(' ')) return
  const values = variables.map((variable) => env[variable] ?? '').join(':')
  const place = env.FAKE_BUS ? 'placed' : (env.KERNEL_LADDER_CACHE ?? '')
  const lines = logged.map((line) => `${quoted(line)} `).join('')
  const text = quoted(said)
  putWhole(
    join(env.FAKE_ANSWERS, name, values, place, 'is'),
    `[ -z "$FAKE_LOG" ] || printf '%s\\n' ${lines}>> "$FAKE_LOG"\n` +
      `printf %s ${env.FAKE_BUS ? text.replaceAll(env.FAKE_BUS, `'"$FAKE_BUS"'`) : text}\nexit 0\n`,
  )
}

/** Returns the shell code that prints a stored answer, if the answer is stored. */
function answering(name, folder) {
  const { words, variables, unless } = answers[name]
  const values = variables.map((variable) => `\${${variable}}`).join(':')
  const isAsked = [`"$*" = ${quoted(words.join(' '))}`, ...(unless ? [`! -e "${unless}"`] : [])]
  return [
    `export FAKE_ANSWERS=${quoted(folder)}`,
    `place=\${FAKE_BUS:+placed}`,
    `answer="$FAKE_ANSWERS/${name}/${values}/\${place:-$KERNEL_LADDER_CACHE}/is"`,
    `if [ -f "$answer" ] && ${isAsked.map((test) => `[ ${test} ]`).join(' && ')}; then . "$answer"; fi`,
    '',
  ].join('\n')
}

/** Runs the fake with a given name as a program. The test has already put the program on PATH. */
export async function asProgram(name, main) {
  const { env } = process
  let said = ''
  const logged = []
  const call = fakeCall({
    words: process.argv.slice(2),
    env,
    cwd: process.cwd(),
    isProcess: true,
    say(text) {
      said += text
      return process.stdout.write(text)
    },
    complain: (text) => process.stderr.write(text),
    note: (line) => logged.push(line),
    /** Waits until the parent process ends. */
    forever: () =>
      new Promise(() => {
        setInterval(() => {
          try {
            const owner = call.option('--owner-pid')
            if (owner !== undefined) process.kill(Number(owner), 0)
          } catch {
            process.exit(1)
          }
        }, 200)
      }),
  })
  try {
    const code = await main(call)
    if (code === 0 && env.FAKE_ANSWERS) keepAnswer(name, { words: call.words, env, said, logged })
    process.exit(code)
  } catch (error) {
    if (!(error instanceof Died)) throw error
    process.kill(process.pid, error.signal)
  }
}

/** Writes a program that runs the fake with a given name through tool.mjs. */
export function writeFake(path, name) {
  const { FAKE_ANSWERS: folder } = process.env
  const tool = `"${process.execPath}" "${join(import.meta.dirname, 'tool.mjs')}" ${name}`
  const first = folder && answers[name] ? answering(name, folder) : ''
  writeFileSync(path, `#!/bin/sh\n${first}exec ${tool} "$@"\n`, { mode: 0o755 })
}

/**
 * Creates a folder with a machine's fake tools and returns the folder's path.
 * @param {string} folder
 * @param {readonly string[]} without
 */
export function putFakes(folder, without = []) {
  mkdirSync(folder, { recursive: true })
  for (const tool of ['nvcc', 'ncu', 'nvidia-smi', 'compute-sanitizer'])
    if (!without.includes(tool)) writeFake(join(folder, tool), tool)
  return folder
}
