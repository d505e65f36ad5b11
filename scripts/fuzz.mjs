// @ts-check
/**
 * `npm run fuzz -- [--seconds N] [--reader NAME] [--seed S] [--again NUMBER] [--keep] [--fewest N]`: feeds every reader with damaged inputs. A find
 * is printed with the seed and the number that make its input again, and becomes a case of the reader's own test.
 * `--keep` adds the counts to those that docs/RELIABILITY.md shows, so that a long run can be made in pieces, each with a seed of
 * its own; `--fewest N` gives the time to the readers that have had fewer inputs than that.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runnerImport } from 'vite'
import { ensureInstalled } from './lib/install.mjs'
import { PlainError, root, runScript, say } from './lib/project.mjs'

/** @param {string} word @param {string} name */
function whole(word, name) {
  const value = /^\d{1,9}$/.test(word) ? Number(word) : NaN
  if (Number.isNaN(value)) throw new PlainError(`--${name} ${word} is not a whole number.`, 2)
  return value
}

/** @typedef {{ reader: string, inputs: number, refused: number, slowestMs: number, finds: number }} Row */

const countsFile = join(root, 'test/fuzz/counts.json')

/** @param {Row} a @param {Row} b @returns {Row} */
const added = (a, b) => ({
  reader: a.reader,
  inputs: a.inputs + b.inputs,
  refused: a.refused + b.refused,
  slowestMs: Math.max(a.slowestMs, b.slowestMs),
  finds: a.finds + b.finds,
})

await runScript(async () => {
  await ensureInstalled()
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      reader: { type: 'string' },
      again: { type: 'string' },
      keep: { type: 'boolean', default: false },
      fewest: { type: 'string' },
    },
  })
  const [seconds, seed] = [whole(values.seconds, 'seconds'), whole(values.seed, 'seed')]
  /** @type {{ module: typeof import('../test/fuzz/fuzz.ts') }} */
  const { module } = await runnerImport(join(root, 'test/fuzz/fuzz.ts'))
  /** @type {{ seeds: number[], rows: Row[] }} */
  const kept = existsSync(countsFile)
    ? JSON.parse(readFileSync(countsFile, 'utf8'))
    : { seeds: [], rows: [] }
  if (values.keep && kept.seeds.includes(seed))
    throw new PlainError(`The inputs of seed ${seed} are counted already: give another.`, 2)
  const before = (/** @type {string} */ name) =>
    kept.rows.find(({ reader }) => reader === name)?.inputs ?? 0
  const fewest = values.fewest === undefined ? Infinity : whole(values.fewest, 'fewest')
  const named = module.readers.filter(({ name }) => [undefined, name].includes(values.reader))
  const readers = named.filter(({ name }) => before(name) < fewest)
  if (named.length === 0)
    throw new PlainError(
      `There is no reader "${values.reader}": ${module.readers.map(({ name }) => name).join(', ')}.`,
      2,
    )
  const [only] = named
  if (values.again !== undefined && only) {
    if (values.reader === undefined) throw new PlainError('--again needs --reader.', 2)
    const file = `fuzz-${seed}-${values.again}.bin`
    writeFileSync(file, module.inputOf(only, seed, whole(values.again, 'again')))
    say(`Wrote ${file}.`)
    return 0
  }
  say(`seed ${seed}, ${seconds} s`)
  let finds = 0
  /** @type {Row[]} */
  const rows = []
  for (const reader of readers) {
    const end = performance.now() + (seconds * 1000) / readers.length
    const tally = await module.fuzz(reader, seed, () => performance.now() >= end)
    const { inputs, refused, slowestMs } = tally
    say(
      `${reader.name.padEnd(20)} ${String(inputs).padStart(8)} inputs, ${String(refused).padStart(8)} refused, slowest ${Math.round(slowestMs)} ms, ${tally.finds.length} finds`,
    )
    for (const { number, what } of tally.finds.slice(0, 5)) say(`  number ${number}: ${what}`)
    finds += tally.finds.length
    rows.push({
      reader: reader.name,
      inputs,
      refused,
      slowestMs: Math.round(slowestMs),
      finds: tally.finds.length,
    })
  }
  if (values.keep) {
    const sums = module.readers.flatMap(({ name }) => {
      const all = [...kept.rows, ...rows].filter(({ reader }) => reader === name)
      return all.length === 0 ? [] : [all.reduce(added)]
    })
    const counts = { seeds: [...kept.seeds, seed], rows: sums }
    writeFileSync(countsFile, `${JSON.stringify(counts, null, 2)}\n`)
  }
  return finds === 0 ? 0 : 1
})
