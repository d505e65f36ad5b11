/** `kernel-ladder __judge`: the process that `lab grade` starts for each submission. */
import { exitCodes, toErrorShape } from '../../../domain/errors'
import { judgeSubmission, readJob } from '../../../services/labs/judge-process'
import { localMachine } from '../../../adapters/machine/local-machine'

export async function judgeCommand(jobFile: string): Promise<number> {
  // Ignore SIGUSR1, because Node.js starts its debugger on this signal by default. Only newer
  // versions of Node.js support --disable-sigusr1.
  process.on('SIGUSR1', () => undefined)
  try {
    const judged = await judgeSubmission(localMachine(), await readJob(jobFile))
    process.stdout.write(JSON.stringify(judged))
    return 0
  } catch (error) {
    const shape = toErrorShape(error)
    process.stdout.write(JSON.stringify({ error: shape }))
    return exitCodes[shape.kind]
  }
}
