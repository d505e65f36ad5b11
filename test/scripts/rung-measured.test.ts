/** What each rung's header says was measured of it, beside the recordings that say so. */
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { measuredHeaders } from '../../scripts/lib/rung-measured'
import { parseRungHeader } from '../../src-main/parsers/kernels/rung-header'
import { copyHeader, withMeasured } from '../../src-main/parsers/kernels/rung-header-edit'
import { recordingsDir, tempDir } from '../services/support'
import { gemm } from '../gemm'

const kernels = join(import.meta.dirname, '../../cuda-kernels')
const tile = 'gemm/05_thread_tile_2d.cu'

const measuredIn = (text: string): string =>
  /^\/\/ Measured on (?:.*\n\/\/ {3})*.*/m.exec(text)?.[0].replaceAll(/\n\/\/ +/g, ' ') ?? ''

/** A copy of the kernels, with one text of a rung replaced. */
async function kernelsWith(file: string, from: string, to: string): Promise<string> {
  const folder = join(await tempDir(), 'kernels')
  await cp(kernels, folder, { recursive: true })
  const text = await readFile(join(folder, file), 'utf8')
  expect(text).toContain(from)
  await writeFile(join(folder, file), text.replace(from, to))
  return folder
}

describe("what the rungs' headers say was measured", () => {
  it('is what the recordings hold', async () => {
    const headers = await measuredHeaders(kernels, recordingsDir)
    expect(headers.size).toBeGreaterThan(30)
    for (const [file, { text, wanted }] of headers)
      expect(text, `${file}: run \`npm run readme -- headers\``).toBe(wanted)
  })

  it('names GPU, problem, the rung before, the recording, and each expectation with its outcome', async () => {
    const { text } = (await measuredHeaders(kernels, recordingsDir)).get(tile)!
    const { rungs } = JSON.parse(
      await readFile(join(recordingsDir, 'gemm-fp32-h200-4096/session.json'), 'utf8'),
    ) as { rungs: { id: string; timing: { medianMs: number } }[] }
    const ms = (id: string) => rungs.find((rung) => rung.id === id)!.timing.medianMs.toFixed(2)
    const words = measuredIn(text)
    expect(words).toContain(
      'Measured on an NVIDIA H200 at 4096^3 f32 after 04_thread_tile_1d (gemm-fp32-h200-4096): ' +
        `time ${ms('04_thread_tile_1d')} ms -> ${ms('05_thread_tile_2d')} ms`,
    )
    for (const { metric } of parseRungHeader(text, tile, gemm).expect)
      expect(words).toContain(metric)
    expect(words).toContain('registersPerThread 32 -> 128 registers (up as expected)')
  })

  it('takes a counter that the recording lacks from another of the same run, and says which', async () => {
    const recordings = await tempDir()
    for (const name of ['gemm-fp32-h200-4096', 'gemm-fp32-h200-4096-deep'])
      await cp(join(recordingsDir, name), join(recordings, name), { recursive: true })
    const file = join(recordings, 'gemm-fp32-h200-4096', 'session.json')
    const session = JSON.parse(await readFile(file, 'utf8')) as {
      rungs: { metrics: Record<string, unknown> }[]
    }
    for (const { metrics } of session.rungs) delete metrics.sharedLoadWavefronts
    await writeFile(file, JSON.stringify(session))
    const { wanted } = (await measuredHeaders(kernels, recordings)).get('gemm/11_warp_tile.cu')!
    expect(measuredIn(wanted)).toMatch(
      /sharedLoadWavefronts .* -> .* \(down as expected\) in gemm-fp32-h200-4096-deep;/,
    )
  })

  it('says how an expectation failed', async () => {
    const folder = await kernelsWith(tile, 'sharedLoads down', 'sharedLoads up')
    const { wanted } = (await measuredHeaders(folder, recordingsDir)).get(tile)!
    expect(measuredIn(wanted)).toMatch(/sharedLoads \S+ M -> \S+ M \(expected up, went down\)/)
  })

  it('says so where the code is no longer the one measured, and not for a comment', async () => {
    const code = await kernelsWith(tile, '#include', '#define CHANGED\n#include')
    const changed = await measuredHeaders(code, recordingsDir)
    expect(measuredIn(changed.get(tile)!.wanted)).toContain(
      '(gemm-fp32-h200-4096, before the code of 05_thread_tile_2d changed)',
    )
    expect(measuredIn(changed.get('gemm/06_float4.cu')!.wanted)).toContain(
      'before the code of 05_thread_tile_2d changed',
    )
    const comment = await kernelsWith(tile, '#include', '// A remark.\n#include')
    const same = (await measuredHeaders(comment, recordingsDir)).get(tile)!
    expect(same.wanted).toBe(same.text)
  })

  it('is no key of the header, stays one when written again, and does not go into a copy', async () => {
    const text = await readFile(join(kernels, tile), 'utf8')
    const without = withMeasured(text, null)
    expect(without).not.toContain('Measured on')
    expect(parseRungHeader(text, tile, gemm)).toEqual(parseRungHeader(without, tile, gemm))
    const words = `Measured on a GPU: ${'time 1.00 ms -> 2.00 ms; '.repeat(20)}end`
    const once = withMeasured(without, words)
    expect(withMeasured(once, words)).toBe(once)
    expect(measuredIn(once)).toBe(`// ${words}`)
    expect(Math.max(...measuredLines(once))).toBeLessThanOrEqual(110)
    const copy = copyHeader(text, { rung: 'x', title: 'x', after: '05_thread_tile_2d', idea: 'x' })
    expect(copy).not.toContain('Measured on')
    expect(copy).toContain('// @param   TN 8 {4,8}\n// @dtype   f32\n\n#include')
  })
})

const measuredLines = (text: string): number[] =>
  /^\/\/ Measured on (?:.*\n\/\/ {3})*.*/m
    .exec(text)![0]
    .split('\n')
    .map(({ length }) => length)
