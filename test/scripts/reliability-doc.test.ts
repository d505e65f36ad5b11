/** docs/RELIABILITY.md and docs/SECURITY.md say what was measured, kept and locked. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lockedPackages, unaccepted } from '../../scripts/lib/licences.mjs'
import { reliabilityDoc, securityDoc } from '../../scripts/lib/reliability-doc.mjs'
import { readers } from '../fuzz/fuzz'

const root = join(import.meta.dirname, '../..')

it('the reliability is what `npm run readme -- reliability` writes', async () => {
  const text = readFileSync(join(root, 'docs/RELIABILITY.md'), 'utf8')
  expect(text).toBe(await reliabilityDoc())
  expect(text).toContain('| 1 %')
  for (const { name } of readers) expect(text).toContain(`| ${name} `)
})

describe('licences of dependencies', () => {
  it('are in docs/SECURITY.md, of all that package-lock.json has', async () => {
    const text = readFileSync(join(root, 'docs/SECURITY.md'), 'utf8')
    expect(text).toBe(await securityDoc())
    for (const path of Object.keys(lockedPackages()).filter((one) => one !== ''))
      expect(text).toContain(`\`${path.split('node_modules/').at(-1)}\``)
  })

  it('are accepted for the use that is made of each', () => {
    expect(unaccepted(lockedPackages())).toEqual([])
    expect(
      unaccepted({
        '': { license: 'GPL-3.0' },
        'node_modules/a': { license: 'GPL-3.0' },
        'node_modules/b': { license: 'MPL-2.0' },
        'node_modules/c': { license: 'MPL-2.0', dev: true },
        'node_modules/a/node_modules/@d/e': {},
        'node_modules/f': { license: '(GPL-2.0 OR MIT)' },
        'node_modules/g': { license: '(MIT AND GPL-2.0)', optional: true },
      }),
    ).toEqual(['a: GPL-3.0', 'b: MPL-2.0', '@d/e: not stated', 'g: (MIT AND GPL-2.0)'])
  })
})
