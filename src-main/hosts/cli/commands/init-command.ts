/**
 * `kernel-ladder init`: creates a complete ladder folder from a template or from a file that
 * contains a kernel.
 */
import type { SetUp } from '../../../adapters/machine/machine'
import { note, printText } from '../output'
import { shownPath } from '../../../adapters/catalog/ladder-folder'
import { KernelLadderError } from '../../../domain/errors'
import { hasGpu } from '../../../services/bench/tools'
import { initLadder } from '../../../services/folders/init'
import { initFromFile } from '../../../services/folders/from-file/from-file'
import { describeProposal } from '../describe/describe-proposal'

export interface InitOptions {
  template?: string
  from?: string
  kernel?: string
  include?: string[]
  define?: string[]
}

const usage = (problem: string, remedy: string): KernelLadderError =>
  new KernelLadderError('usage', problem, remedy)

export async function initCommand(
  setUp: SetUp,
  folder: string,
  args: readonly string[],
  options: InitOptions,
): Promise<number> {
  const { template, from, kernel, include = [], define = [] } = options
  if (from !== undefined) {
    if (template !== undefined)
      throw usage('--template and --from cannot be combined.', 'Use one of them.')
    const request = {
      file: from,
      include,
      define,
      args,
      ...(kernel === undefined ? {} : { kernel }),
    }
    const found = await initFromFile(await setUp(), folder, request, note)
    printText(describeProposal(found, from))
    note(`Then: kernel-ladder run --ladder ${shownPath(found.folder)} --target emulated`)
    note(`On a GPU: kernel-ladder run --ladder ${shownPath(found.folder)}`)
    return 0
  }
  const [alone] = [
    ...(kernel === undefined ? [] : ['--kernel']),
    ...(include.length === 0 ? [] : ['--include']),
    ...(define.length === 0 ? [] : ['--define']),
    ...(args.length === 0 ? [] : ['Arguments of a program']),
  ]
  if (alone !== undefined)
    throw usage(`${alone} can only be given with --from.`, 'Give the file: --from FILE.cu.')
  const setup = await setUp()
  const { folder: path, files } = await initLadder(setup, folder, template ?? 'blank')
  const shown = shownPath(path)
  printText(`${shown}: ${files.join(', ')}`)
  const run = `kernel-ladder run --ladder ${shown}`
  if (await hasGpu(setup.machine)) note(`Then: ${run}`)
  else {
    note('No NVIDIA GPU was found. Then, without one:')
    const lines = [
      [`${run} --target emulated`, 'verified results and exact counters, no times'],
      [`kernel-ladder sanitize --ladder ${shown} --target emulated`, 'race and memory checks'],
      [`${run} --target static:h200`, 'registers, occupancy and machine code, nothing is run'],
    ]
    for (const [command, gives] of lines) note(`  ${command}\n      ${gives}`)
  }
  return 0
}
