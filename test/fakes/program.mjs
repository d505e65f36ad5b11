// What a fake tool is given and how it speaks, whether it is a process of its own or a call in a test's.
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

/** Ten hexadecimal digits made of a text, by FNV-1a twice: to load node:crypto takes a tenth of a fake's time. */
function digitsOf(text) {
  const hash = (seed) => {
    let state = seed
    for (const byte of Buffer.from(text)) state = Math.imul(state ^ byte, 0x01000193) >>> 0
    return state.toString(16).padStart(8, '0')
  }
  return (hash(0x811c9dc5) + hash(0x2166136)).slice(0, 10).toUpperCase()
}

/** Ends a fake by a signal. */
export class Died extends Error {
  constructor(signal) {
    super(`died of ${signal}`)
    this.signal = signal
  }
}

/**
 * `isProcess`: it may start children, take memory and be killed, being a process of its own. `keep`: the fake will say the
 * same to these words again.
 * @param {{ words: readonly string[], env: Record<string, string | undefined>, cwd: string, isProcess: boolean,
 *   say(text: string): unknown, complain(text: string): unknown, forever(): Promise<never>,
 *   keep?: (logged: string[]) => void, signal?: AbortSignal }} given
 */
export function fakeCall(given) {
  const { words, env, cwd, isProcess, say, complain, forever, keep, signal } = given
  const logged = []
  const logWords = (...line) => {
    logged.push(JSON.stringify(line))
    if (env.FAKE_LOG) appendFileSync(env.FAKE_LOG, `${logged.at(-1)}\n`)
  }
  return {
    keep: () => keep?.(logged),
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
    /** The calls of a fake tool so far, its name first. */
    callsOf(tool) {
      if (!env.FAKE_LOG || !existsSync(env.FAKE_LOG)) return []
      const calls = readFileSync(env.FAKE_LOG, 'utf8').split('\n').filter(Boolean)
      return calls.map((line) => JSON.parse(line)).filter(([name]) => name === tool)
    },
    /** A rung's fault in `$FAKE_FAULTS`, `02_coalesced=hang,…`, for tests that cannot edit the source. */
    faultOf: (rung) =>
      (env.FAKE_FAULTS ?? '')
        .split(',')
        .find((word) => word.startsWith(`${rung}=`))
        ?.slice(rung.length + 1),
    /** Each machine of fakes has a GPU of its own, so that tests beside one another do not wait for it. */
    busIdOfMachine(gpu = Number.parseInt(env.CUDA_VISIBLE_DEVICES || '0')) {
      const digits = digitsOf(env.KERNEL_LADDER_CACHE ?? '')
      return `${digits.slice(0, 8)}:${digits.slice(8, 10)}:${gpu.toString(16).padStart(2, '0').toUpperCase()}.0`
    },
    die(by) {
      throw new Died(by)
    },
    pause: (ms) => setTimeout(ms, undefined, { signal }),
  }
}

// A shell starts in a thirtieth of the time that Node takes with a fake. What a fake says to words that it is asked often is
// therefore kept, in the folder that $FAKE_ANSWERS names, as what a shell does in its place.

/** By fake: the variables on which such an answer depends, and the file that keeps it from being given. */
const answers = {
  nvcc: { variables: [] },
  ncu: { variables: [] },
  'compute-sanitizer': { variables: [] },
  'nvidia-smi': { variables: ['KERNEL_LADDER_CACHE', 'FAKE_GPUS', 'FAKE_GPU_PROGRAMS'] },
  'kl-runner': {
    variables: [
      ...['KERNEL_LADDER_CACHE', 'CUDA_VISIBLE_DEVICES'],
      ...['FAKE_GPUS', 'FAKE_GONE_AT', 'FAKE_RUNNER'],
    ],
    unless: '$KERNEL_LADDER_CACHE/gpu-gone',
  },
}

/** Puts a file where others look for it, whole or not at all; one who may not write there goes without. */
export function putWhole(file, content) {
  const draft = `${file}.${process.pid}`
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(draft, content)
    renameSync(draft, file)
  } catch {
    // The next one is as slow as this one.
  }
}

const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`

function keepAnswer(name, { words, env, said, logged }) {
  const values = answers[name].variables.map((variable) => env[variable] ?? '').join(':')
  const lines = logged.map((line) => `${quoted(line)} `).join('')
  putWhole(
    join(env.FAKE_ANSWERS, name, values, words.join(' ')),
    `[ -z "$FAKE_LOG" ] || printf '%s\\n' ${lines}>> "$FAKE_LOG"\nprintf %s ${quoted(said)}\nexit 0\n`,
  )
}

/** Gives the answer that is kept, if one is. */
function answering(name, folder) {
  const { variables, unless } = answers[name]
  const values = variables.map((variable) => `\${${variable}}`).join(':')
  return [
    `export FAKE_ANSWERS=${quoted(folder)}`,
    `answer="$FAKE_ANSWERS/${name}/${values}/$*"`,
    `${unless ? `[ -e "${unless}" ] || ` : ''}[ ! -f "$answer" ] || . "$answer"`,
    '',
  ].join('\n')
}

/** Runs the fake of that name as the program that a test has put on PATH. */
export async function asProgram(name, main) {
  const { env } = process
  let said = ''
  let kept = null
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
    keep(logged) {
      kept = logged
    },
    /** As long as the one that started it is there. */
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
    if (env.FAKE_ANSWERS && kept) keepAnswer(name, { words: call.words, env, said, logged: kept })
    process.exit(code)
  } catch (error) {
    if (!(error instanceof Died)) throw error
    process.kill(process.pid, error.signal)
  }
}

/** Writes a program that is the fake of that name, one of tool.mjs. */
export function writeFake(path, name) {
  const { FAKE_ANSWERS: folder } = process.env
  const tool = `"${process.execPath}" "${join(import.meta.dirname, 'tool.mjs')}" ${name}`
  const first = folder && answers[name] ? answering(name, folder) : ''
  writeFileSync(path, `#!/bin/sh\n${first}exec ${tool} "$@"\n`, { mode: 0o755 })
}

/**
 * Puts the tools of a machine into a folder, which is made; returns it.
 * @param {string} folder
 * @param {readonly string[]} without
 */
export function putFakes(folder, without = []) {
  mkdirSync(folder, { recursive: true })
  for (const tool of ['nvcc', 'ncu', 'nvidia-smi', 'compute-sanitizer'])
    if (!without.includes(tool)) writeFake(join(folder, tool), tool)
  return folder
}
