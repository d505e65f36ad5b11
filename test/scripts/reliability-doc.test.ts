/** docs/RELIABILITY.md says what was measured and kept. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { reliabilityDoc } from '../../scripts/lib/reliability-doc.mjs'
import { readers } from '../fuzz/fuzz'

const root = join(import.meta.dirname, '../..')

it('is what `npm run readme -- reliability` writes', async () => {
  const text = readFileSync(join(root, 'docs/RELIABILITY.md'), 'utf8')
  expect(text).toBe(await reliabilityDoc())
  expect(text).toContain('| 1 %')
  for (const { name } of readers) expect(text).toContain(`| ${name} `)
})
