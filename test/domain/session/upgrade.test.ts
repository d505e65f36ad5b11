/** Sessions of older versions are upgraded as they are read. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readAttempt, readAttemptEvidence } from '../../../src-main/adapters/labs/attempt'
import { readDeep } from '../../../src-main/adapters/sessions/session-sources'
import {
  parseSession,
  readSession,
  readSessionText,
} from '../../../src-main/adapters/sessions/session-store'
import {
  type AnyMessage,
  englishTemplate,
  message,
  type MessageKey,
  type MessageValue,
  placeholder,
  says,
  together,
} from '../../../src-main/domain/messages/message'
import { inEnglish } from '../../../src-main/domain/text/text'
import { rungOf, type Session } from '../../../src-main/domain/session/session'
import { formats, upgraded } from '../../../src-main/domain/session/upgrade'
import { templates1 } from '../../../src-main/domain/session/upgrade/english-1'
import { sessionFrom2 } from '../../../src-main/domain/session/upgrade/from-2'
import { taskOfVersion1, withTask } from '../../../src-main/domain/session/upgrade/from-1'
import {
  recognize,
  recognizeAll,
  storedKeys,
} from '../../../src-main/domain/session/upgrade/recognize'
import { parseReportHtml } from '../../../src-main/parsers/report/report'
import { importHtml } from '../../../src-main/services/import/import-report'
import { tempDir } from '../../services/support'
import { saying } from '../../support'
import {
  attempts1,
  file1,
  inWordsOf1,
  report1,
  saidIn1,
  sessions1,
  withMetricsOf1,
  writeAttempt1,
} from '../../version-1'
import { gflops, problemLabel } from '../../../src-main/domain/task/problem'
import { sharedSessions, sharingSessions } from '../../../src-main/adapters/disk/journal'

describe('versions', () => {
  const open = (name: string): Session => parseSession(file1(`${name}.json`), `${name}.json`)
  const json = (text: string): Record<string, unknown> =>
    JSON.parse(text) as Record<string, unknown>

  /** What to set in where a bare figure is not what belongs there. */
  const moved = message('part.wentTimes', {
    metric: { metric: 'sharedLoads' },
    a: '805 M',
    b: '134 M',
    factor: 0.167,
  })
  const special: Readonly<Record<string, MessageValue>> = {
    metric: { metric: 'stallLongScoreboard' },
    moved,
    direction: message('part.up'),
    stage: message('part.verify'),
    missing: message('part.launchesMissing', { count: 3 }),
    part: message('checks.atMostRegisters', { most: 64 }),
    rest: message('part.noSpills'),
    bound: message('part.boundFrom', { sign: '≤', limit: '1.00 ms', from: '0.5 × 01_naive' }),
    other: message('part.bound', { sign: '≥', limit: '7' }),
    buffers: 'C',
    place: 'C[3][17]',
    faults: [
      message('part.tooManyRegisters', { registers: 72, most: 64 }),
      message('part.spills', { bytes: 8 }),
    ],
  }
  const counts = new Set(
    'at known actual expected minutes line count total exitCode seconds threads registers bytes blocks smCount most spills threadsBefore registersBefore factor tolerance'.split(
      ' ',
    ),
  )
  const namesIn = (template: string): string[] =>
    [...template.matchAll(placeholder)].map(([, name = '']) => name)

  const sampleOf = (key: MessageKey): AnyMessage => ({
    key,
    values: Object.fromEntries(
      namesIn((templates1 as Record<string, string>)[key]!).map((name) => [
        name,
        special[name] ?? (counts.has(name) ? 7 : '7'),
      ]),
    ),
  })

  describe('a sentence of version 1', () => {
    it.each(storedKeys)('%s is read back with its values', (key) => {
      const sample = sampleOf(key)
      expect(recognize(saidIn1(sample))).toEqual(sample)
    })

    it('has a message of this version, with the same values', () => {
      for (const [key, template] of Object.entries(templates1))
        expect(namesIn(englishTemplate(key as MessageKey)).sort(), key).toEqual(
          namesIn(template).sort(),
        )
    })

    it('may be among others, and contain a tool’s output', () => {
      const outside = message('records.writesOutside', { buffers: 'C' })
      expect(
        recognizeAll('It launches no kernel. Segmentation fault. It writes outside C.'),
      ).toEqual(together(message('figures.noKernel'), 'Segmentation fault.', outside))
      expect(recognize('At 1024³: The tool broke')).toEqual(
        message('checks.wrongAt', { size: '1024³', why: 'The tool broke' }),
      )
      expect(recognize('At 1024³: It writes outside C.')).toEqual(
        message('checks.wrongAt', { size: '1024³', why: outside }),
      )
    })

    it('of someone else stays as it is', () => {
      expect(recognize('nvcc: error: no such file')).toBeUndefined()
      expect(recognize('It launches no kernel. Or does it?')).toBeUndefined()
      expect(recognizeAll('ld: cannot find -lcublas. See nvcc.')).toBe(
        'ld: cannot find -lcublas. See nvcc.',
      )
      expect(recognize(`Computed from ${'9'.repeat(100_000)} threads`)).toBeUndefined()
    })
  })

  describe('a session of version 1', () => {
    it.each(sessions1)('%s has the same figures, and says the same', (name) => {
      const opened = open(name)
      expect(opened.schema).toBe(3)
      // What its problem becomes is tested below.
      expect(inWordsOf1(withMetricsOf1(opened))).toEqual(
        sessionFrom2(withTask(json(file1(`${name}.json`)))),
      )
    })

    it('has messages instead of its sentences', () => {
      const failures = open('failures')
      const reason = (id: string) => rungOf(failures, id)?.reason
      expect(reason('02_coalesced')).toEqual(
        message('records.crashed', { stage: message('part.verify'), signal: 'SIGSEGV' }),
      )
      expect(reason('03_shared_tile')).toEqual(
        message('records.hung', { stage: message('part.verify'), seconds: 2 }),
      )
      expect(says(reason('04_thread_tile_1d'), 'records.mismatchesAt')).toBe(true)
      expect(says(reason('05_thread_tile_2d'), 'records.notCompiling')).toBe(true)
      // What the CUDA runtime said stays as it is.
      expect(reason('06_float4')).toMatch(/an illegal memory access was encountered/)
      expect(open('no-ncu').warnings).toEqual([
        message('records.noCounters', {
          why: together(
            message('doctor.toolMissing', { tool: 'ncu' }),
            message('doctor.installNcu'),
          ),
        }),
        together(
          message('records.noRatios', { rung: '00_cublas' }),
          message('records.crashed', { stage: message('part.verify'), signal: 'SIGSEGV' }),
        ),
      ])
      for (const name of sessions1)
        for (const { metrics } of open(name).rungs)
          for (const [id, value] of Object.entries(metrics))
            expect(value.reason === undefined || typeof value.reason === 'object', id).toBe(true)
    })

    it('stays on disk as it was', async () => {
      const dir = await tempDir()
      await writeFile(join(dir, 'session.json'), file1('failures.json'))
      expect((await readSession(dir)).schema).toBe(3)
      expect(await readFile(join(dir, 'session.json'), 'utf8')).toBe(file1('failures.json'))
    })
  })

  /** Edits what lies at a path of a document of version 1. */
  function damaged(text: string, path: string, value: unknown): string {
    const document = json(text)
    const steps = path.split('.')
    const last = steps.pop()!
    const at = steps.reduce((so, step) => so[step] as Record<string, unknown>, document)
    at[last] = value
    return JSON.stringify(document)
  }

  describe('a session that cannot be read', () => {
    const text = file1('failures.json')
    it.each([
      [
        'schema',
        4,
        /it has schema 4 but this version reads up to 3; it was written by a newer kernel-ladder/,
      ],
      ['schema', 0, /it has schema 0, which no version of kernel-ladder writes/],
      ['schema', 1.5, /it has schema 1.5, which no version of kernel-ladder writes/],
      ['schema', 'one', /does not state its schema version/],
      ['warnings', 'none', /warnings/],
      ['warnings', [7], /this is no text, and no message that this version knows[^]*warnings\[0\]/],
      ['rungs', {}, /rungs/],
      ['rungs.1', null, /rungs\[1\]/],
      ['rungs.1.reason', 7, /rungs\[1\]\.reason/],
      ['rungs.0.metrics', [], /rungs\[0\]\.metrics/],
      ['rungs.0.metrics.fmaUtilization', 'high', /rungs\[0\]\.metrics\.fmaUtilization/],
      ['rungs.0.metrics.fmaUtilization.value', '7', /fmaUtilization\.value/],
      ['rungs.0.timing.medianMs', 'fast', /rungs\[0\]\.timing\.medianMs/],
      ['device', 'H200', /device/],
      ['ladder.rungs', null, /ladder\.rungs/],
      ['completion', 'half', /completion/],
      ['createdAt', 'today', /createdAt/],
    ])('for its %s of %j is refused with the reason', (path, value, why) => {
      expect(() => parseSession(damaged(text, path, value), 'session.json')).toThrow(why)
    })

    it.each([
      [{ schema: 4 }, /^The file was not changed\. Update kernel-ladder to open it\.$/],
      [{ device: 'H200' }, /^The file was not changed\. Use a backup/],
    ])('says what to do about %j, and its fault in one line', (change, remedy) => {
      const changed = JSON.stringify({ ...(JSON.parse(text) as object), ...change })
      expect(() => parseSession(changed, 'session.json')).toThrow(
        expect.objectContaining({
          message: expect.stringMatching(
            /^session\.json cannot be read as a session: .+\.$/,
          ) as string,
          remedy: saying(remedy),
        }) as Error,
      )
    })

    const now = JSON.stringify(open('failures'))
    const reason = (key: string, values: unknown) => ({ key, values })
    it.each([
      [reason('records.exploded', {}), /this is no text, and no message that this version knows/],
      [reason('records.hung', { seconds: 2 }), /records\.hung lacks this value[^]*values\.stage/],
      [
        reason('records.notReached', { when: 'never' }),
        /records\.notReached has no such value[^]*values\.when/,
      ],
      [reason('records.crashed', { stage: null, signal: '' }), /rungs\[1\]\.reason/],
      [{ sentences: [] }, /rungs\[1\]\.reason/],
      [{ sentences: [reason('records.exploded', {})] }, /rungs\[1\]\.reason/],
    ])('of schema 3, for a reason that is %j', (value, why) => {
      expect(() => parseSession(damaged(now, 'rungs.1.reason', value), 'session.json')).toThrow(why)
    })

    it('but a text beside a message, as a script has it, is no fault', () => {
      const hung = { ...message('records.notReached'), text: 'It was not reached.' }
      const { rungs } = parseSession(damaged(now, 'rungs.1.reason', hung), 'session.json')
      expect(rungs[1]?.reason).toEqual(message('records.notReached'))
    })
  })

  describe('an HTML report of version 1', () => {
    const html = readFileSync(report1, 'utf8')
    const data = /<script type="application\/json" id="kernel-ladder-report">(.*?)<\/script>/s.exec(
      html,
    )![1]!
    const withData = (text: string): string => html.replace(data, () => text)

    it('has the same figures, and says the same', () => {
      const { report, deep } = parseReportHtml(html, 'report.html')
      const before = json(data)
      expect(report.report).toBe(3)
      const [session] = (
        before.sessions as { session: Record<string, unknown>; sources: object }[]
      ).slice(0, 1)
      const now = report.sessions[0]!
      expect(inWordsOf1({ ...now, session: withMetricsOf1(now.session) })).toEqual({
        session: sessionFrom2(withTask(session!.session)),
        sources: session!.sources,
      })
      const profiles = Object.values(deep[0]!)
      expect(profiles.map(({ schema }) => schema)).toEqual([2])
      expect(
        report.sessions[0]?.session.rungs.some(({ reason }) => typeof reason === 'object'),
      ).toBe(true)
    })

    it('is imported as a session of this version', async () => {
      const dir = await tempDir()
      const { folder } = await importHtml(report1, { store: dir })
      const saved = json(await readFile(join(folder, 'session.json'), 'utf8'))
      expect(saved.schema).toBe(3)
      expect(await readFile(report1, 'utf8')).toBe(html)
    })

    it.each([
      [damaged(data, 'report', 4), /it has version 4 but this version reads up to 3/],
      [damaged(data, 'report', 0), /it has version 0, which no version of kernel-ladder writes/],
      ['{}', /does not state its report version/],
      [damaged(data, 'sessions', []), /sessions/],
      [damaged(data, 'sessions.0.session', null), /sessions\[0\]\.session/],
      [damaged(data, 'sessions.0.session.rungs.0.reason', 1), /rungs\[0\]\.reason/],
      [damaged(data, 'sessions.0.sources', [1]), /sources/],
      [data.slice(0, 200), /is not JSON/],
    ])('that cannot be read is refused with the reason: %#', (text, why) => {
      expect(() => parseReportHtml(withData(text), 'report.html')).toThrow(why)
    })
  })

  describe('a deep profile of version 1', () => {
    const rung = '01_naive'
    const kernel = { name: 'k', instructions: [], lines: [], opcodes: null, rules: [] }
    const notes = [
      'ncu showed no instructions of void k<4>(int).',
      'k was built without line information: its instructions have no source line.',
      "1 row of ncu's source page cannot be read and is left out.",
      "7 rows of ncu's source page cannot be read and are left out.",
      "Imported from mine.csv, which has ncu's advice and no counters of instructions or lines.",
      'Something else.',
    ]
    const opened = async (profile: object) => {
      const dir = await tempDir()
      await mkdir(join(dir, 'deep'))
      await writeFile(join(dir, 'deep', `${rung}.json`), JSON.stringify(profile))
      return readDeep(dir, rung)
    }

    it('says the same, as messages', async () => {
      const profile = await opened({ schema: 1, rung, kernels: [kernel], notes })
      expect(profile).toMatchObject({ schema: 2, rung, kernels: [kernel] })
      expect(profile!.notes).toEqual([
        message('deep.noInstructions', { kernel: 'void k<4>(int)' }),
        message('deep.noLines', { kernel: 'k' }),
        message('deep.rowUnreadable', { count: 1 }),
        message('deep.rowsUnreadable', { count: 7 }),
        message('deep.adviceAlone', { file: 'mine.csv' }),
        'Something else.',
      ])
      // As this version writes it, it is read as it is.
      expect(await opened(profile!)).toEqual(profile)
    })

    it('of a newer program, or none, is refused with the reason', async () => {
      const profile = { rung, kernels: [kernel], notes: [] }
      await expect(opened({ schema: 3, ...profile })).rejects.toThrow(
        /it has schema 3 but this version reads up to 2; it was written by a newer kernel-ladder/,
      )
      await expect(opened(profile)).rejects.toThrow(/does not state its schema version/)
    })
  })

  describe('an attempt at a lab of version 1', () => {
    it.each(attempts1)('%s has the same figures, and says the same', async (name) => {
      const dir = await tempDir()
      writeAttempt1(name, dir)
      const attempt = await readAttempt(dir)
      expect(attempt.outcome.schema).toBe(2)
      const before = json(file1(`labs/${name}/attempt.json`))
      expect(inWordsOf1(attempt)).toEqual({
        ...before,
        outcome: { ...(before.outcome as object), schema: 2 },
      })
      const { checks, predictions, questions } = attempt.outcome
      for (const part of [...checks, ...predictions, ...questions])
        expect(
          typeof part.sentence === 'object' || /illegal|undefined/.test(part.sentence),
          inEnglish(part.sentence),
        ).toBe(true)
    })

    it('has compute-sanitizer’s verdicts', async () => {
      const dir = await tempDir()
      writeAttempt1('out-of-bounds', dir)
      await mkdir(join(dir, 'session'))
      await writeFile(join(dir, 'session/session.json'), file1('failures.json'))
      const evidence = await readAttemptEvidence(dir)
      expect(json(file1('labs/out-of-bounds/sanitizer.json'))).toMatchObject(evidence!.sanitized)
      expect(evidence?.sanitized).toMatchObject({ clean: [{ status: 'found', total: 65 }] })
      await writeFile(
        join(dir, 'sanitizer.json'),
        '{"clean":{"reason":"compute-sanitizer gave no answer."}}',
      )
      expect((await readAttemptEvidence(dir))?.sanitized).toEqual({
        clean: { reason: message('tools.noAnswer') },
      })
      for (const [text, why] of [
        ['{"schema":3,"verdicts":{}}', /schema 3 but this version reads up to 2/],
        ['{"schema":2}', /verdicts/],
        ['{"clean":7}', /clean/],
        ['{', /is not JSON/],
      ] as const) {
        await writeFile(join(dir, 'sanitizer.json'), text)
        await expect(readAttemptEvidence(dir)).rejects.toThrow(why)
      }
    })

    it.each([
      ['outcome.schema', 3, /schema 3 but this version reads up to 2/],
      ['outcome.schema', null, /does not state its schema version/],
      ['outcome', 7, /does not state its schema version/],
      ['outcome.checks', {}, /checks/],
      ['outcome.checks.0.sentence', 7, /checks\[0\]\.sentence/],
      ['outcome.build.reason', [], /build\.reason/],
      ['answers', 7, /answers/],
    ])('for its %s of %j is refused with the reason', async (path, value, why) => {
      const dir = await tempDir()
      await writeFile(
        join(dir, 'attempt.json'),
        damaged(file1('labs/passed/attempt.json'), path, value),
      )
      await expect(readAttempt(dir)).rejects.toThrow(why)
    })
  })

  describe('an upgrader', () => {
    it('takes any value, and leaves it as it was', () => {
      const values = [null, 7, 'x', [], {}, [[{}]], { rungs: [null, 7, { metrics: [1] }] }]
      for (const format of Object.values(formats))
        for (const value of values) {
          const document = z.record(z.string(), z.unknown()).safeParse(value)
          const given = document.success ? { ...document.data, [format.version]: 1 } : value
          const before = JSON.stringify(given)
          upgraded(format, given)
          expect(JSON.stringify(given)).toBe(before)
        }
    })

    it('does not change with the wording of this version', () => {
      // A template that changes no longer recognizes what it wrote. A key may be renamed.
      // What is a value by now, as other tasks have others, was in its words.
      const written = (where: 'deep' | 'elsewhere'): string =>
        Object.entries(templates1)
          .filter(([key]) => key.startsWith('deep.') === (where === 'deep'))
          .map(([, template]) => template)
          .join('\n')
      const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
      const then = written('elsewhere')
        .replaceAll('{buffers}', 'C')
        .replaceAll('{place}', 'C[{row}][{column}]')
        .replace('{what} takes {fmas}', 'The product takes {fmas}')
      expect(hash(then)).toBe('4b49ad459309cb41')
      expect(hash(written('deep'))).toBe('d0acaf5702417692')
    })
  })
})

describe('problems of version 1', async () => {
  const recordings = join(import.meta.dirname, '../../../resources/recordings')
  const texts = new Map<string, string>()
  for (const name of await sharingSessions(join(recordings, sharedSessions))) {
    const { text } = (await readSessionText(join(recordings, name)))!
    if ((JSON.parse(text) as { schema: number }).schema === 1) texts.set(name, text)
  }
  const names = [...texts.keys()]

  interface Old {
    schema: number
    problem: { m: number; n: number; k: number; alpha: number; beta: number; dtype: string }
    rungs: {
      id: string
      epilogue?: string[]
      timing: { gflops: number; medianMs: number } | null
    }[]
  }

  describe('a session of version 1', () => {
    it('is what most recordings are', () => {
      expect(names.length).toBeGreaterThan(10)
    })

    it.each(names)('%s has its problem, its flags and every figure', (name) => {
      const old = JSON.parse(texts.get(name)!) as Old
      const session = parseSession(JSON.stringify(old), name)
      const { m, n, k, alpha, beta, dtype } = old.problem
      expect(session.problem).toEqual({
        sizes: { m, n, k },
        scalars: { alpha, beta },
        options: { dtype },
      })
      expect(problemLabel(session.problem!)).toBe(m === n && n === k ? `${m}³` : `${m}×${n}×${k}`)
      expect(session.rungs.map(({ flags }) => flags)).toEqual(
        old.rungs.map(({ epilogue = [] }) => epilogue),
      )
      expect(session.rungs.map(({ timing }) => timing)).toEqual(
        old.rungs.map(({ timing }) => timing && { cacheState: 'warm', ...timing }),
      )
      for (const { timing } of session.rungs)
        if (timing)
          expect(gflops(session.ladder.task, session.problem!, timing.medianMs)).toBe(timing.gflops)
    })

    const verify = (change: object) => ({
      passed: false,
      worstRelativeError: null,
      mismatches: 2,
      firstMismatch: null,
      outOfBounds: false,
      ...change,
    })
    const problem = { m: 1, n: 2, k: 3, alpha: 1, beta: 0.5, dtype: 'f16' }

    it('says which element was wrong, in the one buffer that was written', () => {
      const first = { row: 3, col: 17, expected: 1, actual: null }
      const found = withTask({
        target: { kind: 'live', name: 'local' },
        ladder: { id: 'a', dtype: 'f16', alpha: 1, beta: 0.5, rungs: [{ id: 'b', dtype: 'f32' }] },
        problem,
        rungs: [
          {
            id: 'b',
            verify: verify({ firstMismatch: first }),
            alsoVerified: [{ problem, verify: verify({ outOfBounds: true }) }],
          },
          { id: 'c', epilogue: ['relu'], verify: null },
        ],
      })
      const now = {
        sizes: { m: 1, n: 2, k: 3 },
        scalars: { alpha: 1, beta: 0.5 },
        options: { dtype: 'f16' },
      }
      expect(found).toMatchObject({
        problem: now,
        ladder: {
          task: taskOfVersion1,
          options: { dtype: 'f16' },
          rungs: [{ id: 'b', options: { dtype: 'f32' } }],
        },
        rungs: [
          {
            flags: [],
            verify: {
              firstMismatch: { buffer: 'c', index: [3, 17], expected: 1, actual: null },
              outOfBounds: [],
              changedInputs: [],
            },
            alsoVerified: [{ problem: now, verify: { outOfBounds: ['c'] } }],
          },
          { flags: ['relu'], verify: null },
        ],
      })
      expect(JSON.stringify(found)).not.toContain('"epilogue":[')
    })

    it('that was imported has no problem, and no task', () => {
      const one = { m: 1, n: 1, k: 1 }
      const found = withTask({
        target: { kind: 'imported', name: 'a.csv' },
        ladder: {
          ...{ id: 'imported', dtype: 'f32', alpha: 1, beta: 0, sizes: [one] },
          rungs: [{ id: 'b', header: { id: 'b', dtypes: ['f32'] } }],
        },
        problem: { ...one, alpha: 1, beta: 0, dtype: 'f32' },
        rungs: [],
      })
      expect(found).toEqual({
        target: { kind: 'imported', name: 'a.csv' },
        ladder: {
          ...{ id: 'imported', task: null, scalars: {}, options: {}, sizes: [] },
          rungs: [{ id: 'b', header: { id: 'b', options: {}, flags: [] } }],
        },
        problem: null,
        rungs: [],
      })
    })

    it('that is damaged stays as it is, for its schema to say where', () => {
      expect(withTask({ problem: 'gone', rungs: 7 })).toMatchObject({ problem: 'gone', rungs: 7 })
    })
  })
})
