// @ts-check
/**
 * Converts session folders to shipped recordings and updates the files derived from all recordings.
 *
 * `npm run recordings -- keep FOLDER…` adds sessions and lab attempts to resources/recordings.
 * `npm run recordings -- rename` replaces former rung ids with current ids
 * (src-main/domain/ladder/former-ids.ts).
 * `npm run recordings` converts session folders in resources/recordings, writes index.json, and
 * removes files that no recording uses.
 */
import { join } from 'node:path'
import { runnerImport } from 'vite'
import { ensureInstalled } from './lib/install.mjs'
import { PlainError, root, runScript, say } from './lib/project.mjs'

const recordings = join(root, 'resources/recordings')

await runScript(async () => {
  await ensureInstalled()
  const [verb, ...folders] = process.argv.slice(2)
  const isKnown = verb === undefined || verb === 'keep' || verb === 'rename'
  if (!isKnown || (verb === 'keep' && folders.length === 0))
    throw new PlainError(
      'Use `npm run recordings -- keep FOLDER…` to add recordings, `npm run recordings -- rename` to give rungs the ids of today, or `npm run recordings` to index them.',
    )
  /** @type {{ module: typeof import('./vite/assets.ts') }} */
  const { module: vitePlugins } = await runnerImport(join(root, 'scripts/vite/assets.ts'))
  // The script uses the modules of the program, which find their files through a virtual module.
  const plugins = [vitePlugins.assetPack({ root, embed: false })]
  /** @type {{ module: typeof import('./lib/keep-recording.ts') }} */
  const { module } = await runnerImport(join(root, 'scripts/lib/keep-recording.ts'), { plugins })
  try {
    if (verb === 'rename') {
      /** @type {{ module: typeof import('./lib/rename-recorded.ts') }} */
      const rename = await runnerImport(join(root, 'scripts/lib/rename-recorded.ts'), { plugins })
      say(`Looked through ${await rename.module.renameRecorded(recordings)} files.`)
    }
    for (const folder of [...folders, ...(await module.looseRecordings(recordings))])
      say(`Kept ${await module.keepRecording(folder, recordings)}.`)
    const sources = await module.sweepStore(recordings)
    const attempts = await module.sweepAttempts(recordings)
    const listed = await module.writeIndex(recordings)
    say(
      `Indexed ${listed} ladder recordings and ${attempts} lab attempts, which share ${sources} sources.`,
    )
  } catch (error) {
    const sentences = module.sentencesOf(error)
    if (sentences === undefined) throw error
    throw new PlainError(sentences)
  }
  return undefined
})
