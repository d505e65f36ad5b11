/** Tests lab checks, including labs with their own ladder. */
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readCatalog } from '../../../src-main/adapters/catalog/catalog'
import { type LabFolder, readLab, readLabs } from '../../../src-main/adapters/labs/lab-folders'
import { faultSentence } from '../../../src-main/domain/labs/lab'
import { type LabOutcome, outcomeExitCode } from '../../../src-main/domain/labs/outcome'
import { message, type Statement } from '../../../src-main/domain/messages/message'
import { inEnglish } from '../../../src-main/domain/text/english'
import { openLab } from '../../../src-main/services/labs/find-lab'
import {
  fakeMachine,
  type Machine,
  setEnv,
  tempDir,
  rungText,
  sumsFiles,
  sumsYaml,
} from '../support'
import { keepRecording } from '../../../scripts/lib/keep-recording'
import { said } from '../../support'
import { check, labText, statusesOf, testLab } from './support'
import { sessionFolder } from '../../../src-main/adapters/labs/attempt'
import { readSession } from '../../../src-main/adapters/sessions/session-store'
import { isTrusted, requireTrust, trustLab } from '../../../src-main/services/labs/trust'

describe('grading', () => {
  /** Returns all sentences in an outcome. Each sentence must be translatable. */
  const texts = ({ checks, predictions, questions }: LabOutcome): Statement[] =>
    [...checks, ...predictions, ...questions]
      .flatMap((part) => [part.sentence, ...('explanation' in part ? part.explanation : [])])
      .filter((said) => typeof said === 'string')

  describe('checking a lab', () => {
    it('passes its solution, with figures and the origin of each figure', async () => {
      const machine = await fakeMachine()
      const lab = await testLab(machine)
      const attempt = await check(machine, lab, lab.solution, {
        predictions: {
          time: { direction: 'down', factor: 0.09 },
          loads: { direction: 'up', factor: null },
        },
        questions: { blocks: 1024 / 132 },
      })
      const { outcome } = attempt
      expect(statusesOf(attempt)).toEqual({
        right: 'passed',
        clean: 'passed',
        busy: 'passed',
        fast: 'passed',
        lean: 'passed',
      })
      expect(outcome.status).toBe('passed')
      expect(outcomeExitCode(outcome)).toBe(0)
      expect(outcome.device?.name).toBe('NVIDIA H200')
      expect(outcome.cacheState).toBe('cold')
      const busy = outcome.checks.find(({ id }) => id === 'busy')
      expect(said(busy?.sentence)).toMatch(
        /^FMA pipe utilization: \d+\.\d %, ≥ .* \(5 × 01_naive\)\.$/,
      )
      expect(busy?.figures[0]?.value.evidence).toBe('measured')
      const [time, loads] = outcome.predictions
      expect(time).toMatchObject({ status: 'met', direction: 'down', against: '01_naive' })
      expect(said(time?.explanation)?.join(' ')).toMatch(/FMA pipe utilization went from/)
      expect(loads).toMatchObject({ status: 'missed', direction: 'same' })
      expect(said(loads?.sentence)).toMatch(/^You predicted up\. .* Measured: no change/)
      expect(outcome.questions[0]).toMatchObject({ status: 'right' })
      expect(texts(outcome)).toEqual([])
    })

    it('does not pass its starter, and shows by how much the starter fails', async () => {
      const machine = await fakeMachine()
      const lab = await testLab(machine)
      const attempt = await check(machine, lab, lab.starter)
      expect(statusesOf(attempt)).toMatchObject({ right: 'passed', busy: 'failed', fast: 'failed' })
      expect(outcomeExitCode(attempt.outcome)).toBe(1)
      expect(attempt.outcome.predictions[0]).toMatchObject({ status: 'not-given' })
      expect(texts(attempt.outcome)).toEqual([])
      // The question is unanswered, so the outcome must not reveal its answer.
      expect(attempt.outcome.questions[0]).toMatchObject({ status: 'not-given', answer: null })
    })

    it.each([
      [
        'wrong',
        { right: 'failed', busy: 'failed', fast: 'failed', lean: 'passed' },
        /exceed the error bound/,
      ],
      [
        'hang',
        { right: 'failed', busy: 'failed', fast: 'failed', lean: 'passed' },
        /Hung during \w+: no progress/,
      ],
      [
        'crash',
        { right: 'failed', busy: 'failed', fast: 'failed', lean: 'passed' },
        /Crashed during/,
      ],
      ['compile-error', { right: 'failed', clean: 'failed', lean: 'failed' }, /Does not compile/],
      ['out-of-bounds', { right: 'passed', clean: 'failed', fast: 'passed' }, /memcheck findings/],
    ])(
      'fails code with the fault %s at the corresponding check',
      async (fault, statuses, sentence) => {
        const machine = await fakeMachine()
        const lab = await testLab(machine)
        const attempt = await check(machine, lab, `${lab.solution}// fault: ${fault}\n`)
        expect(statusesOf(attempt)).toMatchObject(statuses)
        expect(
          said(attempt.outcome.checks.some((one) => sentence.test(inEnglish(one.sentence)))),
        ).toBe(true)
        expect(outcomeExitCode(attempt.outcome)).toBe(1)
      },
    )

    it('builds the code without a GPU, and leaves all but the static checks unavailable', async () => {
      const machine = await fakeMachine(['nvidia-smi', 'ncu'])
      const lab = await testLab(machine)
      const attempt = await check(machine, lab, lab.solution)
      expect(statusesOf(attempt)).toEqual({
        right: 'unavailable',
        clean: 'unavailable',
        busy: 'unavailable',
        fast: 'unavailable',
        lean: 'passed',
      })
      expect(said(attempt.outcome.reason)).toMatch(/nvidia-smi is not on this machine/)
      // The reason must not suggest ladder targets that need no GPU.
      expect(said(attempt.outcome.reason)).toMatch(/`--target recorded` shows/)
      expect(said(attempt.outcome.reason)).not.toContain('static:')
      expect(attempt.outcome.build.occupancy.length).toBeGreaterThan(0)
      expect(outcomeExitCode(attempt.outcome)).toBe(3)
      expect(attempt.outcome.cacheState).toBeNull()
    })

    it('does not pass code that fails to compile, even without a GPU', async () => {
      const machine = await fakeMachine(['nvidia-smi'])
      const lab = await testLab(machine)
      const attempt = await check(machine, lab, `${lab.solution}\nint x = undeclared;\n`)
      expect(outcomeExitCode(attempt.outcome)).toBe(1)
      expect(attempt.outcome.build.diagnostics[0]).toMatchObject({
        severity: 'error',
        message: 'identifier "undeclared" is undefined',
      })
    })

    it('measures the time but no counters without permission to read counters', async () => {
      const machine = await fakeMachine()
      setEnv({ FAKE_NCU: 'counter-permission' })
      const lab = await testLab(machine)
      const attempt = await check(machine, lab, lab.solution)
      expect(statusesOf(attempt)).toMatchObject({
        right: 'passed',
        fast: 'passed',
        busy: 'unavailable',
      })
      expect(said(attempt.outcome.checks.find(({ id }) => id === 'busy')?.sentence)).toMatch(
        /not permitted to read/,
      )
      expect(outcomeExitCode(attempt.outcome)).toBe(3)
    })

    it('reports the reason and remedy if compute-sanitizer is missing', async () => {
      const machine = await fakeMachine(['compute-sanitizer'])
      const lab = await testLab(machine)
      const attempt = await check(machine, lab, lab.solution)
      expect(statusesOf(attempt)).toMatchObject({ clean: 'unavailable', fast: 'passed' })
      expect(outcomeExitCode(attempt.outcome)).toBe(3)
    })

    it('marks all checks as unavailable and states the reason on a machine without tools', async () => {
      const machine = await fakeMachine(['nvcc', 'nvidia-smi', 'ncu', 'compute-sanitizer'])
      const lab = await testLab(machine)
      const attempt = await check(machine, lab, lab.solution)
      expect(new Set(Object.values(statusesOf(attempt)))).toEqual(new Set(['unavailable']))
      expect(said(attempt.outcome.reason)).toMatch(/nvcc was not found/)
    })

    it('against a recording does not judge code that was not recorded', async () => {
      const machine = await fakeMachine(['nvidia-smi'])
      const lab = await testLab(machine)
      const attempt = await check(machine, lab, `${lab.solution}\n// mine\n`, undefined, 'recorded')
      expect(statusesOf(attempt)).toMatchObject({ fast: 'unavailable', lean: 'passed' })
      expect(attempt.outcome.reason).toEqual(message('checks.notTheirs'))
    })
  })

  describe('a recorded outcome', () => {
    it('is replayed through the live parsers and judged again, but only for the recorded file', async () => {
      const machine = await fakeMachine()
      const lab = await testLab(machine)
      const recordings = join(machine.dir, 'recordings')
      const out = join(machine.dir, `${lab.id}-solution-fake`)
      const live = await check(machine, lab, lab.solution, undefined, 'local', { out })
      expect(live.outcome.status).toBe('passed')
      await keepRecording(out, recordings)

      // A replay needs no GPU, profiler or sanitizer, because the recording has their output.
      const before = machine.calls().length
      const again = (source: string) =>
        check(machine, lab, source, undefined, 'recorded', { recordingsDir: recordings })
      const replayed = await again(lab.solution)
      expect(machine.calls().length).toBe(before)
      expect(replayed.outcome).toMatchObject({
        status: 'passed',
        target: { kind: 'recorded', name: `${lab.id}-solution-fake` },
        device: { name: 'NVIDIA H200' },
        checks: live.outcome.checks,
      })

      const missing = (await again(lab.starter)).outcome.reason!
      expect(missing).toEqual(message('checks.starterNotRecorded'))
      const changed = await check(
        machine,
        { ...lab, solution: `${lab.solution}// newer\n` },
        `${lab.solution}// newer\n`,
        undefined,
        'recorded',
        { recordingsDir: recordings },
      )
      expect(said(changed.outcome.reason)).toMatch(
        /^solution\.cu has changed since it was recorded as /,
      )
      expect(changed.outcome.status).toBe('unavailable')
    })
  })

  describe('third-party labs', () => {
    it('cannot be used before the user trusts them, or after a file has changed', async () => {
      const machine = await fakeMachine()
      const shipped = await testLab(machine)
      expect(await isTrusted(machine.setup, shipped)).toBe(true)

      const folder = join(machine.dir, 'elsewhere', 'foreign')
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'lab.md'), labText)
      await writeFile(join(folder, 'starter.cu'), shipped.starter)
      await writeFile(join(folder, 'solution.cu'), shipped.solution)
      const lab = await openLab(machine.setup, folder)
      await expect(requireTrust(machine.setup, lab)).rejects.toThrow(/is not built in/)
      await trustLab(machine.setup.machine.folders, lab)
      await requireTrust(machine.setup, lab)

      await writeFile(join(folder, 'solution.cu'), `${shipped.solution}\n`)
      await expect(
        requireTrust(machine.setup, await openLab(machine.setup, folder)),
      ).rejects.toThrow()
    })

    it('with outside links, huge or missing files, or circular dependencies are rejected with the file or lab name', async () => {
      const machine = await fakeMachine()
      await rm(join(machine.kernelsDir, 'labs'), { recursive: true, force: true })
      await testLab(
        machine,
        labText.replace('minutes: 30', 'minutes: 30\nneeds: { labs: [b] }'),
        'a',
      )
      await testLab(
        machine,
        labText.replace('minutes: 30', 'minutes: 30\nneeds: { labs: [a] }'),
        'b',
      )
      await testLab(machine, labText, 'huge')
      await testLab(machine, labText, 'binary')
      await testLab(machine, labText, 'many')
      await testLab(machine, labText.replace('# Warps', '![x](gone.svg)'), 'gone').catch(
        () => undefined,
      )
      const labs = join(machine.kernelsDir, 'labs')
      await writeFile(join(labs, 'huge', 'starter.cu'), 'x'.repeat(50 * 1024 * 1024))
      await writeFile(join(labs, 'binary', 'solution.cu'), 'int x;\0')
      for (let index = 0; index < 100; index += 1)
        await writeFile(join(labs, 'many', `${index}.svg`), '<svg/>')
      await mkdir(join(labs, 'linked'))
      await writeFile(join(labs, 'linked', 'lab.md'), labText)
      await symlink('/etc/hostname', join(labs, 'linked', 'starter.cu'))
      const { faults } = await readLabs(labs, await readCatalog(machine.kernelsDir))
      expect(faults.map(faultSentence)).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^a\/lab\.md:9: Its prerequisites form a cycle: a → b → a\.$/),
          expect.stringMatching(/^huge\/starter\.cu: It has 52428800 bytes/),
          expect.stringMatching(/^gone\/lab\.md:\d+: gone\.svg is not in the lab’s folder/),
          expect.stringMatching(/^linked\/starter\.cu: It is a symbolic link/),
          'binary/solution.cu: It is not a text file: it contains a zero byte.',
        ]),
      )
      expect(faults.filter(({ file }) => file.startsWith('many')).map(faultSentence)).toEqual([
        'many: The folder contains 100 files or more; a lab must have fewer.',
      ])
    })
  })
})

describe('grading with custom tasks', () => {
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

  /** Creates a folder with the files of a third-party lab. */
  async function labIn(machine: Machine, change: Record<string, string | null> = {}) {
    const folder = join(machine.dir, 'sums-lab')
    for (const [name, text] of Object.entries({ ...filesOf(), ...change })) {
      if (text === null) continue
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), text)
    }
    return folder
  }
  const libraryOf = ({ kernelsDir }: Machine) => readCatalog(kernelsDir)
  const read = async (machine: Machine, folder: string): Promise<LabFolder> =>
    readLab(folder, await libraryOf(machine))

  describe('a lab with a ladder folder', () => {
    it('is checked with its own task, sizes, rungs, and reference', async () => {
      const machine = await fakeMachine()
      const lab = await read(machine, await labIn(machine))
      const all = { right: 'passed', clean: 'passed', busy: 'passed', fast: 'passed' }
      expect(statusesOf(await check(machine, lab, lab.solution))).toEqual(all)
      const measured = machine.calls('runner').find((words) => words.includes('measure'))!
      expect(measured).toContain('x:f32:in:64:iota')
      expect(statusesOf(await check(machine, lab, lab.starter))).toEqual({ ...all, fast: 'failed' })
    })

    it('can ask questions about the sizes, and its session does not contain the folder', async () => {
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

    it("can be replayed from a stored attempt, even without its ladder's sources", async () => {
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

    it('is trusted as a whole, until a file in its ladder changes', async () => {
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
      [
        'missing',
        (folder) => rm(join(folder, 'ladder'), { recursive: true }),
        /no folder .*ladder/,
        5,
      ],
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
        'a link to the outside',
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
        'without the rung that the lab names',
        (folder) => writeFile(join(folder, 'lab.md'), labText.replace('before: b', 'before: x')),
        /rung x, which is neither in the ladder \.\/ladder \(a, b, c\)/,
        6,
      ],
      [
        'without the sizes that the lab names',
        (folder) => writeFile(join(folder, 'lab.md'), labText.replace('{ N: 64 }', '{ m: 64 }')),
        /size: /,
        9,
      ],
    ])('reports the line of the fault if the ladder is %s', async (_how, spoil, fault, line) => {
      const machine = await fakeMachine()
      const folder = await labIn(machine)
      await spoil(folder)
      const { labs, faults } = await readLabs(folder, await libraryOf(machine))
      expect(labs).toEqual([])
      // The consequences of the fault are not reported as separate faults.
      expect(faults.map((one) => [one.line, fault.test(one.message)])).toEqual([[line, true]])
    })
  })
})
