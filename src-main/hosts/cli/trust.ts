/** Shows an untrusted ladder folder on the terminal and asks before its code is built or run. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'
import { openLadder, openPrograms } from '../../services/ladder-library/open'
import { isTrustedFolder, trustFolder } from '../../services/ladder-library/trust'
import { confirmed } from './confirm'
import { note } from './output'

/** Without a terminal only `--trust` counts as consent; without it, the core refuses the ladder. */
export async function askTrust(
  setup: Setup,
  ladder: string,
  { trust = false }: { trust?: boolean },
): Promise<void> {
  const own = (await openPrograms(setup, ladder)) ?? (await openLadder(setup, ladder)).own
  const { folders } = setup.machine
  if (!own || (await isTrustedFolder(folders, own.folder))) return
  if (!trust) {
    if (!process.stdin.isTTY || !process.stderr.isTTY) return
    for (const file of own.files) {
      note(`──── ${file}`)
      note(await readFile(join(own.folder, file), 'utf8'))
    }
    note('────')
    const what = `What is in ${own.folder} will be built and run with your permissions, now and whenever it changes.`
    if (!(await confirmed(what))) return
  }
  await trustFolder(folders, own.folder)
}
