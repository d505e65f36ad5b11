// @ts-check
/**
 * Measures how fast ncu files are parsed and how much memory parsing takes. Compares the table
 * parser with papaparse.
 */
import { readFileSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { root } from '../lib/project.mjs'
import { bundled, inScratch, median, megabytes, spread, worker } from './support.mjs'

const captures = join(root, 'test/captures/ncu/2025.3.1-h200')
const rounds = 5

/**
 * Writes a raw ncu page of `size` megabytes. The page repeats the rows of a captured page with new
 * ids.
 * @param {string} path @param {string} capture @param {number} size
 */
async function writeTable(path, capture, size) {
  /** @type {Record<string, { stdout: string }>} */
  const calls = JSON.parse(readFileSync(join(captures, '../../calls.json'), 'utf8'))[
    'ncu/2025.3.1-h200'
  ]
  const call = calls[capture]
  if (!call) throw new Error(`${captures} has no call ${capture}.`)
  const lines = call.stdout.split('\n').filter((line) => line.startsWith('"'))
  const [header, units, ...rows] = lines
  const file = await open(path, 'w')
  try {
    await file.write(`${header}\n${units}\n`)
    for (let bytes = 0, id = 0; bytes < size * 1e6; id += 1) {
      const row = `${rows[id % rows.length]?.replace(/^"\d+"/, `"${id}"`)}\n`
      await file.write(row)
      bytes += row.length
    }
  } finally {
    await file.close()
  }
}

export async function benchCsv() {
  await inScratch(async (folder) => {
    const parser = await bundled('src-main/parsers/ncu/ncu-csv-stream.ts', folder)
    const file = join(folder, 'table.csv')
    for (const capture of ['import-set-full', 'launches-two-rungs']) {
      await writeTable(file, capture, 100)
      /** @type {Record<'ours' | 'papaparse', any[]>} */
      const results = { ours: [], papaparse: [] }
      // Alternate the parsers, so that other load on the machine affects both.
      for (let round = 0; round < rounds; round += 1)
        for (const who of /** @type {const} */ (['ours', 'papaparse']))
          results[who].push(await worker(who === 'ours' ? 'csv' : who, [file, parser]))
      const rate = (/** @type {any[]} */ runs) => runs.map(({ seconds }) => 100 / seconds)
      const peak = (/** @type {any[]} */ runs) => megabytes(median(runs.map((r) => r.peakBytes)))
      const { ours, papaparse } = results
      console.log(
        `CSV of 100 MB, rows of ${ours[0].cells} metrics, median (min to max) of ${rounds}:`,
      )
      console.log(
        `  ours, every cell a number in its base unit: ${spread(rate(ours))} MB/s, peak ${peak(ours).toFixed(0)} MB`,
      )
      console.log(
        `  papaparse, every cell a string: ${spread(rate(papaparse))} MB/s, peak ${peak(papaparse).toFixed(0)} MB`,
      )
      const ratio = (/** @type {'seconds' | 'cpuSeconds'} */ by) =>
        spread(
          ours.map((run, round) => papaparse[round][by] / run[by]),
          2,
        )
      console.log(
        `  our speedup over papaparse, round by round: ${ratio('seconds')} in wall-clock time, ${ratio('cpuSeconds')} in CPU time`,
      )
      await writeTable(file, capture, 25)
      const small = []
      for (let round = 0; round < 3; round += 1) small.push(await worker('csv', [file, parser]))
      console.log(
        `  ours, peak memory: ${peak(small).toFixed(0)} MB at 25 MB, ${peak(ours).toFixed(0)} MB at 100 MB`,
      )
    }
  })
}

export async function benchReport() {
  await inScratch(async (folder) => {
    const parser = await bundled('src-main/parsers/ncu/ncu-rep.ts', folder)
    const file = join(folder, 'five-kernels.ncu-rep')
    const bytes = brotliDecompressSync(readFileSync(join(captures, 'five-kernels.ncu-rep.br')))
    await writeFile(file, bytes)
    const runs = []
    for (let round = 0; round < rounds; round += 1)
      runs.push(await worker('report', [file, parser]))
    const peaks = runs.map(({ peakBytes }) => megabytes(peakBytes))
    console.log(
      `Report of ${megabytes(bytes.length).toFixed(1)} MB (--set full, ${runs[0].launches} kernels, ${runs[0].metrics} metrics each): ${spread(
        runs.map(({ seconds }) => seconds * 1000),
      )} ms, peak ${median(peaks).toFixed(0)} MB, of which ${megabytes(median(runs.map((r) => r.beforeBytes))).toFixed(0)} MB before it; median (min to max) of ${rounds}`,
    )
  })
}
