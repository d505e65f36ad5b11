// @ts-check
/**
 * Writes docs/SESSION-SCHEMA.json, docs/LAB-SCHEMA.json, docs/CI-SCHEMA.json and docs/schemas/ladder.json; tests fail while they are not current.
 * `node scripts/session-schema.mjs`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runnerImport } from 'vite'
import { root, runScript, say } from './lib/project.mjs'
import {
  ciSchemaText,
  labSchemaText,
  ladderSchemaText,
  sessionSchemaText,
} from './lib/session-schema.mjs'

await runScript(async () => {
  const { module } = await runnerImport(join(root, 'src-main/domain/session/session.ts'))
  const text = await sessionSchemaText(module.Session, module.sessionSchemaVersion)
  writeFileSync(join(root, 'docs/SESSION-SCHEMA.json'), text)
  const labs = await runnerImport(join(root, 'src-main/domain/labs/lab.ts'))
  writeFileSync(join(root, 'docs/LAB-SCHEMA.json'), await labSchemaText(labs.module.LabFile))
  const ci = (await runnerImport(join(root, 'src-main/domain/analysis/baseline-document.ts')))
    .module
  const ciText = await ciSchemaText(ci.CiDocument, ci.ciSchemaVersion)
  writeFileSync(join(root, 'docs/CI-SCHEMA.json'), ciText)
  const ladder = await runnerImport(join(root, 'src-main/domain/ladder/ladder-schema.ts'))
  mkdirSync(join(root, 'docs/schemas'), { recursive: true })
  writeFileSync(
    join(root, 'docs/schemas/ladder.json'),
    await ladderSchemaText(ladder.module.ladderSchema()),
  )
  say(
    'Wrote docs/SESSION-SCHEMA.json, docs/LAB-SCHEMA.json, docs/CI-SCHEMA.json and docs/schemas/ladder.json.',
  )
  return 0
})
