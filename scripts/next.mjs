// @ts-check
/**
 * `npm run next` fits the gains that `next` predicts to the shipped recordings. The script writes
 * resources/recordings/landed.json and the tables in docs/evidence/next.md and
 * docs/evidence/tables/backtest.md. Run the script after changing a move, a recording, or the moves
 * of a ladder.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runnerImport } from 'vite'
import { documentWith, formatted } from './lib/document.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { root, runScript, say } from './lib/project.mjs'

await runScript(async () => {
  await ensureInstalled()
  /** @type {{ module: typeof import('./vite/assets.ts') }} */
  const { module: vitePlugins } = await runnerImport(join(root, 'scripts/vite/assets.ts'))
  const plugins = [vitePlugins.assetPack({ root, embed: false })]
  /** @type {{ module: typeof import('./lib/backtest.ts') }} */
  const { module } = await runnerImport(join(root, 'scripts/lib/backtest.ts'), { plugins })
  const steps = await module.recordedSteps(root)
  const past = module.pastOf(steps)
  writeFileSync(
    join(root, module.landedPath),
    await formatted(module.landedPath, JSON.stringify(past)),
  )
  /** @type {{ module: typeof import('./lib/public-ladders.ts') }} */
  const { module: others } = await runnerImport(join(root, 'scripts/lib/public-ladders.ts'), {
    plugins,
  })
  const capture = others.readPublicCapture(root)
  for (const [path, part] of module.backtestParts(steps, past))
    writeFileSync(join(root, path), await documentWith(path, [['backtest', part]]))
  const document = await documentWith(module.backtestPath, [
    ['public', others.publicLaddersPart(capture)],
    ['kernels', others.kernelsPart(capture)],
    ['limits', others.limitsPart(capture)],
  ])
  writeFileSync(join(root, module.backtestPath), document)
  say(`Fitted ${past.landed.length} gains of ${steps.length} recorded steps.`)
  return undefined
})
