/** No code is steered by a sentence: what is said is looked at by its key, and words are made at the edges. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readImports } from './imports'
import { isTest } from './sources'

const root = join(import.meta.dirname, '../..')

const said = '(?:reason|remedy|sentence|explanation|warnings?|statement|detail|headline)'
/** A comparison of what is said with words, or a search in it. */
const steered = [
  new RegExp(`(?<!typeof )\\b${said}\\b\\)?\\s*[!=]==\\s*['"\`]`),
  new RegExp(`['"\`]\\s*[!=]==\\s*[\\w.?]*\\b${said}\\b`),
  new RegExp(`\\b${said}\\)?!?\\??\\.(?:startsWith|endsWith|includes|indexOf|match|search)\\(`),
  new RegExp(`/\\w*\\.(?:test|exec)\\([^)]*\\b${said}\\b`),
  /inEnglish\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?:[!=]==\s*['"`]|\.(?:startsWith|endsWith|includes|match)\()/,
]

const faultsOf = (text: string): string[] =>
  text.split('\n').filter((line) => steered.some((pattern) => pattern.test(line)))

describe('the source', () => {
  const files = globSync(['src-main/**/*.ts', 'src-renderer/**/*.{ts,vue}'], { cwd: root }).filter(
    (file) => !isTest(file),
  )

  it('compares no sentence', () => {
    expect(files.length).toBeGreaterThan(300)
    const found = files.flatMap((file) =>
      faultsOf(readFileSync(join(root, file), 'utf8')).map((line) => `${file}: ${line.trim()}`),
    )
    expect(found).toEqual([])
  })

  it('recognizes a sentence in the upgrader from version 1 alone', () => {
    const importers = readImports(root)
      .filter(({ specifier }) => /\/(?:recognize|english-1)$/.test(specifier))
      .map(({ from }) => from)
    expect([...new Set(importers)].sort()).toEqual([
      'src-main/domain/session/upgrade/from-1.ts',
      'src-main/domain/session/upgrade/recognize.ts',
    ])
  })
})

describe('the rule', () => {
  it.each([
    `own.reason?.startsWith('Hung')`,
    `built.reason !== 'cancelled'`,
    `if ('cancelled' === built.reason)`,
    `/^Hung/.test(rung.reason)`,
    `inEnglish(rung.reason ?? '').includes('ncu')`,
    `inEnglish(why) === 'The run failed.'`,
    `session.warnings.includes('x')`,
  ])('refuses %s', (line) => {
    expect(faultsOf(line)).toEqual([line])
  })

  it.each([
    `says(own.reason, 'records.hung')`,
    `reason === undefined ? {} : { reason }`,
    `inEnglish(rung.reason ?? '')`,
    `const rate = kind === 'reason'`,
  ])('lets %s be', (line) => {
    expect(faultsOf(line)).toEqual([])
  })
})
