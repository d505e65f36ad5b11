// @ts-check
/**
 * `npm run prediction [-- PATTERN]` compares the timing model with the shipped recordings. It predicts the rungs of
 * those whose names match, at their recorded sizes on their GPU, and writes test/captures/prediction/accuracy.json
 * and the tables in docs/evidence/prediction.md. Without a pattern it only writes the tables. Needs nvcc; a recording takes
 * minutes.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { runnerImport } from 'vite'
import { ensureBuilt, targets } from './lib/build.mjs'
import { documentWith, formatted } from './lib/document.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { PlainError, root, runScript, say } from './lib/project.mjs'

/** @typedef {import('./lib/prediction-table.ts').PredictedRow} PredictedRow */

const examples = new Set(['joint-histogram', 'layer-norm', 'stencil-3d'])

/** @param {string[]} words */
const program = async (words) => {
  const { stdout, stderr } = await execa(
    process.execPath,
    [join(root, targets.cli.outputs[0]), ...words],
    {
      cwd: root,
      reject: false,
      maxBuffer: 2 ** 30,
    },
  )
  if (stdout === '') throw new PlainError(stderr.slice(-600))
  return stdout
}

/** Returns the options that select a problem. @param {any} problem */
const optionsOf = ({ sizes, scalars, options }) =>
  Object.entries({ ...sizes, ...scalars, ...options }).flatMap(([name, value]) => [
    `--${name}`,
    `${value}`,
  ])

/** @param {string} recording @param {string} ladder @param {any} problem @param {string} gpu */
async function predicted(recording, ladder, problem, gpu) {
  const folder = mkdtempSync(join(tmpdir(), 'kl-prediction-'))
  try {
    const out = join(folder, 'session')
    const which = examples.has(ladder) ? join(root, 'resources/examples', ladder) : ladder
    const words = ['--ladder', which, '--trust', '--target', `predicted:${gpu}`, '--out', out]
    const { scalars, options, sizes } = problem
    const wanted = { sizes, scalars: ladder === 'attention' ? scalars : {}, options: {} }
    if (ladder === 'softmax') wanted.options = options
    await program(['run', ...words, ...optionsOf(wanted)])
    const session = JSON.parse(readFileSync(join(out, 'session.json'), 'utf8'))
    const measured = JSON.parse(await program(['show', `recorded:${recording}`, '--json']))
    return { session, measured }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

await runScript(async () => {
  await ensureInstalled()
  /** @type {{ module: typeof import('./lib/prediction-table.ts') }} */
  const { module } = await runnerImport(join(root, 'scripts/lib/prediction-table.ts'))
  const file = join(root, module.accuracyPath)
  /** @type {PredictedRow[]} */
  let rows = JSON.parse(readFileSync(file, 'utf8'))
  const pattern = process.argv[2]
  if (pattern !== undefined) {
    await ensureBuilt(['cli'])
    const index = JSON.parse(readFileSync(join(root, 'resources/recordings/index.json'), 'utf8'))
    for (const [name, entry] of Object.entries(index.recordings)) {
      const { ladder, problem, deviceName } = entry
      const gpu = /H[12]00/.exec(deviceName)?.[0].toLowerCase()
      if (!gpu || !problem || !new RegExp(pattern).test(name)) continue
      say(`Predicting ${name}…`)
      const { session, measured } = await predicted(name, ladder.id, problem, gpu)
      const found = module.rowsOf(name, gpu, session, measured)
      rows = [...rows.filter(({ recording }) => recording !== name), ...found]
      writeFileSync(file, await formatted(module.accuracyPath, JSON.stringify(rows)))
    }
  }
  const tables = module.accuracyTables(rows)
  const document = await documentWith(module.accuracyDocument, [['accuracy', tables]])
  writeFileSync(join(root, module.accuracyDocument), document)
  say(module.summary(rows))
  return undefined
})
