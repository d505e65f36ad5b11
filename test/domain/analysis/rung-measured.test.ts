/** Tests the recorded measurements of a rung, which are derived from recordings on demand. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readCatalog } from '../../../src-main/adapters/catalog/catalog'
import { readSources } from '../../../src-main/adapters/sessions/session-sources'
import {
  measuredOf,
  measuredWords,
  type MeasuredRecording,
  type RungToday,
} from '../../../src-main/domain/analysis/rung-measured'
import { measuredRungs, readSameCode } from '../../../src-main/services/sessions/measured'
import { listRecordings, readRecordings } from '../../../src-main/services/sessions/recordings'
import { recordingsDir, root, rung, tempDir } from '../../services/support'
import { resolveLadder } from '../../../src-main/services/catalog/resolve'
import { copyHeader } from '../../../src-main/parsers/kernels/rung-header-edit'

const kernelsDir = join(root, 'cuda-kernels')
const catalog = await readCatalog(kernelsDir)
const file = catalog.ladders.find(({ id }) => id === 'gemm-fp32')!
const ladder = resolveLadder(catalog, file)
const today = new Map<string, RungToday>(
  [...catalog.rungs].map(([id, { header, file, text }]) => [
    id,
    { id, file, text, params: header.params },
  ]),
)
const recordings: MeasuredRecording[] = await Promise.all(
  (await readRecordings(recordingsDir)).map(async ({ name, folder, session }) => ({
    name,
    session,
    sources: (await readSources(folder, session)).texts,
  })),
)
const at4096 = recordings.find(({ name }) => name === 'gemm-fp32-h200-4096')!
const tile = '05_thread_tile_2d'
const alike = await readSameCode(recordingsDir)
const measured = measuredOf(ladder, today, recordings, alike)

/** Returns a setup with the built-in recordings and an empty cache. */
const keeping = async () => ({
  assets: { recordingsDir },
  machine: { folders: { cache: await tempDir() } },
})

/** Returns the rung library with one string in a rung's source replaced. */
const edited = (id: string, from: string, to: string): Map<string, RungToday> => {
  const source = today.get(id)!
  expect(source.text).toContain(from)
  return new Map(today).set(id, { ...source, text: source.text.replace(from, to) })
}

describe("a rung's measurements", () => {
  it('include the GPU, problem, previous rung, and recording, and each expectation with its outcome', () => {
    const [then, now] = ['04_thread_tile_1d', tile].map((id) => rung(at4096.session, id))
    expect(measured[tile]).toMatchObject({
      recording: 'gemm-fp32-h200-4096',
      device: 'NVIDIA H200',
      medianMs: now!.timing!.medianMs,
      before: { id: '04_thread_tile_1d', medianMs: then!.timing!.medianMs, params: {} },
      reference: { to: '00_cublas', ratio: now!.timing!.ratioToReference, alone: null },
      changed: [],
    })
    const { expect: expected } = catalog.rungs.get(tile)!.header
    expect(measured[tile]!.steps.map(({ metric }) => metric)).toEqual(
      expected.map(({ metric }) => metric),
    )
    for (const { metric, from, to } of measured[tile]!.steps) {
      expect(from).toBe(then!.metrics[metric]!.value)
      expect(to).toBe(now!.metrics[metric]!.value)
    }
    const words = measuredWords(measured[tile]!)
    expect(words).toContain(
      'NVIDIA H200 at 4096³ f32 after 04_thread_tile_1d (gemm-fp32-h200-4096, L2 cold): ' +
        `time ${then!.timing!.medianMs.toFixed(2)} ms → ${now!.timing!.medianMs.toFixed(2)} ms (`,
    )
    expect(words).toContain('registersPerThread 32 → 128 registers (up as expected)')
  })

  it('are cached until a rung, a recording, or the program changes', async () => {
    const setup = await keeping()
    const file = join(setup.machine.folders.cache, 'measured', 'gemm-fp32.json')
    const first = await measuredRungs(setup, catalog, ladder.id)
    const kept = JSON.parse(await readFile(file, 'utf8')) as { key: string; answer: typeof first }
    expect(kept.answer).toEqual(first)
    // Change the cached value, to prove that the cache is used.
    kept.answer[tile]!.device = 'kept'
    await writeFile(file, JSON.stringify(kept))
    expect((await measuredRungs(setup, catalog, ladder.id))[tile]!.device).toBe('kept')
    const source = catalog.rungs.get(tile)!
    const text = source.text.replace('#include', 'int changed;\n#include')
    const rungs = new Map(catalog.rungs).set(tile, { ...source, text })
    const changed = await measuredRungs(setup, { ...catalog, rungs }, ladder.id)
    expect(changed[tile]).toMatchObject({ device: 'NVIDIA H200', changed: [tile] })
  })

  it('do not require a readable or writable cache', async () => {
    const setup = await keeping()
    const folder = join(setup.machine.folders.cache, 'measured')
    await writeFile(folder, 'a file where the folder would be')
    const found = await measuredRungs(setup, catalog, ladder.id)
    expect(found[tile]).toEqual(measured[tile])
  })

  it('exist for every rung of every shipped ladder that has a recording, with the ladder’s parameters', async () => {
    const [listed, setup] = [await listRecordings(recordingsDir), await keeping()]
    for (const each of catalog.ladders) {
      const found = await measuredRungs(setup, catalog, each.id)
      expect(Object.keys(found)).toEqual(each.rungs.map(({ id, as }) => as ?? id))
      const own = listed.filter(({ summary }) => summary.ladder.id === each.id)
      for (const { recording } of Object.values(found))
        expect(own.map(({ name }) => name)).toContain(recording)
    }
  })

  it("take a missing counter from another recording of the same problem, with that recording's name", () => {
    const without = structuredClone(at4096)
    for (const { metrics } of without.session.rungs) delete metrics['sharedLoadWavefronts']
    const deep = recordings.find(({ name }) => name === 'gemm-fp32-h200-4096-deep')!
    const found = measuredOf(ladder, today, [deep, without], alike)['08_warp_tile']!
    expect(found.recording).toBe('gemm-fp32-h200-4096')
    expect(measuredWords(found)).toMatch(
      /sharedLoadWavefronts .* → .* \(down as expected\) in gemm-fp32-h200-4096-deep(;|$)/,
    )
    const alone = measuredOf(ladder, today, [without], alike)['08_warp_tile']!
    expect(measuredWords(alone)).toContain('sharedLoadWavefronts not collected')
  })

  it('describe how an expectation failed', () => {
    const rungs = ladder.rungs.map((one) =>
      one.id === tile
        ? {
            ...one,
            header: {
              ...one.header,
              expect: [{ metric: 'sharedLoads', direction: 'up' as const }],
            },
          }
        : one,
    )
    const found = measuredOf({ ...ladder, rungs }, today, recordings, alike)[tile]!
    expect(found.steps[0]).toMatchObject({ expected: 'up', met: false, moved: 'down' })
    expect(measuredWords(found)).toMatch(/sharedLoads \S+ M → \S+ M \(expected up, went down\)/)
  })

  it('report changed code in the rung and in the next rung', () => {
    const changed = measuredOf(
      ladder,
      edited(tile, '#include', '#define CHANGED\n#include'),
      recordings,
      alike,
    )
    expect(changed[tile]!.changed).toEqual([tile])
    expect(changed['06_float4']!.changed).toEqual([tile])
    expect(changed['08_half_block']!.changed).toEqual([])
    expect(measuredWords(changed['06_float4']!)).toContain(
      '(gemm-fp32-h200-4096, L2 cold, before the code of 05_thread_tile_2d changed)',
    )
  })

  it('ignore comment changes', () => {
    expect(Object.values(measured).flatMap(({ changed }) => changed)).toEqual([])
    for (const remark of ['// A remark.\n#include', '  // An indented remark.\n#include']) {
      const remarked = measuredOf(ladder, edited(tile, '#include', remark), recordings, alike)
      expect(remarked[tile]!.changed).toEqual([])
    }
  })

  it('do not exist for a ladder that has no recording', async () => {
    expect(measuredOf({ ...ladder, id: 'another' }, today, recordings, alike)).toEqual({})
    expect(await measuredRungs(await keeping(), catalog, 'another')).toEqual({})
  })
})

describe('rung sources', () => {
  it('contain no measurements, and no script writes to them', async () => {
    for (const { file, text } of catalog.rungs.values())
      expect(text, file).not.toMatch(/^\/\/ Measured on /m)
    const scripts = (await readdir(join(root, 'scripts'), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && /\.(mjs|ts)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
    expect(scripts.length).toBeGreaterThan(10)
    // The listed scripts are exempt, because they write only to other folders.
    const foldersOfTheirOwn = [
      'keep-emulation.ts',
      'kernels.mjs',
      'keep-recording.ts',
      'agents-doc.mjs',
      'npm-package.mjs',
      'recipes.mjs',
    ]
    for (const script of scripts) {
      const text = await readFile(script, 'utf8')
      if (/cuda-kernels(?!\/README)/.test(text) && !foldersOfTheirOwn.includes(basename(script)))
        expect(text, script).not.toMatch(/writeFile|cpSync|\bcp\(/)
    }
  })

  it('from older sessions contain measurements, which are not copied', () => {
    const recorded = at4096.sources[tile]!
    const copy = copyHeader(recorded, { rung: 'x', title: 'x', after: tile, idea: 'x' })
    expect(copy).not.toContain('Measured on')
    expect(copy).toContain('// @param   TN 8 {4,8}\n// @dtype   f32\n\n#include')
  })
})
