// @ts-check
/** Writes docs/SESSION-SCHEMA.json; a test fails while it is not current. `node scripts/session-schema.mjs`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runnerImport } from 'vite'
import { root, runScript, say } from './lib/project.mjs'
import { sessionSchemaText } from './lib/session-schema.mjs'

await runScript(async () => {
  const { module } = await runnerImport(join(root, 'src-main/domain/session.ts'))
  const text = await sessionSchemaText(module.Session, module.sessionSchemaVersion)
  writeFileSync(join(root, 'docs/SESSION-SCHEMA.json'), text)
  say('Wrote docs/SESSION-SCHEMA.json.')
  return 0
})
