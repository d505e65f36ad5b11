/** Tests the scripts for builds and benchmarks: stale targets and exceeded budgets. */
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inOrder } from '../../scripts/lib/build.mjs'
import { closingLine, countTests, thoroughTests } from '../../scripts/lib/test-report.mjs'
import { fromAscii85 } from '../../src-main/adapters/catalog/ascii85'
import { collectAssets, packAssets } from '../../scripts/vite/assets'
import { budget, budgetTally } from '../../scripts/bench/budgets.mjs'
import { inputState, isFresh, removeStamp, writeStamp } from '../../scripts/lib/freshness.mjs'
import { asAscii } from '../../scripts/vite/ascii'

describe('builds', () => {
  it('run once each, after the builds that they require', () => {
    expect(inOrder(['cli'])).toEqual(['renderer', 'report', 'cli'])
    expect(inOrder(['electron', 'cli'])).toEqual(['renderer', 'report', 'electron', 'cli'])
  })

  it('contain only ASCII, and evaluate to the same values as their sources', () => {
    const code =
      "[`µs · \u{1f600}`, '가'.length, 'é가\u{1f600}x'.replace(/[가-힣\u{1f600}]/gu, '-'), 'line\\u2028']"
    const plain = asAscii(code)
    expect(plain).toMatch(/^[\0-\x7f]*$/)
    expect(runInNewContext(plain)).toEqual(runInNewContext(code))
    expect(runInNewContext(plain)[2]).toBe('é--x')
  })

  describe('the asset pack', () => {
    it('contains the files of its folders, and returns them', () => {
      const root = mkdtempSync(join(tmpdir(), 'kernel-ladder-pack-'))
      try {
        mkdirSync(join(root, 'a/deep'), { recursive: true })
        writeFileSync(join(root, 'a/z.cu'), 'kernel é')
        writeFileSync(join(root, 'a/deep/bytes'), Buffer.from([0, 255, 10]))
        writeFileSync(join(root, 'a/profile.ncu-rep'), 'large')
        writeFileSync(join(root, 'a/.hidden'), '')
        writeFileSync(join(root, 'a/raw.jsonl.br'), brotliCompressSync('{}\n'))
        const files = collectAssets(root, ['a', 'absent'])
        expect(files.map(({ path }) => path)).toEqual(['a/deep/bytes', 'a/raw.jsonl.br', 'a/z.cu'])

        const { hash, text } = packAssets(files)
        const archive = brotliDecompressSync(fromAscii85(text), {
          params: { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 },
        })
        expect(createHash('sha256').update(archive).digest('hex')).toBe(hash)
        const start = 4 + archive.readUInt32LE()
        expect(JSON.parse(archive.toString('utf8', 4, start))).toEqual([
          { path: 'a/deep/bytes', size: 3, brotli: false },
          { path: 'a/raw.jsonl.br', size: 3, brotli: true },
          { path: 'a/z.cu', size: 9, brotli: false },
        ])
        expect([...archive.subarray(start, start + 3)]).toEqual([0, 255, 10])
        expect(archive.toString('utf8', start + 3)).toBe('{}\nkernel é')
        expect(packAssets(collectAssets(root, ['a'])).text).toBe(text)
      } finally {
        rmSync(root, { recursive: true })
      }
    })

    it('is not used in tests', async () => {
      expect((await import('virtual:kernel-ladder-assets')).default).toBeNull()
    })
  })

  describe('the summary line', () => {
    const report = { numPassedTests: 5, numFailedTests: 0, numPendingTests: 0, testResults: [] }

    it("adds up Vitest's counts", () => {
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

    it('does not count tests tagged as thorough as skipped', () => {
      const assertionResults = [{ tags: ['thorough'] }, { tags: [] }, {}]
      expect(thoroughTests({ testResults: [{ assertionResults }] })).toBe(1)
      expect(thoroughTests(undefined)).toBe(0)
    })

    it('never reports a failed run as a success', () => {
      expect(countTests(undefined, 1)).toEqual({ passed: 0, failed: 1, skipped: 0 })
      expect(countTests(report, 1).failed).toBe(1)
    })
  })
})

describe('up-to-date checks', () => {
  const target = {
    inputs: ['src', 'lock.json', 'absent'],
    except: /^src\/skipped$|\.ncu-rep$/,
    outputs: ['out/result.js'],
    stamp: 'out/result.stamp.json',
  }

  describe('a stamp', () => {
    let root = ''
    const put = (path: string, text: string) => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }

    beforeEach(() => {
      root = mkdtempSync(join(tmpdir(), 'kernel-ladder-stamp-'))
      put('src/a.ts', 'a')
      put('src/skipped/b.ts', 'b')
      put('src/big.ncu-rep', 'r')
      put('lock.json', '{}')
      put('out/result.js', 'built')
      writeStamp(root, target, inputState(root, target))
    })
    afterEach(() => {
      rmSync(root, { recursive: true })
    })

    it('is valid while nothing changes', () => {
      expect(isFresh(root, target)).toBe(true)
    })

    it.each([
      ['another content', 'src/a.ts', 'A'],
      ['a longer file', 'src/a.ts', 'aa'],
      ['a new file', 'src/deep/c.ts', 'c'],
      ['a single file', 'lock.json', '{"x":1}'],
    ])('is stale after %s', (_what, path, text) => {
      put(path, text)
      expect(isFresh(root, target)).toBe(false)
    })

    it('is stale after a file is removed', () => {
      rmSync(join(root, 'src/a.ts'))
      expect(isFresh(root, target)).toBe(false)
    })

    it('is stale if the result is missing', () => {
      rmSync(join(root, 'out/result.js'))
      expect(isFresh(root, target)).toBe(false)
    })

    it('is stale if the stamp is damaged or removed', () => {
      put('out/result.stamp.json', '{"listing":')
      expect(isFresh(root, target)).toBe(false)
      removeStamp(root, target)
      expect(isFresh(root, target)).toBe(false)
    })

    it('is valid with a new modification time and the same content', () => {
      utimesSync(join(root, 'src/a.ts'), 1, 1)
      expect(isFresh(root, target)).toBe(true)
      expect(isFresh(root, target)).toBe(true)
    })

    it('ignores excluded files', () => {
      put('src/skipped/b.ts', 'changed')
      put('src/big.ncu-rep', 'changed')
      expect(isFresh(root, target)).toBe(true)
    })

    it('created before a change makes the result stale', () => {
      const before = inputState(root, target)
      put('src/a.ts', 'changed while building')
      writeStamp(root, target, before)
      expect(isFresh(root, target)).toBe(false)
    })
  })
})

describe('budgets', () => {
  describe('a figure', () => {
    it('passes at its budget, and fails above it', () => {
      const { judge, summary } = budgetTally()
      const { most } = budget('interactive')
      expect(judge('interactive', most)).toBe('met, of 1000 ms')
      expect(judge('interactive', most + 1)).toBe('over, of 1000 ms')
      expect(summary().over).toBe(1)
    })

    it('that was not measured fails', () => {
      const { judge, summary } = budgetTally()
      judge('slowFrames', Number.NaN, 'ladder')
      expect(summary().over).toBe(1)
    })
  })

  it('the summary has one line per measurement, with the screen that was measured', () => {
    const { judge, summary } = budgetTally()
    judge('slowFrames', 0, 'ladder')
    judge('slowFrames', 3, 'matrix')
    judge('htmlSize', 1.166)
    expect(summary().lines).toEqual([
      'met   Frames over 32 ms, ladder: 0 of 0 frames',
      'over  Frames over 32 ms, matrix: 3 of 0 frames',
      'met   HTML report of 14 deep rungs: 1.17 of 2 MB',
    ])
  })
})
