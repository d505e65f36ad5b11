import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readCatalog } from '../../../src-main/adapters/catalog/catalog'
import { maxSize } from '../../../src-main/domain/task/task'
import { planRun } from '../../../src-main/services/run/plan'
import { fakeMachine, ladderRungs } from '../support'
import { gemmProblem, said, saying } from '../../support'
import { inEnglish } from '../../../src-main/domain/text/english'
import { resolveLadder } from '../../../src-main/services/catalog/resolve'

const request = { ladder: 'gemm-fp32', params: {}, target: 'local', profile: 'card' as const }

describe('a run request', () => {
  it('uses the ladder’s first size and every rung by default', async () => {
    const { kernelsDir } = await fakeMachine()
    const plan = planRun(await readCatalog(kernelsDir), request)
    expect(plan.problem).toEqual(gemmProblem(4096))
    expect(plan.rungs.map(({ rung }) => rung.id)).toEqual(ladderRungs)
    expect(plan.reference?.rung.id).toBe('00_cublas')
  })

  it('applies a parameter only to the rungs that allow the value', async () => {
    const { kernelsDir } = await fakeMachine()
    const plan = planRun(await readCatalog(kernelsDir), { ...request, params: { TM: 16 } })
    const values = Object.fromEntries(plan.rungs.map(({ rung }) => [rung.id, rung.params.TM]))
    expect(values['04_thread_tile_1d']).toBe(16)
    expect(values['05_thread_tile_2d']).toBe(8)
    expect(values['01_naive']).toBeUndefined()
  })

  it('can override a common value for one rung, and reports rungs that do not allow it', async () => {
    const { kernelsDir } = await fakeMachine()
    const asked = {
      ...request,
      params: { TM: 16, '06_float4.TM': 4, '04_thread_tile_1d.TM': 4 },
    }
    const plan = planRun(await readCatalog(kernelsDir), asked)
    const values = Object.fromEntries(plan.rungs.map(({ rung }) => [rung.id, rung.params.TM]))
    expect(values).toMatchObject({ '04_thread_tile_1d': 4, '06_float4': 4, '05_thread_tile_2d': 8 })
    const left = said(plan.parametersLeft ?? [])
    expect(left).toContain('05_thread_tile_2d keeps TM = 8: it does not allow 16, only 4, 8.')
    expect(left.join()).not.toMatch(/06_float4|04_thread|01_naive/)
  })

  it.each([
    [{ ladder: 'nope' }, /no ladder named "nope"/, /gemm-fp32/],
    [{ rungs: ['nope'] }, /no rung named "nope"/, /01_naive/],
    [{ params: { NOPE: 1 } }, /no parameter named "NOPE"/, /TILE/],
    [{ params: { '77_none.TM': 8 } }, /"77_none\.TM" is not a rung/, /01_naive/],
    [{ params: { '01_naive.TM': 8 } }, /01_naive has no parameter named "TM"/, /no parameters/],
    [{ params: { TILE: 17 } }, /TILE=17 is not allowed/, /16, 32/],
    [{ at: { m: 0, n: 1, k: 1 } }, /m = 0 is not a valid size/, /1 to/],
    [{ at: { m: 1, n: -4, k: 1 } }, /n = -4/, /1 to/],
    [{ at: { m: 1, n: 1, k: 1.5 } }, /k = 1.5/, /whole/],
    [{ at: { m: maxSize + 1, n: 1, k: 1 } }, /is not a valid size/, /1 to/],
  ])(
    'that is invalid (%j) is rejected with an error that has the fault and a remedy',
    async (wrong, message, remedy) => {
      const { kernelsDir } = await fakeMachine()
      const catalog = await readCatalog(kernelsDir)
      expect(() => planRun(catalog, { ...request, ...wrong })).toThrow(
        expect.objectContaining({
          kind: 'input',
          message: expect.stringMatching(message) as string,
          remedy: saying(remedy),
        }) as Error,
      )
    },
  )
})

describe('a rung with a missing key in its header', () => {
  it('is reported with its file and key without affecting other ladders and rungs', async () => {
    const machine = await fakeMachine()
    await machine.editRung('03_shared_tile', (text) => text.replace(/^\/\/ @idea.*\n/m, ''))
    const catalog = await readCatalog(machine.kernelsDir)
    expect(inEnglish(catalog.faults.get('03_shared_tile')!)).toMatch(
      /gemm\/03_shared_tile\.cu.*@idea/,
    )
    expect(() => planRun(catalog, request)).toThrow(/@idea/)
    expect(planRun(catalog, { ...request, rungs: ['02_coalesced'] }).rungs).toHaveLength(1)
  })

  it.each([
    [
      'another id than its file',
      (text: string) => text.replace('@rung    03_shared_tile', '@rung    other'),
      /the file must have that name/,
    ],
    ['no header at all', () => 'int main() {}', /@rung/],
  ])('is reported in the same way as a rung with %s', async (_case, edit, why) => {
    const machine = await fakeMachine()
    await machine.editRung('03_shared_tile', edit)
    const catalog = await readCatalog(machine.kernelsDir)
    expect([...catalog.faults.values()].map(inEnglish).join()).toMatch(why)
  })
})

describe('a ladder file', () => {
  it("with an undeclared rung is rejected with the rung's id", async () => {
    const machine = await fakeMachine()
    await writeFile(
      join(machine.kernelsDir, 'gemm', 'ladders', 'mine.json'),
      JSON.stringify({
        schema: 2,
        id: 'mine',
        title: 'Mine',
        summary: 'One rung',
        task: 'gemm',
        sizes: [{ m: 64, n: 64, k: 64 }],
        reference: null,
        rungs: [{ id: '77_missing' }],
      }),
    )
    const catalog = await readCatalog(machine.kernelsDir)
    expect(() => planRun(catalog, { ...request, ladder: 'mine' })).toThrow(/77_missing/)
  })

  it('defines variants of a rung by parameters, each with its own name', async () => {
    const machine = await fakeMachine()
    await writeFile(
      join(machine.kernelsDir, 'gemm', 'ladders', 'tiles.json'),
      JSON.stringify({
        schema: 2,
        id: 'tiles',
        title: 'Tiles',
        summary: 'One rung at two tile sizes',
        task: 'gemm',
        sizes: [{ m: 64, n: 64, k: 64 }],
        reference: null,
        rungs: [
          { id: '03_shared_tile', as: 'tile_16', params: { TILE: 16 } },
          { id: '03_shared_tile', as: 'tile_32', title: 'Tile of 32' },
        ],
      }),
    )
    const catalog = await readCatalog(machine.kernelsDir)
    const file = catalog.ladders.find(({ id }) => id === 'tiles')!
    expect(
      resolveLadder(catalog, file).rungs.map(({ id, title, params }) => [id, title, params]),
    ).toEqual([
      ['tile_16', 'Shared-memory tile', { TILE: 16, STEPS: 2 }],
      ['tile_32', 'Tile of 32', { TILE: 32, STEPS: 2 }],
    ])
  })
})
