import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inputState, isFresh, removeStamp, writeStamp } from '../../scripts/lib/stamp.mjs'

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

  it('holds while nothing changes', () => {
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

  it('is stale after a file has gone', () => {
    rmSync(join(root, 'src/a.ts'))
    expect(isFresh(root, target)).toBe(false)
  })

  it('is stale when the result has gone', () => {
    rmSync(join(root, 'out/result.js'))
    expect(isFresh(root, target)).toBe(false)
  })

  it('is stale when it is damaged or removed', () => {
    put('out/result.stamp.json', '{"listing":')
    expect(isFresh(root, target)).toBe(false)
    removeStamp(root, target)
    expect(isFresh(root, target)).toBe(false)
  })

  it('holds over a new time with the same content', () => {
    utimesSync(join(root, 'src/a.ts'), 1, 1)
    expect(isFresh(root, target)).toBe(true)
    expect(isFresh(root, target)).toBe(true)
  })

  it('does not look at what is left out', () => {
    put('src/skipped/b.ts', 'changed')
    put('src/big.ncu-rep', 'changed')
    expect(isFresh(root, target)).toBe(true)
  })

  it('taken before a change leaves the result stale', () => {
    const before = inputState(root, target)
    put('src/a.ts', 'changed while building')
    writeStamp(root, target, before)
    expect(isFresh(root, target)).toBe(false)
  })
})
