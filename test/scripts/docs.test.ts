/** Tests that reference documents match the registries. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lockedPackages, unaccepted } from '../../scripts/lib/licences.mjs'
import { between } from '../../scripts/lib/document.mjs'
import { registries } from '../../scripts/lib/registries'
import { referenceDocs } from '../../scripts/lib/reference-docs.mjs'
import * as metrics from '../../src-main/domain/metrics/metrics'
import { reliabilityDoc, securityDoc } from '../../scripts/lib/measured-docs.mjs'
import { readers } from '../fuzz/fuzz'

const root = join(import.meta.dirname, '../..')

describe('the reference documents', () => {
  it('match the output of `npm run readme -- reference`', async () => {
    const texts = await referenceDocs(registries)
    expect([...texts.keys()]).toContain('docs/reference/metrics.md')
    for (const [path, text] of texts)
      expect(readFileSync(join(root, path), 'utf8'), path).toBe(text)
  })

  it('have one heading per metric, so that other pages can link to each metric', () => {
    const text = readFileSync(join(root, 'docs/reference/tables/metrics.md'), 'utf8')
    const headings = new Set(text.match(/^### .+$/gm))
    for (const { id } of metrics.metricDefinitions) expect(headings).toContain(`### ${id}`)
  })
})

describe('a generated part', () => {
  const text = 'Before.\n\n<!-- gpus:begin -->\nold\n<!-- gpus:end -->\n\nAfter.\n'

  it('replaces only the text between its markers', () => {
    expect(between(text, 'gpus', 'new $1')).toBe(
      'Before.\n\n<!-- gpus:begin -->\n\nnew $1\n\n<!-- gpus:end -->\n\nAfter.\n',
    )
  })

  it('is rejected if its markers are missing', () => {
    expect(() => between(text, 'metrics', 'new')).toThrow('metrics')
  })
})

// Tests that docs/evidence/reliability.md and docs/reference/security.md match the stored
// measurements and locked packages.

it('the reliability document matches the output of `npm run readme -- reliability`', async () => {
  const text = readFileSync(join(root, 'docs/evidence/reliability.md'), 'utf8')
  expect(text).toBe(await reliabilityDoc())
  expect(text).toContain('| 1 %')
  for (const { name } of readers) expect(text).toContain(`| ${name} `)
})

describe('licenses of dependencies', () => {
  it('are listed in docs/reference/security.md for all packages in package-lock.json', async () => {
    const text = readFileSync(join(root, 'docs/reference/security.md'), 'utf8')
    expect(text).toBe(await securityDoc())
    for (const path of Object.keys(lockedPackages()).filter((one) => one !== ''))
      expect(text).toContain(`\`${path.split('node_modules/').at(-1)}\``)
  })

  it("are acceptable for each package's use", () => {
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
