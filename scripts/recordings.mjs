// @ts-check
/**
 * Makes recordings that ship of session folders, and keeps what is derived of all recordings true:
 * `npm run recordings -- keep FOLDER…` takes sessions and attempts at labs into resources/recordings;
 * `npm run recordings` alone writes index.json and takes away sources that no recording names.
 */
import { join } from 'node:path'
import { runnerImport } from 'vite'
import { ensureInstalled } from './lib/install.mjs'
import { PlainError, root, runScript, say } from './lib/project.mjs'

const recordings = join(root, 'resources/recordings')

await runScript(async () => {
  await ensureInstalled()
  const [verb, ...folders] = process.argv.slice(2)
  if ((verb !== undefined && verb !== 'keep') || (verb === 'keep' && folders.length === 0))
    throw new PlainError(
      'Say `npm run recordings -- keep FOLDER…`, or `npm run recordings` to index them.',
    )
  /** @type {{ module: typeof import('./lib/keep-recording.ts') }} */
  const { module } = await runnerImport(join(root, 'scripts/lib/keep-recording.ts'))
  try {
    for (const folder of folders) say(`Kept ${await module.keepRecording(folder, recordings)}.`)
    const sources = await module.sweepStore(recordings)
    const listed = await module.writeIndex(recordings)
    say(`${listed} recordings of ladders are listed; all have ${sources} sources.`)
  } catch (error) {
    const { kind, message, remedy } =
      /** @type {import('../src-main/domain/errors.ts').KernelLadderError} */ (error)
    if (kind === undefined) throw error
    throw new PlainError([message, remedy].filter(Boolean).join(' '))
  }
  return undefined
})
