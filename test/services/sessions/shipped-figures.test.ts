/**
 * Recordings of version 1 opened through the upgrader: every figure is what that version of the program
 * showed, and every sentence says the same. test/captures/sessions/shipped-figures-1.json holds what
 * `shippedFigures` told under version 1, at the last commit before schema 2. It is not to be made anew: a
 * recording that is replaced by a new one loses its lines.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { saidIn1 } from '../../version-1'
import { root } from '../support'
import { shippedFigures } from './shipped-figures'

describe('the recordings that ship', () => {
  it('show the same figures and say the same as under version 1, stored and replayed', async () => {
    const before = JSON.parse(
      await readFile(join(root, 'test/captures/sessions/shipped-figures-1.json'), 'utf8'),
    ) as Record<string, Record<string, string>>
    const now = await shippedFigures(saidIn1)
    expect(Object.keys(before).length).toBeGreaterThan(50)
    expect(now).toMatchObject(before)
    const later = Object.keys(now).filter((name) => !(name in before))
    for (const name of later.filter((one) => !/ (?:replayed|deep)$/.test(one)))
      expect(now[name], name).toMatchObject(now[`${name} replayed`]!)
  }, 120_000)
})
