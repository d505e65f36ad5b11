// @ts-check
/**
 * `npm run prediction [-- PATTERN]` compares the timing model with the shipped recordings. It needs
 * nvcc. Predicting a recording takes minutes.
 *
 * The script predicts the rungs of all recordings whose names match PATTERN, at their recorded
 * sizes on their GPU. The script writes test/captures/prediction/accuracy.json, the ranges of all
 * classes, and the tables in docs/evidence/prediction.md. Without a pattern, the script only reads
 * the measured times of changed recordings again and writes the ranges and tables.
 *
 * `npm run prediction -- --ablate [PATTERN]` predicts the same rungs several times, each time
 * without one optional part of the model. The results are in test/captures/prediction/ablation.json
 * and in the ablation table.
 *
 * `npm run prediction -- --published [PATTERN]` predicts ladders on GPUs that were not measured but
 * have published figures. The results are in test/captures/prediction/published.json.
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

/** @param {string[]} command arguments for Node.js */
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

/** Returns the command-line options that select a problem. @param {any} problem */
const optionsOf = ({ sizes, scalars, options }) =>
  Object.entries({ ...sizes, ...scalars, ...options }).flatMap(([name, value]) => [
    `--${name}`,
    `${value}`,
  ])

/** @typedef {{ name: string, ladder: string, problem: any, gpu: string }} Recording */

/**
 * Returns the recordings whose names match the pattern.
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

/** Runs a command and returns the session that it creates. @param {string[]} command */
async function sessionOf(command) {
  const folder = mkdtempSync(join(tmpdir(), 'kl-prediction-'))
  try {
    const out = join(folder, 'session')
    await program([...command, '--out', out])
    return JSON.parse(readFileSync(join(out, 'session.json'), 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} name */
const measuredSession = async (name) =>
  JSON.parse(await program([cli, 'show', `recorded:${name}`, '--json']))

/**
 * Returns the predicted and the measured session.
 * @param {Recording} recording
 * @param {string[]} [predictor] Node.js arguments of the predicting program
 */
async function predicted({ name, ladder, problem, gpu }, predictor = [cli]) {
  const which = examples.has(ladder) ? join(root, 'resources/examples', ladder) : ladder
  const words = ['--ladder', which, '--trust', '--target', `predicted:${gpu}`]
  const { scalars, options, sizes } = problem
  const wanted = { sizes, scalars: ladder === 'attention' ? scalars : {}, options: {} }
  if (ladder === 'softmax') wanted.options = options
  const session = await sessionOf([...predictor, 'run', ...words, ...optionsOf(wanted)])
  return { session, measured: await measuredSession(name) }
}

/** @param {string} path of a JSON file, relative to the root */
const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))

/** @param {string} path @param {unknown} value */
const write = async (path, value) =>
  writeFileSync(join(root, path), await formatted(path, JSON.stringify(value)))

/**
 * Predicts recordings repeatedly, each time without one part of the model. Rows of other recordings
 * stay unchanged.
 * @param {string} pattern @param {Tables} module
 */
async function ablate(pattern, module) {
  // Build the program in this folder, because the program searches its parent folders for its
  // files.
  const ablated = await bundled('scripts/lib/ablated-program.ts', join(root, 'out/ablated'))
  for (const recording of recordings(pattern)) {
    /** @type {import('./lib/ablation-table.ts').AblatedRow[]} */
    const own = []
    for (const without of module.ablations) {
      say(`Predicting ${recording.name} without ${without}…`)
      const { session, measured } = await predicted(recording, [ablated, without])
      const found = module.rowsOf(recording.name, recording.gpu, session, measured)
      own.push(...found.map(({ stalls: _, ...row }) => ({ ...row, without })))
    }
    /** @type {import('./lib/ablation-table.ts').AblationFile} */
    const { rows } = read(module.ablationPath)
    const others = rows.filter((row) => row.recording !== recording.name)
    await write(module.ablationPath, { rows: [...others, ...own] })
  }
}

/** @param {string} pattern @param {Tables} module */
async function comparePublished(pattern, module) {
  for (const ladder of module.publishedLadders(root)) {
    if (!new RegExp(pattern).test(ladder.ladder)) continue
    say(`Predicting ${ladder.ladder} for ${ladder.gpu}…`)
    const rungs = ['--rungs', Object.keys(ladder.gflops).join(',')]
    const words = ['--ladder', ladder.ladder, ...rungs, '--target', `predicted:${ladder.gpu}`]
    const session = await sessionOf([cli, 'run', ...words, ...optionsOf({ sizes: ladder.size })])
    /** @type {PredictedRow[]} */
    const rows = read(module.publishedPath)
    const others = rows.filter((row) => row.ladder !== ladder.ladder)
    await write(module.publishedPath, [...others, ...module.publishedRows(ladder, session)])
  }
}

/** @param {string} pattern @param {Tables} module */
async function compareRecorded(pattern, module) {
  for (const recording of recordings(pattern)) {
    const { name, gpu } = recording
    say(`Predicting ${name}…`)
    const { session, measured } = await predicted(recording)
    const found = module.rowsOf(name, gpu, session, measured)
    /** @type {PredictedRow[]} */
    const rows = read(module.accuracyPath)
    const others = rows.filter((row) => row.recording !== name)
    await write(module.accuracyPath, [...others, ...found])
  }
}

/** Reads the measured times of the recordings again. @param {Tables} module */
async function measureAgain(module) {
  /** @type {{ [path: string]: PredictedRow[] }} */
  const files = {
    [module.accuracyPath]: read(module.accuracyPath),
    [module.ablationPath]: read(module.ablationPath).rows,
  }
  const names = new Set(Object.values(files).flatMap((rows) => rows.map((row) => row.recording)))
  const measured = new Map()
  for (const name of names) measured.set(name, await measuredSession(name))
  for (const [path, rows] of Object.entries(files)) {
    const fresh = [...names].flatMap((name) =>
      module.measuredAgain(
        rows.filter(({ recording }) => recording === name),
        measured.get(name),
      ),
    )
    await write(path, path === module.ablationPath ? { rows: fresh } : fresh)
  }
}

await runScript(async () => {
  await ensureInstalled()
  /** @type {{ module: Tables }} */
  const { module } = await runnerImport(join(root, 'scripts/lib/prediction-document.ts'))
  const words = process.argv.slice(2)
  const mode = words[0]?.startsWith('--') ? words.shift() : null
  const [pattern = null] = words
  await ensureBuilt(['cli'])
  if (mode === '--ablate') await ablate(pattern ?? module.ablatedRecordings, module)
  else if (mode === '--published') await comparePublished(pattern ?? '', module)
  else if (mode) throw new PlainError(`There is no option ${mode}: --ablate, --published.`, 2)
  else if (pattern !== null) await compareRecorded(pattern, module)
  else await measureAgain(module)
  /** @type {PredictedRow[]} */
  const rows = read(module.accuracyPath)
  writeFileSync(join(root, module.factorsPath), module.factorsText(rows))
  // Load the module again, because the ranges in the tables depend on the factors that were just
  // written.
  /** @type {{ module: Tables }} */
  const fresh = await runnerImport(join(root, 'scripts/lib/prediction-document.ts'))
  const others = [read(module.ablationPath), read(module.publishedPath)]
  const blocks = fresh.module.documentBlocks(rows, others[0], others[1])
  const document = await documentWith(module.accuracyDocument, blocks)
  writeFileSync(join(root, module.accuracyDocument), document)
  say(fresh.module.summary(rows))
  return undefined
})
