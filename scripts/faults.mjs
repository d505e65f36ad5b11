// @ts-check
/**
 * `npm run faults -- [--stage NAME…] [--fault NAME…] [--missing] [--keep]` injects every fault into
 * every stage of the built command-line program and prints the failures. The external tools are
 * replaced by fake programs. `--missing` skips combinations that passed before. `--keep` writes the
 * results for docs/evidence/reliability.md. Combinations that were not tested keep their previous
 * result.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runnerImport } from 'vite'
import { ensureInstalled } from './lib/install.mjs'
import { PlainError, root, runScript, say } from './lib/project.mjs'

const kept = join(root, 'test/faults/matrix.json')

await runScript(async () => {
  await ensureInstalled()
  const { values } = parseArgs({
    options: {
      stage: { type: 'string', multiple: true },
      fault: { type: 'string', multiple: true },
      missing: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
  })
  if (!existsSync(join(root, 'dist/cli/kernel-ladder.mjs')))
    throw new PlainError('The command line is not built: npm run build.', 3)
  /** @type {{ module: typeof import('../test/faults/faults.ts') }} */
  const { module } = await runnerImport(join(root, 'test/faults/faults.ts'))
  const { stages, faults, applies, openBench, closeBench, tryCell } = module
  /** @type {Record<string, Record<string, string[]>>} */
  const cells = existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : {}
  let count = 0
  let bad = 0
  for (const stage of stages.filter(({ name }) => values.stage?.includes(name) ?? true))
    for (const fault of faults.filter(({ name }) => values.fault?.includes(name) ?? true)) {
      if (!applies(stage, fault)) continue
      if (values.missing && cells[stage.name]?.[fault.name]?.length === 0) continue
      const bench = await openBench()
      try {
        const wrong = await tryCell(bench, stage, fault)
        count += 1
        if (wrong.length > 0) bad += 1
        say(`${stage.name} × ${fault.name}: ${wrong.length === 0 ? 'ok' : wrong.join('; ')}`)
        ;(cells[stage.name] ??= {})[fault.name] = wrong
        if (values.keep) writeFileSync(kept, `${JSON.stringify(cells, null, 2)}\n`)
      } finally {
        await closeBench(bench)
      }
    }
  if (count === 0 && !values.missing)
    throw new PlainError(
      `Nothing is named that. Stages: ${stages.map(({ name }) => name).join(', ')}. Faults: ${faults.map(({ name }) => name).join(', ')}.`,
      2,
    )
  say(`${count} cells, ${bad} with a fault`)
  return bad === 0 ? 0 : 1
})
