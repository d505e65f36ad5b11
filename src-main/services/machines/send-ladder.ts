/** A ladder folder of the user's own, sent to a machine by its content. */
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { LadderFolder } from '../../adapters/kernels/ladder-folder'
import { sendFolder, type RemoteFacts } from '../../adapters/remote/remote-host'
import type { Shell } from '../../adapters/remote/ssh'
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
