/** `kernel-ladder init`: creates a ladder folder that builds and runs, as a starting point. */
import type { SetUp } from '../../../adapters/machine/machine'
import { note, printText } from '../output'
import { shownPath } from '../../../adapters/catalog/ladder-folder'
import { hasGpu } from '../../../services/bench/tools'
import { initLadder } from '../../../services/folders/init'

export async function initCommand(
  setUp: SetUp,
  folder: string,
  { template }: { template: string },
): Promise<number> {
  const setup = await setUp()
  const { folder: path, files } = await initLadder(setup, folder, template)
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
