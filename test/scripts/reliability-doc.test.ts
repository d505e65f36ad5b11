/** docs/RELIABILITY.md and docs/SECURITY.md say what was measured, kept and locked. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { reliabilityDoc, securityDoc } from '../../scripts/lib/measured-docs.mjs'
import { readers } from '../fuzz/fuzz'

const root = join(import.meta.dirname, '../..')

it('the reliability is what `npm run readme -- reliability` writes', async () => {
  const text = readFileSync(join(root, 'docs/RELIABILITY.md'), 'utf8')
  expect(text).toBe(await reliabilityDoc())
  expect(text).toContain('| 1 %')
  for (const { name } of readers) expect(text).toContain(`| ${name} `)
})

/** Each may be passed on with a program under the MIT licence. */
const known = [
  'MIT',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'MPL-2.0',
  'PSF-2.0',
]

it('the licences are those of package-lock.json, and known', async () => {
  const text = readFileSync(join(root, 'docs/SECURITY.md'), 'utf8')
  expect(text).toBe(await securityDoc())
  const rows = text.split('<!-- licences:begin -->')[1]!.matchAll(/^\| (\S.*?) +\| `/gm)
  const licences = [...rows].map(([, licence]) => licence!)
  expect(licences).toContain('MIT')
  for (const licence of licences.flatMap((all) => all.replace(/[()]/g, '').split(/ AND | OR /)))
    expect(known).toContain(licence)
})
