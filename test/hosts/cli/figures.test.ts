/** The figures of the documents are what the command line prints of the recordings. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { figureDocs } from '../../../scripts/lib/figure-docs.mjs'
import { root } from '../../services/support'
import { runHere } from './support'

it('README.md and docs/RESULTS.md are what `npm run readme -- figures` writes', async () => {
  const texts = await figureDocs(async (args) => {
    const { code, stdout, stderr } = await runHere(...args)
    expect(code, stderr).toBe(0)
    return stdout
  })
  expect([...texts.keys()]).toEqual(['README.md', 'docs/RESULTS.md'])
  for (const [path, text] of texts) expect(readFileSync(join(root, path), 'utf8'), path).toBe(text)
})
