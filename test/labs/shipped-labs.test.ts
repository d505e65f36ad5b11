/**
 * Tests that each shipped lab is complete and that its code compiles. Tests of correctness and
 * speed require a GPU and are in test/gpu.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import katex from 'katex'
import { afterAll, describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { readCatalog } from '../../src-main/adapters/catalog/catalog'
import { labsDir, readLabs, type LabFolder } from '../../src-main/adapters/labs/lab-folders'
import { namesIn, parseExpression } from '../../src-main/domain/task/expression'
import { parseRungHeader } from '../../src-main/parsers/kernels/rung-header'
import { faultsOf, isValid } from '../json-schemas'
import { buildRung } from '../../src-main/services/bench/build-rung'
import { recordingsDir } from '../services/support'
import { keeping, keptNvcc, orSkip } from '../kept-nvcc'
import { said } from '../support'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import type { PlannedRung } from '../../src-main/domain/run/plan'
import { inParallel } from '../../src-main/services/bench/in-parallel'
import { answerOf, deviceNames } from '../../src-main/domain/labs/question-values'

const kernels = join(import.meta.dirname, '../../cuda-kernels')
const catalog = await readCatalog(kernels)
const { labs, faults } = await readLabs(labsDir(kernels), catalog, [])

const taskOf = ({ lab }: LabFolder) =>
  catalog.tasks.get(catalog.ladders.find(({ id }) => id === lab.ladder)!.task)!
const sourceOf = (lab: LabFolder, which: 'starter' | 'solution'): string =>
  join(lab.folder, lab.lab[which])
const both = labs.flatMap((lab) =>
  (['starter', 'solution'] as const).map((which) => ({ lab, which, what: `${lab.id}/${which}` })),
)

describe('the published schema of a lab', () => {
  it('accepts every shipped lab, and rejects an unknown key', async () => {
    for (const { id, folder } of labs) {
      const text = await readFile(join(folder, 'lab.md'), 'utf8')
      const front = parseYaml(text.split(/^---$/m)[1] ?? '') as object
      expect(faultsOf('lab', front), id).toEqual([])
      expect(isValid('lab', { ...front, minuts: 3 }), id).toBe(false)
    }
  })
})

describe('the shipped labs', () => {
  it('are in numerical order, without gaps or faults', () => {
    expect(faults).toEqual([])
    const inOrder = [...labs].sort((a, b) => a.lab.order - b.lab.order)
    expect(inOrder.length).toBeGreaterThanOrEqual(12)
    expect(inOrder.map(({ lab }) => lab.order)).toEqual(inOrder.map((_, index) => index + 1))
    for (const { id, lab } of labs) expect(Number(id.slice(0, 2)), id).toBe(lab.order)
  })

  it.each(labs.map((lab) => [lab.id, lab] as const))(
    '%s checks ragged shapes, a counter, and the time, asks for a prediction, and has hints',
    (_, { lab, pictures }) => {
      const kinds = new Set(lab.checks.map(({ kind }) => kind))
      expect([...kinds]).toEqual(
        expect.arrayContaining(['correctness', 'sanitizer', 'metric', 'time']),
      )
      const sizes = lab.checks.flatMap((check) => (check.kind === 'correctness' ? check.sizes : []))
      expect(
        sizes.filter((size) => Object.values(size).some((d) => d % 8 !== 0)).length,
      ).toBeGreaterThan(1)
      expect(lab.predictions.some(({ metric }) => metric === 'time')).toBe(true)
      expect(lab.predictions.some(({ metric }) => metric !== 'time')).toBe(true)
      expect(lab.hints.length).toBeGreaterThanOrEqual(3)
      expect(lab.surprise).toBeDefined()
      expect(lab.source).toBeDefined()
      expect(pictures.size).toBeGreaterThanOrEqual(1)
      expect(pictures.size).toBeLessThanOrEqual(3)
    },
  )

  it('each have a question whose answer depends on the GPU or on the student’s own kernel', () => {
    const depends = (name: string): boolean =>
      name.startsWith('your.') || deviceNames.some((known) => known === name)
    for (const { id, lab } of labs) {
      const names = lab.questions.flatMap(({ answer }) => namesIn(parseExpression(answer)))
      expect(names.some(depends), id).toBe(true)
    }
  })

  it('can answer, for the recorded H200, every question that requires no measurement', async () => {
    const { device } = await readSession(join(recordingsDir, 'gemm-fp32-h200-1024'))
    for (const { id, lab } of labs)
      for (const { id: question, answer } of lab.questions) {
        if (/\b(your|before)\./.test(answer)) continue
        const value = answerOf(answer, { device, sizes: lab.size, your: null, before: null })
        expect(value, `${id} ${question}`).toBeGreaterThan(0)
      }
  })

  it.each(labs.map((lab) => [lab.id, lab] as const))(
    '%s has formulas that KaTeX can render',
    (id, { lab }) => {
      const prose = [
        lab.body,
        lab.summary,
        lab.surprise ?? '',
        ...lab.hints,
        ...lab.predictions.map(({ ask }) => ask),
        ...lab.questions.flatMap(({ ask, explain }) => [ask, explain ?? '']),
      ].join('\n\n')
      const withoutCode = prose.replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, '')
      const formulas = [...withoutCode.matchAll(/\$\$([\s\S]+?)\$\$|\$([^$]+)\$/g)]
      expect(withoutCode.split('$').length % 2, `${id}: every $ has its other`).toBe(1)
      for (const [, display, inline] of formulas)
        katex.renderToString(display ?? inline ?? '', { throwOnError: true, strict: 'error' })
    },
  )

  it.each(both.map((entry) => [entry.what, entry] as const))(
    '%s has a complete header, and has a TODO only if it is a starter',
    async (what, { lab, which }) => {
      const text = await readFile(sourceOf(lab, which), 'utf8')
      // A lab declares its data type in lab.md. A rung in a ladder declares its data type in its
      // header.
      const headed = text.includes('// @dtype')
        ? text
        : text.replace('// @idea', '// @dtype   f32\n// @idea')
      const task = taskOf(lab)
      const header = parseRungHeader('dtype' in task.options ? headed : text, what, task)
      expect(header.id).toBe(lab.id)
      expect(text.includes('TODO')).toBe(which === 'starter')
    },
  )
})

const kept = await keptNvcc('labs')
afterAll(() => {
  if (keeping) kept.save()
})

describe('stored nvcc output of the shipped labs', () => {
  it('has no compiler warnings, and shows that every solution satisfies its static bounds', async (test) => {
    const compiler = await kept.compiler()
    const work = inParallel(both, async ({ lab, which, what }) => {
      const source = await readFile(sourceOf(lab, which), 'utf8')
      const rung = {
        id: what.replace('/', '-'),
        file: `labs/${what}.cu`,
        params: {},
      } as PlannedRung['rung']
      const task = taskOf(lab)
      const { build, diagnostics, reason } = await buildRung(
        compiler,
        { task, headers: catalog.headers.get(task.id)! },
        { rung, source },
        '90',
      )
      expect(said(reason), what).toBeUndefined()
      expect(diagnostics, what).toEqual([])
      expect(build!.spillStoreBytes, what).toBe(0)
      if (which === 'starter') return
      for (const check of lab.lab.checks) {
        if (check.kind !== 'static') continue
        expect(build!.registersPerThread, what).toBeLessThanOrEqual(check.maxRegisters ?? 255)
        expect(build!.staticSharedBytes, what).toBeLessThanOrEqual(check.maxSharedBytes ?? 49152)
      }
    })
    await orSkip(test, work)
  }, 300_000)

  it.skipIf(keeping)('matches the current labs', () => {
    expect(kept.stale, 'see test/kept-nvcc.ts').toEqual([])
  })
})
