/** `kernel-ladder init`: creates a ladder folder that builds and runs, as a starting point. */
import type { SetUp } from '../../../adapters/machine/machine'
import { note, printText } from '../output'
import { shownPath } from '../../../adapters/catalog/ladder-folder'
import { initLadder } from '../../../services/folders/init'

export async function initCommand(
  setUp: SetUp,
  folder: string,
  { template }: { template: string },
): Promise<number> {
  const { folder: path, files } = await initLadder(await setUp(), folder, template)
  const shown = shownPath(path)
  printText(`${shown}: ${files.join(', ')}`)
  note(`Then: kernel-ladder run --ladder ${shown}`)
  note(`Without a GPU: kernel-ladder run --ladder ${shown} --target static:h200`)
  return 0
}
