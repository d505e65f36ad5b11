/**
 * Asks questions on the terminal, such as whether to continue or whether to trust a ladder folder.
 */
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline/promises'
import { shownFile } from '../../adapters/catalog/ladder-folder'
import type { Setup } from '../../adapters/machine/machine'
import { openLadder, openPrograms } from '../../services/folders/open'
import { note } from './output'
import { isTrustedFolder, trustFolder } from '../../services/folders/folder-trust'

export async function confirmed(what: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const word = randomBytes(2).toString('hex')
  const answer = await terminal.question(`${what} Type ${word} to allow this: `)
  terminal.close()
  return answer.trim() === word
}

/**
 * Asks whether to trust a ladder folder. Without a terminal, the user can consent only with
 * `--trust`. The core itself rejects an untrusted ladder.
 */
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
      note(await shownFile(own.folder, file))
    }
    note('────')
    const what = `The files in ${own.folder} will be built and run with your permissions, now and after every change.`
    if (!(await confirmed(what))) return
  }
  await trustFolder(folders, own.folder)
}
