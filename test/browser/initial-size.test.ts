/** The page starts small: its first scripts keep to the budget, and the large libraries are not among them. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { budget } from '../../scripts/bench/budgets.mjs'
import { initialScripts } from '../../scripts/lib/initial-size.mjs'

const { files, libraries, kb } = initialScripts(join(import.meta.dirname, '../../out/renderer'))

it('the first scripts keep to their budget', () => {
  expect(files.length).toBeGreaterThan(0)
  expect(kb).toBeGreaterThan(20)
  expect(kb).toBeLessThanOrEqual(budget('initialScripts').most)
})

it('charts, editor and formulas come when they are asked for', () => {
  expect(libraries).toEqual([])
})
