// @ts-check
/**
 * `npm run gpus` writes the timing model's parameters of each GPU to resources/gpus. Run the script
 * after changes to test/captures/calibrate, the fit, the parameter table or
 * scripts/lib/published-gpus.ts.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runnerImport } from 'vite'
import { ensureInstalled } from './lib/install.mjs'
import { root, runScript, say } from './lib/project.mjs'

const folder = join(root, 'resources/gpus')

await runScript(async () => {
  await ensureInstalled()
  /** @type {{ module: typeof import('./lib/gpu-files.ts') }} */
  const { module } = await runnerImport(join(root, 'scripts/lib/gpu-files.ts'))
  const texts = module.gpuFileTexts(root)
  mkdirSync(folder, { recursive: true })
  for (const file of readdirSync(folder)) if (!texts.has(file)) rmSync(join(folder, file))
  for (const [file, text] of texts) writeFileSync(join(folder, file), text)
  say(`Wrote ${texts.size} files to resources/gpus.`)
  return 0
})
