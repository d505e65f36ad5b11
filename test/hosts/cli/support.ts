/** Runs the command line in this process, captures its streams, and returns the exit code. */
import { vi } from 'vitest'
import { assets } from '../../../src-main/adapters/catalog/assets'
import type { HostMachine } from '../../../src-main/adapters/machine/machine'
import { runProgram } from '../../../src-main/hosts/cli/program'
import { machineOfFakes } from '../../services/support'

export interface Finished {
  code: number
  stdout: string
  stderr: string
}

export interface Surroundings {
  env?: Readonly<Record<string, string>>
  /** Folder that contains the kernels. Set this option to imitate a program in another checkout. */
  kernelsDir?: string
  /** The folder with the GPU parameter files. */
  gpusDir?: string
  /** The machine, which has fake tools by default. */
  machine?: HostMachine
}

/** Sets environment variables and returns a function that restores them. */
function withVariables(env: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, env)
  return () => {
    for (const [name, value] of before)
      if (value === undefined) Reflect.deleteProperty(process.env, name)
      else process.env[name] = value
  }
}

/**
 * Returns a function that removes the listeners that a command added. A real program would not
 * remove a command's listeners before it ends.
 */
function keepingListeners(): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const before = signals.map((signal) => process.listeners(signal))
  return () => {
    for (const [index, signal] of signals.entries())
      for (const listener of process.listeners(signal))
        if (!before[index]!.includes(listener)) process.off(signal, listener)
  }
}

/** Runs a command. Calls must be sequential, because all calls share the process's streams. */
export async function runIn(
  { env = {}, kernelsDir, gpusDir, machine }: Surroundings,
  ...words: string[]
): Promise<Finished> {
  const said = { stdout: '', stderr: '' }
  const catching = (name: keyof typeof said) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk, encoding, done) => {
      said[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')
      const written = typeof encoding === 'function' ? encoding : done
      written?.(null)
      return true
    })
  const setUp = async () => ({
    assets: {
      ...(await assets()),
      ...(kernelsDir === undefined ? {} : { kernelsDir }),
      ...(gpusDir === undefined ? {} : { gpusDir }),
    },
    machine: machine ?? machineOfFakes(),
  })
  const restore = [withVariables(env), keepingListeners()]
  const spies = [catching('stdout'), catching('stderr')]
  try {
    return { code: await runProgram(words, setUp), ...said }
  } finally {
    for (const spy of spies) spy.mockRestore()
    for (const undo of restore) undo()
  }
}

export const runHere = (...words: string[]): Promise<Finished> => runIn({}, ...words)
