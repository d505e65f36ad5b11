/** Runs the command line in this process: its streams are caught, its exit code is given back. */
import { vi } from 'vitest'
import { runProgram } from '../../../src-main/hosts/cli/program'

export interface Finished {
  code: number
  stdout: string
  stderr: string
}

export async function runHere(...words: string[]): Promise<Finished> {
  const said = { stdout: '', stderr: '' }
  const catching = (name: keyof typeof said) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk, encoding, done) => {
      said[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')
      const written = typeof encoding === 'function' ? encoding : done
      written?.(null)
      return true
    })
  const spies = [catching('stdout'), catching('stderr')]
  try {
    return { code: await runProgram(words), ...said }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}
