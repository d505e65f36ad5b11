// @ts-check
/**
 * `npm run schemas` writes a JSON schema for each printed document and each input file to
 * docs/schemas.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runnerImport } from 'vite'
import { ensureInstalled } from './lib/install.mjs'
import { root, runScript, say } from './lib/project.mjs'
import { publishedSchemas } from './lib/published-schemas.mjs'

const folder = join(root, 'docs/schemas')

await runScript(async () => {
  await ensureInstalled()
  /** @type {{ module: typeof import('../src-main/hosts/cli/documents/index.ts') }} */
  const { module } = await runnerImport(join(root, 'src-main/hosts/cli/documents/index.ts'))
  const schemas = await publishedSchemas(module)
  mkdirSync(folder, { recursive: true })
  for (const file of readdirSync(folder)) if (!schemas.has(file)) rmSync(join(folder, file))
  for (const [file, text] of schemas) writeFileSync(join(folder, file), text)
  say(`Wrote ${schemas.size} schemas to docs/schemas.`)
  return 0
})
