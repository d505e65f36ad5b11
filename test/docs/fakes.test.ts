/** test/fakes/README.md names the faults and the variables that the fakes know, and no others. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const folder = join(import.meta.dirname, '../fakes')
const readme = readFileSync(join(folder, 'README.md'), 'utf8')
const code = readdirSync(folder)
  .filter((name) => name.endsWith('.mjs'))
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .join('\n')

const firstCells = (heading: string): string[] =>
  [
    ...readme
      .split(`## ${heading}`)[1]!
      .split('\n## ')[0]!
      .matchAll(/^\| `([^`]+)`/gm),
  ]
    .map(([, cell]) => cell!)
    .sort()

it('the faults', () => {
  const compared = [
    ...code.matchAll(/\bfault(?: ===|:) '([\w-]+)'/g),
    ...code.matchAll(/\(fault\) ?=== '([\w-]+)'/g),
    ...code.matchAll(/\bfault\?\.(?:startsWith|replace)\('([\w-]+):'/g),
  ].map(([, fault]) => fault!)
  const named = firstCells('Faults').map((fault) => fault.replace(/:<.*/, ''))
  expect(named).toEqual([...new Set(compared)].sort())
})

it('the variables', () => {
  const read = new Set([...code.matchAll(/\bFAKE_[A-Z_]+/g)].map(([name]) => `$${name}`))
  expect(firstCells('Variables')).toEqual([...read].sort())
})
