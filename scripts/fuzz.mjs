// @ts-check
/**
 * `npm run fuzz -- [--seconds N] [--reader NAME] [--seed S] [--again NUMBER] [--keep]`: feeds every reader with damaged inputs. A find
 * is printed with the seed and the number that make its input again, and becomes a case of the reader's own test.
 * `--keep` writes the counts that docs/RELIABILITY.md shows.
 */
import { writeFileSync } from 'node:fs'
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

await runScript(async () => {
  await ensureInstalled()
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      reader: { type: 'string' },
      again: { type: 'string' },
      keep: { type: 'boolean', default: false },
    },
  })
  const [seconds, seed] = [whole(values.seconds, 'seconds'), whole(values.seed, 'seed')]
  /** @type {{ module: typeof import('../test/fuzz/fuzz.ts') }} */
  const { module } = await runnerImport(join(root, 'test/fuzz/fuzz.ts'))
  const readers = module.readers.filter(({ name }) => [undefined, name].includes(values.reader))
  if (readers.length === 0)
    throw new PlainError(
      `There is no reader "${values.reader}": ${module.readers.map(({ name }) => name).join(', ')}.`,
      2,
    )
  const [only] = readers
  if (values.again !== undefined && only) {
    if (values.reader === undefined) throw new PlainError('--again needs --reader.', 2)
    const file = `fuzz-${seed}-${values.again}.bin`
    writeFileSync(file, module.inputOf(only, seed, whole(values.again, 'again')))
    say(`Wrote ${file}.`)
    return 0
  }
  say(`seed ${seed}, ${seconds} s`)
  let finds = 0
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
  if (values.keep)
    writeFileSync(
      join(root, 'test/fuzz/counts.json'),
      `${JSON.stringify({ seed, seconds, rows }, null, 2)}\n`,
    )
  return finds === 0 ? 0 : 1
})
