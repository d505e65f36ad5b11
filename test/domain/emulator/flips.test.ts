/**
 * Flips every bit in a sample of the instruction forms, and compares the effects with the stored
 * results. `npm run readme -- bits` flips the bits of all forms.
 */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { bitsPart, readFlips } from '../../../scripts/lib/flips-doc'
import { flipForm, formsOf } from './flips'
import { seeded } from './single-step'

const sampled = 10

it('a flipped bit changes the result, is rejected, or has no effect for a known reason', () => {
  const rows = readFlips()
  const forms = formsOf()
  expect(rows.map(({ name }) => name)).toEqual(forms.map(({ name }) => name))
  const next = seeded(47)
  for (let count = 0; count < sampled; count++) {
    const place = Math.floor(next() * forms.length)
    const { runs, quiet, refused } = flipForm(forms[place]!)
    expect({ name: forms[place]!.name, runs, quiet, refused }).toEqual(rows[place])
  }
})

it('docs/evidence/emulation.md contains the list of bits that have no effect', () => {
  const page = readFileSync(new URL('../../../docs/evidence/emulation.md', import.meta.url), 'utf8')
  const lines = (text: string): string[] =>
    text.split('\n').map((line) =>
      line
        .replaceAll(/ *\| */g, ' | ')
        .replaceAll(/-+/g, '-')
        .trim(),
    )
  const written = lines(page)
  // `bitsPart` throws an error if a bit has no effect and no known reason explains it.
  const missing = lines(bitsPart(readFlips())).filter((line) => !written.includes(line))
  expect(missing, 'not in docs/evidence/emulation.md: npm run readme -- bits').toEqual([])
})
