/** Folders of the user's own, sent to a machine by their content. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import type { LadderFolder } from '../../adapters/kernels/ladder-folder'
import { sendFolder, type RemoteFacts } from '../../adapters/remote/remote-host'
import type { Shell } from '../../adapters/remote/ssh'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { fillFiles } from '../../domain/task/task'

/** Sends everything that the ladder is made of, as it is now, unless it is there; returns its folder there. */
export async function sendLadder(
  shell: Shell,
  facts: RemoteFacts,
  { folder, files, task }: LadderFolder,
  signal: AbortSignal,
): Promise<string> {
  const all = [...new Set([...files, ...fillFiles(task).map(({ path }) => path)])]
  const read = all.map(async (path) => ({ path, bytes: await readFile(join(folder, path)) }))
  return sendFolder(shell, facts, basename(folder), await Promise.all(read), signal)
}

const mostBytes = 256 * 2 ** 20

/** Sends all files below a folder, links left out. Throws if they are too large to send. */
export async function sendTree(
  shell: Shell,
  facts: RemoteFacts,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const root = resolve(folder)
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size))
  if (sizes.reduce((all, size) => all + size, 0) > mostBytes)
    throw inputError(message('machines.tooLarge', { folder: root, most: mostBytes / 2 ** 20 }))
  const files = await Promise.all(
    paths.map(async (path) => ({ path: relative(root, path), bytes: await readFile(path) })),
  )
  return sendFolder(shell, facts, basename(root), files, signal)
}
