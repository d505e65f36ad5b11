// @ts-check
/**
 * `npm run readme [-- figures|pictures|reference|causes|reliability|agents|library|emulation|bits]`
 * writes the generated parts of the documents.
 *
 * - README.md and docs/evidence/results.md: runs and screenshots of the UI.
 * - docs/reference/metrics.md and other reference documents: the tables of the registries.
 * - docs/evidence/why.md: the causes of recorded steps.
 * - docs/evidence/emulation.md: the emulator's counts compared with a GPU's, and the instruction
 *   bits without effect.
 *
 * Long tables have separate pages in docs/evidence/tables and docs/reference/tables.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runnerImport } from 'vite'
import { ensureBuilt } from './lib/build.mjs'
import { documentWith } from './lib/document.mjs'
import { reliabilityDoc, securityDoc } from './lib/measured-docs.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { PlainError, root, runScript, say } from './lib/project.mjs'
import { show, signedIn, startBrowser, startServer } from './lib/pictures.mjs'
import { referenceDocs } from './lib/reference-docs.mjs'
import { staged, wordsOf } from './lib/screens.mjs'
import { emulatedOutput, figureDocs } from './lib/figure-docs.mjs'
import { smaller } from './lib/png.mjs'

const program = join(root, 'dist/cli/kernel-ladder.mjs')
/** @param {string[]} args @returns {Promise<string>} */
function output(args) {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [program, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk))
    child.on('close', (code) => {
      if (code === 0) done(text)
      else failed(new PlainError(`kernel-ladder ${args.join(' ')} ended with exit code ${code}.`))
    })
  })
}

async function writeFigures() {
  await ensureBuilt(['cli'])
  for (const [path, text] of await figureDocs(output)) writeFileSync(join(root, path), text)
  const folder = mkdtempSync(join(tmpdir(), 'kernel-ladder-emulated-'))
  try {
    const part = await emulatedOutput(output, join(folder, 'counts'))
    writeFileSync(join(root, 'README.md'), await documentWith('README.md', [['emulated', part]]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  /** @type {{ module: typeof import('./lib/recorded-ladders.ts') }} */
  const { module } = await runnerImport(join(root, 'scripts/lib/recorded-ladders.ts'))
  const recorded = await module.recordedLadders(join(root, 'resources/recordings'))
  /** @type {{ module: typeof import('./lib/library-times.ts') }} */
  const times = await runnerImport(join(root, 'scripts/lib/library-times.ts'))
  for (const [path, part] of times.module.libraryTimesParts(root))
    writeFileSync(join(root, path), await documentWith(path, [['library-times', part]]))
  const published = module.publishedFigures(root)
  const occupancy = await runnerImport(join(root, 'scripts/lib/published-occupancy.ts'))
  /** @type {typeof import('./lib/published-occupancy.ts')} */
  const { occupancyPart, builtForRtx3090 } = occupancy.module
  const rtx3090 = published.get('seed-rtx3090')
  if (rtx3090 === undefined) throw new PlainError('seed-rtx3090 has no published figures.')
  const results = await documentWith('docs/evidence/results.md', [
    ['ladders', module.laddersPart(recorded)],
    ['published', module.publishedPart(recorded, published)],
    ['published-occupancy', occupancyPart(rtx3090, builtForRtx3090(root))],
  ])
  writeFileSync(join(root, 'docs/evidence/results.md'), results)
  say(
    'Wrote the output of runs in README.md, docs/guides/ladders.md, docs/evidence/results.md, docs/evidence/tables/runs.md and docs/guides/tuning.md.',
  )
}

/**
 * Visitors to the GitHub page download every image. The images therefore use the light theme, the
 * smallest supported window width, and small files.
 */
const limitBytes = 300_000

async function takePictures() {
  const place = '/session/recorded:gemm-fp32-h200-4096'
  /** @type {Record<string, import('./lib/screens.mjs').Screen>} */
  const pictures = {
    ladder: { route: `${place}/ladder`, ready: 'canvas' },
    compare: { route: `${place}/compare/02_coalesced/03_shared_tile`, ready: '.cm-line' },
    sass: {
      route: `${place}-deep/compare/05_thread_tile_2d/06_float4`,
      ready: '.cm-line',
      act: (page) => page.keyboard.press('s'),
    },
    lab: /** @type {import('./lib/screens.mjs').Screen} */ (staged['lab-recorded']),
  }
  const server = await startServer()
  const browser = await startBrowser()
  try {
    const { page } = await signedIn(browser, server.address, {
      viewport: { width: 1280, height: 800 },
      colorScheme: 'light',
      locale: 'en',
    })
    for (const [name, screen] of Object.entries(pictures)) {
      await show(page, server.address, screen, tmpdir(), wordsOf('en'))
      const picture = smaller(await page.screenshot())
      if (picture.length > limitBytes)
        throw new PlainError(
          `The screenshot ${name} is ${picture.length} bytes; the limit is ${limitBytes}.`,
        )
      writeFileSync(join(root, `docs/images/${name}.png`), picture)
    }
    say('Took the screenshots for README.md, docs/evidence/why.md and docs/guides/labs.md.')
  } finally {
    await browser.close()
    await server.stop()
  }
}

async function writeReference() {
  /** @type {{ module: typeof import('./lib/registries.ts') }} */
  const { module } = await runnerImport(join(root, 'scripts/lib/registries.ts'))
  const texts = await referenceDocs(module.registries)
  for (const [path, text] of texts) writeFileSync(join(root, path), text)
  say(`Wrote the tables in ${[...texts.keys()].join(', ')}.`)
}

async function writeCauses() {
  /** @type {{ module: typeof import('./lib/judged-causes.ts') }} */
  const { module } = await runnerImport(join(root, 'scripts/lib/judged-causes.ts'))
  const recorded = await module.recordedSteps(join(root, 'resources/recordings'))
  const written = module.causesParts(recorded, module.readJudged(root))
  for (const [path, part] of written)
    writeFileSync(join(root, path), await documentWith(path, [['causes', part]]))
  say(`Wrote the causes in ${written.map(([path]) => path).join(' and ')}.`)
}

async function writeReliability() {
  writeFileSync(join(root, 'docs/evidence/reliability.md'), await reliabilityDoc())
  writeFileSync(join(root, 'docs/reference/security.md'), await securityDoc())
  say('Wrote the tables in docs/evidence/reliability.md and docs/reference/security.md.')
}

async function writeAgents() {
  await ensureBuilt(['package'])
  const dir = mkdtempSync(join(tmpdir(), 'kernel-ladder-agents-'))
  try {
    const { agentsDoc } = await import('./lib/agents-doc.mjs')
    const { text } = await agentsDoc(join(root, 'dist/package/lib/kernel-ladder.js'), dir)
    writeFileSync(join(root, 'docs/guides/agents.md'), text)
    say('Wrote the conversations in docs/guides/agents.md.')
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function writeEmulation() {
  /** @type {{ module: typeof import('./lib/emulation-table.ts') }} */
  const { module } = await runnerImport(join(root, 'scripts/lib/emulation-table.ts'))
  const table = await documentWith(module.countersPath, [['counters', module.emulationTable()]])
  writeFileSync(join(root, module.countersPath), table)
  const summary = module.countersSummary(table)
  const text = await documentWith(module.emulationPath, [['counters', summary]])
  writeFileSync(join(root, module.emulationPath), text)
  say(`Compared the emulator with a GPU in ${module.countersPath} and ${module.emulationPath}.`)
}

async function writeBits() {
  /** @type {{ module: typeof import('./lib/flips-doc.ts') }} */
  const { module } = await runnerImport(join(root, 'scripts/lib/flips-doc.ts'))
  const path = 'docs/evidence/emulation.md'
  const text = await documentWith(path, [['bits', module.bitsPart(module.flipAll())]])
  writeFileSync(join(root, path), text)
  say('Wrote the bits without effect in docs/evidence/emulation.md.')
}

async function writeLibrary() {
  const { libraryDocs } = await import('./lib/library-doc.mjs')
  const texts = await libraryDocs()
  for (const [path, text] of texts) writeFileSync(join(root, path), text)
  say(`Wrote the pages of the library: ${[...texts.keys()].join(' and ')}.`)
}

const parts = {
  figures: writeFigures,
  pictures: takePictures,
  reference: writeReference,
  causes: writeCauses,
  reliability: writeReliability,
  agents: writeAgents,
  library: writeLibrary,
  emulation: writeEmulation,
  bits: writeBits,
}

await runScript(async () => {
  await ensureInstalled()
  const what = process.argv[2]
  for (const [name, write] of Object.entries(parts))
    if (what === undefined || what === name) await write()
  if (what !== undefined && !(what in parts))
    throw new PlainError(`readme knows ${Object.keys(parts).join(', ')}, not ${what}.`)
  return undefined
})
