/** Tests that a renamed rung is found by its old and new ids. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readCatalog } from '../../../src-main/adapters/catalog/catalog'
import { currentId, findById, formerIds } from '../../../src-main/domain/ladder/former-ids'
import { entryId, selectRungs } from '../../../src-main/services/catalog/resolve'

const root = join(import.meta.dirname, '../../..')

describe('former ids', async () => {
  const { ladders } = await readCatalog(join(root, 'cuda-kernels'))
  const today = new Set(ladders.flatMap(({ rungs }) => rungs.map(entryId)))

  it.each(Object.entries(formerIds))('%s now refers to %s, and to no other rung', (old, now) => {
    expect(today).toContain(now)
    expect(today).not.toContain(old)
    expect(Object.keys(formerIds)).not.toContain(now)
  })

  it('find the renamed rung, and current ids find the rungs of an old session', () => {
    expect(findById([{ id: '08_warp_tile' }], '11_warp_tile')).toEqual({ id: '08_warp_tile' })
    expect(findById([{ id: '11_warp_tile' }], '08_warp_tile')).toEqual({ id: '11_warp_tile' })
  })

  it('are overridden by a rung that now has the same id', () => {
    const own = [{ id: '08_warp_tile' }, { id: '11_warp_tile' }]
    expect(selectRungs(own, ['11_warp_tile'], 'mine')).toEqual([{ id: '11_warp_tile' }])
  })

  it('do not affect other ids', () => {
    expect(currentId('01_naive')).toBe('01_naive')
    expect(currentId('constructor')).toBe('constructor')
  })
})
