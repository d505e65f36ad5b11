import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { inOrder, sizeWarning } from '../../scripts/lib/build.mjs'
import { closingLine, countTests } from '../../scripts/lib/test-report.mjs'
import { collectAssets, packAssets } from '../../scripts/vite-asset-pack'

describe('builds', () => {
  it('come after what they need, each once', () => {
    expect(inOrder(['cli'])).toEqual(['renderer', 'report', 'cli'])
    expect(inOrder(['electron', 'cli'])).toEqual(['renderer', 'report', 'electron', 'cli'])
  })

  it('warn of a large program', () => {
    expect(sizeWarning(8 * 1024 * 1024)).toBeUndefined()
    expect(sizeWarning(9.5 * 1024 * 1024)).toContain('9.5 MB')
  })
})

describe('the asset pack', () => {
  it('holds the files of its folders, and gives them back', () => {
    const root = mkdtempSync(join(tmpdir(), 'kernel-ladder-pack-'))
    try {
      mkdirSync(join(root, 'a/deep'), { recursive: true })
      writeFileSync(join(root, 'a/z.cu'), 'kernel é')
      writeFileSync(join(root, 'a/deep/bytes'), Buffer.from([0, 255, 10]))
      writeFileSync(join(root, 'a/profile.ncu-rep'), 'large')
      writeFileSync(join(root, 'a/.hidden'), '')
      const files = collectAssets(root, ['a', 'absent'])
      expect(files.map(({ path }) => path)).toEqual(['a/deep/bytes', 'a/z.cu'])

      const { hash, base64 } = packAssets(files)
      const archive = brotliDecompressSync(Buffer.from(base64, 'base64'))
      expect(createHash('sha256').update(archive).digest('hex')).toBe(hash)
      const start = 4 + archive.readUInt32LE()
      expect(JSON.parse(archive.toString('utf8', 4, start))).toEqual([
        { path: 'a/deep/bytes', size: 3 },
        { path: 'a/z.cu', size: 9 },
      ])
      expect([...archive.subarray(start, start + 3)]).toEqual([0, 255, 10])
      expect(archive.toString('utf8', start + 3)).toBe('kernel é')
      expect(packAssets(collectAssets(root, ['a'])).base64).toBe(base64)
    } finally {
      rmSync(root, { recursive: true })
    }
  })

  it('is absent from tests', async () => {
    expect((await import('virtual:kernel-ladder-assets')).default).toBeNull()
  })
})

describe('the closing line', () => {
  const report = { numPassedTests: 5, numFailedTests: 0, numPendingTests: 0, testResults: [] }

  it('sums what Vitest counted', () => {
    const all = [countTests(report, 0), countTests({ ...report, numPassedTests: 2 }, 0)]
    expect(closingLine(all)).toBe('7 passed, 0 failed')
    expect(closingLine([countTests({ ...report, numPendingTests: 1, numTodoTests: 1 }, 0)])).toBe(
      '5 passed, 0 failed, 2 skipped',
    )
  })

  it('counts a file that could not be loaded as a failure', () => {
    const testResults = [{ status: 'failed', assertionResults: [] }]
    expect(countTests({ ...report, testResults }, 1).failed).toBe(1)
  })

  it('does not count a failed test twice', () => {
    const testResults = [{ status: 'failed', assertionResults: [{ status: 'failed' }] }]
    expect(countTests({ ...report, numFailedTests: 1, testResults }, 1).failed).toBe(1)
  })

  it('never calls a failed run a success', () => {
    expect(countTests(undefined, 1)).toEqual({ passed: 0, failed: 1, skipped: 0 })
    expect(countTests(report, 1).failed).toBe(1)
  })
})
