// @ts-check
/**
 * `npm run prediction [-- PATTERN]` compares the timing model with the shipped recordings: it predicts the rungs of those
 * whose names match, at their recorded sizes on their GPU, and writes test/captures/prediction/accuracy.json, the ranges
 * of all classes, and the tables in docs/evidence/prediction.md. Without a pattern it only writes the ranges and tables. Needs
 * nvcc; a recording takes minutes.
 *
 * `npm run prediction -- --ablate [PATTERN]` predicts them without each part of the model that can be left out, and writes
 * ablation.json beside it.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { runnerImport } from 'vite'
import { bundled } from './bench/support.mjs'
import { ensureBuilt, targets } from './lib/build.mjs'
import { documentWith, formatted } from './lib/document.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { PlainError, root, runScript, say } from './lib/project.mjs'

/** @typedef {import('./lib/prediction-rows.ts').PredictedRow} PredictedRow */
/** @typedef {typeof import('./lib/prediction-document.ts')} Tables */

const examples = new Set(['joint-histogram', 'layer-norm', 'stencil-3d'])

/** @param {string[]} command of Node */
const program = async (command) => {
  const { stdout, stderr } = await execa(process.execPath, command, {
    cwd: root,
    reject: false,
    maxBuffer: 2 ** 30,
  })
  if (stdout === '') throw new PlainError(stderr.slice(-600))
  return stdout
}

const cli = join(root, targets.cli.outputs[0])

/** The options that ask for a problem. @param {any} problem */
const optionsOf = ({ sizes, scalars, options }) =>
  Object.entries({ ...sizes, ...scalars, ...options }).flatMap(([name, value]) => [
    `--${name}`,
    `${value}`,
  ])

/** @typedef {{ name: string, ladder: string, problem: any, gpu: string }} Recording */

/**
 * The recordings whose names match.
 * @param {string} pattern @returns {Recording[]}
 */
function recordings(pattern) {
  const index = JSON.parse(readFileSync(join(root, 'resources/recordings/index.json'), 'utf8'))
  return Object.entries(index.recordings).flatMap(([name, { ladder, problem, deviceName }]) => {
    const gpu = /H[12]00/.exec(deviceName)?.[0].toLowerCase()
    if (!gpu || !problem || !new RegExp(pattern).test(name)) return []
    return [{ name, ladder: ladder.id, problem, gpu }]
  })
}

/**
 * The predicted and the measured session.
 * @param {Recording} recording @param {string[]} [predictor] the program that predicts, of Node
 */
async function predicted({ name, ladder, problem, gpu }, predictor = [cli]) {
  const folder = mkdtempSync(join(tmpdir(), 'kl-prediction-'))
  try {
    const out = join(folder, 'session')
    const which = examples.has(ladder) ? join(root, 'resources/examples', ladder) : ladder
    const words = ['--ladder', which, '--trust', '--target', `predicted:${gpu}`, '--out', out]
    const { scalars, options, sizes } = problem
    const wanted = { sizes, scalars: ladder === 'attention' ? scalars : {}, options: {} }
    if (ladder === 'softmax') wanted.options = options
    await program([...predictor, 'run', ...words, ...optionsOf(wanted)])
    const session = JSON.parse(readFileSync(join(out, 'session.json'), 'utf8'))
    const measured = JSON.parse(await program([cli, 'show', `recorded:${name}`, '--json']))
    return { session, measured }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} path of a JSON file, from the root */
const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))

/** @param {string} path @param {unknown} value */
const write = async (path, value) =>
  writeFileSync(join(root, path), await formatted(path, JSON.stringify(value)))

/** @param {string} pattern @param {Tables} module */
async function ablate(pattern, module) {
  // The program finds its files in the folders above it.
  const ablated = await bundled('scripts/lib/ablated-program.ts', join(root, 'out/ablated'))
  /** @type {import('./lib/ablation-table.ts').AblatedRow[]} */
  const rows = []
  for (const recording of recordings(pattern))
    for (const without of module.ablations) {
      say(`Predicting ${recording.name} without ${without}…`)
      const { session, measured } = await predicted(recording, [ablated, without])
      const found = module.rowsOf(recording.name, recording.gpu, session, measured)
      rows.push(...found.map(({ stalls: _, ...row }) => ({ ...row, without })))
    }
  await write(module.ablationPath, { model: module.predictionModel, rows })
}

await runScript(async () => {
  await ensureInstalled()
  /** @type {{ module: Tables }} */
  const { module } = await runnerImport(join(root, 'scripts/lib/prediction-document.ts'))
  const { accuracyPath, factorsPath } = module
  /** @type {PredictedRow[]} */
  let rows = read(accuracyPath)
  const words = process.argv.slice(2)
  const ablates = words[0] === '--ablate'
  const pattern = ablates ? (words[1] ?? module.ablatedRecordings) : words[0]
  if (pattern !== undefined) await ensureBuilt(['cli'])
  if (ablates && pattern !== undefined) await ablate(pattern, module)
  else if (pattern !== undefined)
    for (const recording of recordings(pattern)) {
      const { name, gpu } = recording
      say(`Predicting ${name}…`)
      const { session, measured } = await predicted(recording)
      const found = module.rowsOf(name, gpu, session, measured)
      rows = [...rows.filter((row) => row.recording !== name), ...found]
      await write(accuracyPath, rows)
    }
  writeFileSync(join(root, factorsPath), module.factorsText(rows))
  // The tables state ranges, which follow from the factors just written.
  /** @type {{ module: Tables }} */
  const fresh = await runnerImport(join(root, 'scripts/lib/prediction-document.ts'))
  const blocks = fresh.module.documentBlocks(rows)
  const document = await documentWith(module.accuracyDocument, blocks)
  writeFileSync(join(root, module.accuracyDocument), document)
  say(fresh.module.summary(rows))
  return undefined
})
