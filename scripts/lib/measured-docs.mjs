// @ts-check
/**
 * Generates the tables in docs/evidence/reliability.md and docs/reference/security.md. The tables
 * show measurements on a GPU, fuzzing results, and licenses.
 */
import { join } from 'node:path'
import { existsSync, readFileSync } from 'node:fs'
import { documentWith } from './document.mjs'
import { licenceList } from './licences.mjs'
import { root } from './project.mjs'

/**
 * @typedef {{ id: string, verdict: string, byTimes?: string | null, ratio: number | null, interval: { low: number, high: number } | null }} Rung
 * @typedef {{ work?: number, ladder?: string, gpu: { name: string, driver: string }, rungs: Rung[] }} Line
 */

/** @param {string} path @returns {Line[]} */
const linesOf = (path) =>
  existsSync(join(root, path))
    ? readFileSync(join(root, path), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : []

/** @param {number} ratio */
const percent = (ratio) => {
  const size = Math.abs((ratio - 1) * 100).toFixed(2)
  return `${Number(size) === 0 ? '' : ratio < 1 ? '−' : '+'}${size} %`
}

/** @param {readonly string[][]} rows the first row is the header */
const table = ([header = [], ...rows]) =>
  [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const regressions = 'test/gpu/regress-h200.jsonl'
/** Only rows of deliberate slowdowns have the field `work`. */
const isPlanted = (/** @type {Line} */ { work }) => work !== undefined

/** @param {readonly Line[]} lines */
function plantedPart(lines) {
  const { gpu } = /** @type {Line} */ (lines[0])
  const levels = [...new Set(lines.map(({ work = 0 }) => work))].sort((a, b) => a - b)
  const rows = levels.map((level) => {
    const rungs = lines.filter(({ work }) => work === level).flatMap((line) => line.rungs)
    const count = (/** @type {string} */ verdict) =>
      String(rungs.filter((rung) => rung.verdict === verdict).length)
    const widest = Math.max(
      ...rungs.map(({ interval }) => (interval ? (interval.high - interval.low) * 50 : 0)),
    )
    return [
      `${(level - 1000) / 10} %`,
      String(rungs.length),
      ...['slower', 'unresolved', 'same', 'faster'].map(count),
      rungs.map(({ ratio }) => (ratio === null ? '–' : percent(ratio))).join(', '),
      `±${widest.toFixed(2)} %`,
    ]
  })
  const header = [
    'more work',
    'verdicts',
    'slower',
    'unresolved',
    'same',
    'faster',
    'measured',
    'widest interval',
  ]
  return `${gpu.name}, driver ${gpu.driver}, threshold 0.5 %, 24 rounds of 0.1 s per rung:\n\n${table([header, ...rows])}`
}

/** @param {readonly Line[]} lines */
function samePart(lines) {
  if (lines.length === 0) return 'No complete ladder with identical code has been measured yet.'
  const timed = lines.flatMap(({ rungs }) => rungs).filter(({ byTimes }) => byTimes)
  const share = (/** @type {string[]} */ ...wrong) => {
    const count = timed.filter(({ byTimes }) => wrong.includes(byTimes ?? '')).length
    return `${count} (${((100 * count) / timed.length).toFixed(1)} %)`
  }
  const names = [...new Set(lines.map(({ ladder = '' }) => ladder))]
  const rows = names.map((name) => {
    const rungs = lines.filter(({ ladder }) => ladder === name).flatMap((line) => line.rungs)
    return [
      `\`${name}\``,
      String(rungs.length),
      ...['same', 'unresolved', 'slower', 'faster'].map((verdict) =>
        String(rungs.filter(({ byTimes }) => byTimes === verdict).length),
      ),
    ]
  })
  const { gpu } = /** @type {Line} */ (lines[0])
  const judged = timed.filter(({ verdict }) => ['slower', 'faster'].includes(verdict)).length
  return [
    `${gpu.name}, driver ${gpu.driver}, 24 rounds. Based only on times, ${share('slower', 'faster')} of ${timed.length} verdicts are slower or faster, and ${share('unresolved')} are unresolved. Because both builds have the same machine code, ${judged} were reported as slower or faster.`,
    table([['ladder', 'verdicts', 'same', 'unresolved', 'slower', 'faster'], ...rows]),
  ].join('\n\n')
}

/**
 * Formats seeds as ranges, such as `1 to 16, 20`.
 * @param {readonly number[]} seeds in ascending order
 */
function ranges(seeds) {
  /** @type {[number, number][]} */
  const runs = []
  for (const seed of seeds) {
    const last = runs.at(-1)
    if (last && last[1] === seed - 1) last[1] = seed
    else runs.push([seed, seed])
  }
  return runs.map(([from, to]) => (from === to ? from : `${from} to ${to}`)).join(', ')
}

function fuzzPart() {
  /** @type {{ seeds: number[], mostMiB: number, rows: { reader: string, inputs: number, refused: number, slowestMs: number, finds: number }[] }} */
  const { seeds, mostMiB, rows } = JSON.parse(
    readFileSync(join(root, 'test/fuzz/counts.json'), 'utf8'),
  )
  const number = (/** @type {number} */ value) => value.toLocaleString('en-US')
  const total = rows.reduce((sum, { inputs }) => sum + inputs, 0)
  const finds = rows.reduce((sum, row) => sum + row.finds, 0)
  return `Seeds ${ranges(seeds)}: ${number(total)} inputs, ${finds} bugs, at most ${mostMiB} MiB of memory:\n\n${table(
    [
      ['reader', 'inputs', 'rejected with an error message', 'slowest', 'bugs'],
      ...rows.map((row) => [
        row.reader,
        number(row.inputs),
        number(row.refused),
        `${row.slowestMs} ms`,
        String(row.finds),
      ]),
    ],
  )}`
}

/**
 * Returns a table that shows the result of injecting each fault into each stage. A dash means that
 * the fault does not apply to the stage.
 */
function faultsPart() {
  /** @type {Record<string, Record<string, string[]>>} */
  const cells = JSON.parse(readFileSync(join(root, 'test/faults/matrix.json'), 'utf8'))
  const stages = Object.keys(cells)
  const faults = [...new Set(stages.flatMap((stage) => Object.keys(cells[stage] ?? {})))]
  const results = stages.flatMap((stage) => Object.values(cells[stage] ?? {}))
  const word = (/** @type {string[] | undefined} */ wrong) =>
    wrong === undefined
      ? '–'
      : wrong.length === 0
        ? 'passed'
        : wrong.join('; ').replace(/\s+/g, ' ')
  const held = results.filter((wrong) => wrong.length === 0).length
  return `${held} of ${results.length} passed:\n\n${table([
    ['fault', ...stages],
    ...faults.map((fault) => [fault, ...stages.map((stage) => word(cells[stage]?.[fault]))]),
  ])}`
}

/** @returns {Promise<string>} */
export const reliabilityDoc = () =>
  documentWith('docs/evidence/reliability.md', [
    ['planted', plantedPart(linesOf(regressions).filter(isPlanted))],
    ['same', samePart(linesOf(regressions).filter((line) => !isPlanted(line)))],
    ['faults', faultsPart()],
    ['fuzzing', fuzzPart()],
  ])

/** @returns {Promise<string>} */
export const securityDoc = () =>
  documentWith('docs/reference/security.md', [
    ['licences', licenceList(true)],
    ['development licences', licenceList(false)],
  ])
