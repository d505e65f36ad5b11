import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { buildReference, buildRung, inParallel } from '../../src-main/services/run/build'
import { planRun } from '../../src-main/services/run/plan'
import { initLadder } from '../../src-main/services/ladder-library/init'
import { keeping, keptNvcc, orSkip } from '../kept-nvcc'
import { said } from '../said'
import { setupIn, shippedKernels, tempDir, templatesDir } from './support'

const kept = await keptNvcc('templates')
afterAll(() => {
  if (keeping) kept.save()
})

it.for(readdirSync(templatesDir))(
  'what init makes of the template %s compiles without a word',
  { timeout: 120_000 },
  async (template, test) => {
    const dir = await tempDir()
    const setup = setupIn(dir, { kernelsDir: shippedKernels })
    const { library, ladder, task } = await initLadder(setup, join(dir, template), template)
    const plan = planRun(library, { ladder: ladder.id, params: {}, profile: 'none' })
    const compiler = await kept.compiler()
    const work = inParallel(plan.rungs, async (planned) => {
      const { diagnostics, reason } = await buildRung(compiler, plan, planned, '90')
      expect(said(reason), planned.rung.id).toBeUndefined()
      expect(diagnostics, planned.rung.id).toEqual([])
    }).then(async () => {
      const reference = library.references.get(task.id)!
      expect(await buildReference(compiler, plan, reference, '90')).toMatch(/reference\.so$/)
    })
    await orSkip(test, work)
  },
)

it.skipIf(keeping)('what is kept is of the templates as they are now', () => {
  expect(kept.stale, 'see test/kept-nvcc.ts').toEqual([])
})
