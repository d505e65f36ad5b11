/** A lab over a ladder folder of its own: a task that does not ship, read, trusted, checked and replayed with it. */
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { keepRecording } from '../../../scripts/lib/keep-recording'
import { readKernelLibrary } from '../../../src-main/adapters/kernels/kernel-library'
import { sessionFolder } from '../../../src-main/adapters/labs/attempt'
import { readLab, readLabs, type LabFolder } from '../../../src-main/adapters/labs/library'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { isTrusted, requireTrust, trustLab } from '../../../src-main/services/lab-library/trust'
import { rungText, sumsFiles, sumsYaml } from '../sums-folder'
import { fakeMachine, tempDir, type Machine } from '../support'
import { check, statusesOf } from './support'

const labText = `---
title: Sums
summary: Let a warp read a row.
order: 1
ladder: ./ladder
before: b
target: c
minutes: 20
size: { N: 64 }
starterFails: [fast]
checks:
  - id: right
    kind: correctness
    sizes: [{ N: 7 }, { N: 128 }]
    scalars: { scale: 0.5 }
  - id: clean
    kind: sanitizer
    tools: [memcheck]
    size: { N: 33 }
  - id: busy
    kind: metric
    metric: achievedOccupancy
    min: 10
  - id: fast
    kind: time
    below: { rung: b, factor: 0.5 }
questions:
  - id: share
    ask: How many elements does an SM get?
    answer: N / smCount
---
# Sums

Of \`N\` numbers.
`

const submission = (like: string): string => `#include "parts.cuh"\n// like: ${like}\n`

const filesOf = (): Record<string, string> => ({
  'lab.md': labText,
  'starter.cu': submission('02_coalesced'),
  'solution.cu': submission('06_float4'),
  ...Object.fromEntries(
    Object.entries(sumsFiles()).map(([name, text]) => [`ladder/${name}`, text]),
  ),
})

/** The lab's folder, which did not come with the program. */
async function labIn(machine: Machine, change: Record<string, string | null> = {}) {
  const folder = join(machine.dir, 'sums-lab')
  for (const [name, text] of Object.entries({ ...filesOf(), ...change })) {
    if (text === null) continue
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}
const libraryOf = ({ kernelsDir }: Machine) => readKernelLibrary(kernelsDir)
const read = async (machine: Machine, folder: string): Promise<LabFolder> =>
  readLab(folder, await libraryOf(machine))

describe('a lab with a ladder folder of its own', () => {
  it('is checked over its task: right at its sizes, beside its rungs and its reference', async () => {
    const machine = await fakeMachine()
    const lab = await read(machine, await labIn(machine))
    const all = { right: 'passed', clean: 'passed', busy: 'passed', fast: 'passed' }
    expect(statusesOf(await check(machine, lab, lab.solution))).toEqual(all)
    const measured = machine.calls('runner').find((words) => words.includes('measure'))!
    expect(measured).toContain('x:f32:in:64:iota')
    expect(statusesOf(await check(machine, lab, lab.starter))).toEqual({ ...all, fast: 'failed' })
  })

  it('has a session that is of no ladder folder, and a question of its own sizes', async () => {
    const machine = await fakeMachine()
    const lab = await read(machine, await labIn(machine))
    const out = join(machine.dir, 'attempt')
    const answers = { predictions: {}, questions: { share: 64 / 132 } }
    const { outcome } = await check(machine, lab, lab.solution, answers, 'local', { out })
    expect(outcome.questions[0]).toMatchObject({ status: 'right' })
    const { ladder, rungs } = await readSession(sessionFolder(out))
    expect(ladder).toMatchObject({ id: 'lab-sums-lab', reference: 'a', task: { id: 'sums' } })
    expect(ladder).not.toHaveProperty('folder')
    expect(rungs.map(({ id }) => id)).toEqual(['a', 'b', 'submission'])
  })

  it('is replayed once its attempt was kept, without what its ladder is built of', async () => {
    const machine = await fakeMachine()
    const lab = await read(machine, await labIn(machine))
    const out = join(machine.dir, 'sums-lab-solution-h200')
    await check(machine, lab, lab.solution, undefined, 'local', { out })
    const recordingsDir = await tempDir()
    await keepRecording(out, recordingsDir)
    const bare = await fakeMachine(['nvcc', 'nvidia-smi', 'ncu'])
    const { outcome } = await check(bare, lab, lab.solution, undefined, 'recorded', {
      recordingsDir,
    })
    expect(outcome).toMatchObject({ status: 'passed', target: { kind: 'recorded' } })
    expect(bare.calls()).toEqual([])
  })

  it('is trusted as a whole, and asked for anew when a file of its ladder changed', async () => {
    const machine = await fakeMachine()
    const folder = await labIn(machine)
    const lab = await read(machine, folder)
    expect(lab.files).toContain('ladder/b.cu')
    await expect(requireTrust(machine.setup, lab)).rejects.toThrow(/not been allowed|trust/i)
    await trustLab(machine.setup.machine.folders, lab)
    expect(await isTrusted(machine.setup, lab)).toBe(true)
    await writeFile(join(folder, 'ladder/b.cu'), rungText('b', '// more'))
    expect(await isTrusted(machine.setup, await read(machine, folder))).toBe(false)
  })

  it.each<[string, (folder: string) => unknown, RegExp, number | null]>([
    ['gone', (folder) => rm(join(folder, 'ladder'), { recursive: true }), /no folder .*ladder/, 5],
    ['renamed', (folder) => rename(join(folder, 'ladder'), join(folder, 'l')), /no folder/, 5],
    [
      'faulty',
      (folder) =>
        writeFile(join(folder, 'ladder/ladder.yaml'), sumsYaml.replace('title:', 'tile:')),
      /ladder\.yaml:3:1: .*tile/,
      5,
    ],
    [
      'with a faulty rung',
      (folder) => writeFile(join(folder, 'ladder/c.cu'), '// @rung d\n'),
      /c\.cu/,
      5,
    ],
    [
      'a link out',
      async (folder) => {
        await rename(join(folder, 'ladder'), join(folder, '..', 'elsewhere'))
        await symlink(join(folder, '..', 'elsewhere'), join(folder, 'ladder'))
      },
      /symbolic link/,
      null,
    ],
    [
      'above the lab',
      (folder) => writeFile(join(folder, 'lab.md'), labText.replace('./ladder', '../ladder')),
      /folder inside the lab/,
      5,
    ],
    [
      'of other rungs',
      (folder) => writeFile(join(folder, 'lab.md'), labText.replace('before: b', 'before: x')),
      /rung x, which is neither in the ladder \.\/ladder \(a, b, c\)/,
      6,
    ],
    [
      'of other sizes',
      (folder) => writeFile(join(folder, 'lab.md'), labText.replace('{ N: 64 }', '{ m: 64 }')),
      /size: /,
      9,
    ],
  ])(
    'says at its line what is wrong with a ladder that is %s',
    async (_how, spoil, fault, line) => {
      const machine = await fakeMachine()
      const folder = await labIn(machine)
      await spoil(folder)
      const { labs, faults } = await readLabs(folder, await libraryOf(machine))
      expect(labs).toEqual([])
      // And nothing else: what follows from it is no fault of its own.
      expect(faults.map((one) => [one.line, fault.test(one.message)])).toEqual([[line, true]])
    },
  )
})
