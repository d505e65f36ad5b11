/**
 * Runs the command-line program with one part of the timing model disabled. The first argument
 * names the disabled part.
 */
import { setUp } from '../../src-main/adapters/machine/local-machine'
import { startThread } from '../../src-main/adapters/emulator/pool'
import type { StartEmulator } from '../../src-main/adapters/tools/emulator'
import { runProgram } from '../../src-main/hosts/cli/program'
import { ablations } from '../../src-main/domain/prediction/ablation'

const [name, ...words] = process.argv.slice(2)
const ablate = ablations.filter((one) => one === name)

const startEmulator: StartEmulator = () => {
  const emulator = startThread()
  return {
    ...emulator,
    send: ({ job, predictOn }) =>
      emulator.send(predictOn ? { job, predictOn: { ...predictOn, ablate } } : { job }),
  }
}

process.exitCode = await runProgram(words, async () => {
  const { assets, machine } = await setUp()
  const toolbox: typeof machine.toolbox = (recorder) => ({
    ...machine.toolbox(recorder),
    startEmulator,
  })
  return { assets, machine: { ...machine, toolbox } }
})
