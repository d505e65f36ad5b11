// @ts-check
/**
 * `npm run fuzz -- [--seconds N] [--reader NAME] [--seed S] [--inputs N] [--json FILE] [--keep]
 * [--again NUMBER] [FILE…]` feeds damaged inputs to one reader after another. The script stops
 * after `--inputs` inputs per reader or when the time is up. For each bug, the script prints the
 * seed and the number that reproduce the input. Add the reproduced input to the reader's test.
 * `--keep` adds the counts to docs/evidence/reliability.md. Each FILE contains the counts of
 * another run, written with `--json`. `--keep` adds the counts in the FILEs too. Each run has its
 * own seed, so a long fuzzing run can be split over time and cores.
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
/** @typedef {{ seeds: number[], mostMiB: number, rows: Row[] }} Counts */

const countsFile = join(root, 'test/fuzz/counts.json')

/** @param {string} file @returns {Counts} */
const read = (file) => JSON.parse(readFileSync(file, 'utf8'))

/** @param {Row} a @param {Row} b @returns {Row} */
const added = (a, b) => ({
  reader: a.reader,
  inputs: a.inputs + b.inputs,
  refused: a.refused + b.refused,
  slowestMs: Math.max(a.slowestMs, b.slowestMs),
  finds: a.finds + b.finds,
})

/** @param {readonly string[]} names @param {readonly Counts[]} more */
function keep(names, more) {
  const all = [...(existsSync(countsFile) ? [read(countsFile)] : []), ...more]
  const seeds = all.flatMap((one) => one.seeds)
  const twice = seeds.find((seed, at) => seeds.indexOf(seed) < at)
  if (twice !== undefined)
    throw new PlainError(`The inputs of seed ${twice} are counted already: give another.`, 2)
  const rows = names.flatMap((name) => {
    const own = all.flatMap((one) => one.rows.filter(({ reader }) => reader === name))
    return own.length === 0 ? [] : [own.reduce(added)]
  })
  const mostMiB = Math.max(...all.map((one) => one.mostMiB))
  const counts = { seeds: seeds.sort((a, b) => a - b), mostMiB, rows }
  writeFileSync(countsFile, `${JSON.stringify(counts, null, 2)}\n`)
}

await runScript(async () => {
  await ensureInstalled()
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      inputs: { type: 'string', default: '999999999' },
      reader: { type: 'string' },
      again: { type: 'string' },
      json: { type: 'string' },
      keep: { type: 'boolean', default: false },
    },
  })
  /** @type {{ module: typeof import('../test/fuzz/fuzz.ts') }} */
  const { module } = await runnerImport(join(root, 'test/fuzz/fuzz.ts'))
  const names = module.readers.map(({ name }) => name)
  if (positionals.length > 0) {
    keep(names, positionals.map(read))
    return 0
  }
  const seed = whole(values.seed, 'seed')
  const readers = module.readers.filter(({ name }) => [undefined, name].includes(values.reader))
  const [only] = readers
  if (!only) throw new PlainError(`There is no reader "${values.reader}": ${names.join(', ')}.`, 2)
  if (values.again !== undefined) {
    if (values.reader === undefined) throw new PlainError('--again needs --reader.', 2)
    const file = `fuzz-${seed}-${values.again}.bin`
    writeFileSync(file, module.inputOf(only, seed, whole(values.again, 'again')))
    say(`Wrote ${file}.`)
    return 0
  }
  const [seconds, most] = [whole(values.seconds, 'seconds'), whole(values.inputs, 'inputs')]
  say(`seed ${seed}, ${seconds} s`)
  const tallies = await module.campaign(readers, { seed, seconds, most })
  for (const { reader, inputs, refused, slowestMs, finds } of tallies) {
    say(
      `${reader.padEnd(20)} ${String(inputs).padStart(8)} inputs, ${String(refused).padStart(8)} refused, slowest ${Math.round(slowestMs)} ms, ${finds.length} finds`,
    )
    for (const { number, what } of finds.slice(0, 5)) say(`  number ${number}: ${what}`)
  }
  /** @type {Counts} */
  const counts = {
    seeds: [seed],
    mostMiB: process.resourceUsage().maxRSS >> 10,
    rows: tallies.map((tally) => ({
      ...tally,
      slowestMs: Math.round(tally.slowestMs),
      finds: tally.finds.length,
    })),
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(counts)}\n`)
  if (values.keep) keep(names, [counts])
  return tallies.every(({ finds }) => finds.length === 0) ? 0 : 1
})
