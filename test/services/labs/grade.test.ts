/**
 * Tests grading without a sandbox: the choice of an outcome, and the rows that survive a killed
 * grading.
 */
import { readdir, readFile, writeFile, cp, mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readHandedIn } from '../../../src-main/adapters/labs/workspace'
import { outcomeExitCode } from '../../../src-main/domain/labs/outcome'
import { said, withAsked } from '../../support'
import { fakeMachine, tempDir, recordingsDir, root, setupIn, shippedKernels } from '../support'
import { check, testLab, statusesOf } from './support'
import { readCatalog } from '../../../src-main/adapters/catalog/catalog'
import { readShippedLabs, type LabFolder } from '../../../src-main/adapters/labs/lab-folders'
import { openRaw } from '../../../src-main/adapters/tools/raw-files'
import { readSources } from '../../../src-main/adapters/sessions/session-sources'
import { readSession, readSessionText } from '../../../src-main/adapters/sessions/session-store'
import { submissionId } from '../../../src-main/domain/labs/judge/evidence'
import { asRecording, listRecordings } from '../../../src-main/services/sessions/recordings'
import { recordedOutcomes } from '../../../src-main/services/labs/recorded'
import { toErrorShape } from '../../../src-main/domain/errors'
import { addLab } from '../../../src-main/services/labs/find-lab'
import { emptyRow } from '../../../src-main/domain/labs/grade-row'
import { sharedSessions, sharingSessions } from '../../../src-main/adapters/disk/shared-sessions'
import {
  attemptListFile,
  listRecordedAttempts,
  recordedLabs,
  recordedOutcomeOf,
} from '../../../src-main/adapters/labs/recorded-attempts'
import { listSubmissions } from '../../../src-main/adapters/labs/submissions'
import { openFinishedRows, submissionHash } from '../../../src-main/adapters/labs/grading-journal'
import { replay } from '../../../src-main/services/sessions/replay-recording'
import { toRow } from '../../../src-main/services/labs/judge-submission'
import { endSentence, startSentence } from '../../../src-main/hosts/cli/commands/grade-output'

describe("a submission's row", () => {
  it('has the outcome that its judge printed, or the reason for a missing outcome', async () => {
    const machine = await fakeMachine()
    const lab = await testLab(machine)
    const { outcome } = await check(machine, lab, lab.solution)
    const ended = (stdout: string, exitCode: number | null, stderr = '') =>
      toRow({ lab }, 'a', { stdout, stderr, stopped: null, seconds: 1, exitCode: exitCode! })
    const printed = (document: object) => JSON.stringify(document)
    const judged = { outcome, cubin: 'c', descriptions: [] }
    expect(ended(printed(judged), 0)).toMatchObject({ row: { status: 'passed' }, judged })
    const error = { kind: 'input', message: 'answers.yaml is no YAML.' }
    expect(ended(printed({ error }), 2).row).toMatchObject({
      status: 'refused',
      reason: error.message,
    })
    // Cases in which the judge crashed, ran out of memory, or printed half a document.
    for (const [stdout, code, why] of [
      ['', 137, 'exit code 137'],
      ['', null, 'heap out of memory'],
      [printed(judged).slice(0, -9), 1, 'exit code 1'],
      [printed({ ...judged, outcome: { ...outcome, status: 'great' } }), 0, 'exit code 0'],
    ] as const) {
      const { row } = ended(stdout, code, code === null ? 'heap out of memory' : '')
      expect(row.status).toBe('stopped')
      expect(Object.values(row.checks)).not.toContain('passed')
      expect(said(row.reason)).toContain(why)
    }
  })
})

describe('a folder of submissions', () => {
  it('has a one-line row for each student, even if a file name contains unusual bytes', async () => {
    const dir = await tempDir()
    const at = (bytes: string) =>
      Buffer.concat([Buffer.from(`${dir}/`), Buffer.from(bytes, 'latin1')])
    for (const name of ['m\xfcller', 'm\xfdller', 'one\ntwo', 'back\\slash', 'esc\x1b[2J'])
      await writeFile(at(`${name}.cu`), 'code')
    await mkdir(at('fold\xff'))
    await writeFile(at('fold\xff/lab.cu'), 'code of a folder')
    await writeFile(at('fold\xff/answers.yaml'), 'answers')
    await writeFile(join(dir, '김민지.cu'), 'code')
    const found = await listSubmissions(dir)
    expect(found.map(({ student }) => student).sort()).toEqual(
      [
        ...['back\\slash', 'esc\\x1b[2J', 'fold\\xff', 'm\\xfcller', 'm\\xfdller'],
        ...['one\\x0atwo', '김민지'],
      ].sort(),
    )
    for (const { file } of found) expect((await readHandedIn(file!)).source).toMatch(/^code/)
    const folder = found.find(({ student }) => student === 'fold\\xff')!
    expect(await readHandedIn(folder.file!)).toEqual({
      source: 'code of a folder',
      answers: 'answers',
    })
  })

  it('is announced before grading and summarized afterward', () => {
    const gpu = { needsGpu: true, replays: false }
    const facts = { submissions: 1, jobs: 1, gpus: 1 }
    expect(startSentence(facts, gpu)).toBe('1 submission, 1 at a time on 1 GPU')
    expect(startSentence({ submissions: 20, jobs: 2, gpus: 2 }, gpu)).toBe(
      '20 submissions, 2 at a time on 2 GPUs',
    )
    // A machine with a GPU may still grade on the emulated GPU.
    expect(startSentence(facts, { needsGpu: false, replays: false })).toBe(
      '1 submission, 1 at a time on the emulated GPU',
    )
    const rows = [{ seconds: 2 }, { seconds: 3 }]
    expect(endSentence(rows, 0, 4)).toBe('2 graded in 4.0 s.')
    expect(endSentence(rows, 2, 0.1)).toBe(
      '2 graded, 0 of them now in 0.1 s; grading all rows took 5.0 s.',
    )
  })
})

describe('rows from a killed grading', () => {
  const grading = {
    ...{ folder: '/handed-in', lab: 'a', program: 'b', target: 'local' },
    ...{ limits: {}, gpus: ['0'], isolated: null },
  }

  it('are found by student, code, and grading, even after a truncated line', async () => {
    const cache = await tempDir()
    const machine = await fakeMachine()
    const { lab } = await testLab(machine)
    const row = (student: string) => emptyRow(lab, student, 'stopped', 'x', 2)
    const code = submissionHash('code', null)
    const first = await openFinishedRows({ cache }, grading)
    expect(first.find('a', code)).toBeUndefined()
    await first.add(code, row('a'))
    const [name] = await readdir(join(cache, 'grades'))
    const file = join(cache, 'grades', name!)
    await writeFile(file, `${await readFile(file, 'utf8')}\n{"submission":"x","row":{"stu`)
    await first.add(code, row('b'))

    const next = await openFinishedRows({ cache }, grading)
    expect(next.find('a', code)).toEqual(row('a'))
    expect(next.find('b', code)).toEqual(row('b'))
    expect(next.find('a', submissionHash('code', 'answers'))).toBeUndefined()
    const other = await openFinishedRows({ cache }, { ...grading, gpus: ['1'] })
    expect(other.find('a', code)).toBeUndefined()
    await next.forget()
    expect((await openFinishedRows({ cache }, grading)).find('a', code)).toBeUndefined()
  })
})

// Tests the shipped outcomes: every lab's starter and solution on an H200, replayed without a GPU.

const catalog = await readCatalog(join(root, 'cuda-kernels'))
const { labs } = await readShippedLabs(catalog)
const attempts = await listRecordedAttempts(recordingsDir)
const attemptOf = (name: string) => attempts.find((attempt) => attempt.name === name)!
const both = labs.flatMap((lab) =>
  (['starter', 'solution'] as const).map((which) => ({
    lab,
    which,
    name: `${lab.id}-${which}-h200`,
  })),
)
const nothing = ['nvcc', 'nvidia-smi', 'ncu', 'compute-sanitizer']

const areJudgedAgain = (some: readonly LabFolder[]) => (): void => {
  it.each(some.map((lab) => [lab.id, lab] as const))(
    '%s: the solution passes every check, with measured figures, on a machine without tools',
    async (_, lab) => {
      const machine = await fakeMachine(nothing)
      const { outcome } = await check(machine, lab, lab.solution, undefined, 'recorded')
      expect(said(outcome)).toMatchObject({
        status: 'passed',
        target: { kind: 'recorded', name: `${lab.id}-solution-h200` },
        device: { name: 'NVIDIA H200', computeCapability: '9.0' },
        reason: null,
      })
      expect(outcomeExitCode(outcome)).toBe(0)
      expect(outcome.checks.map(({ id }) => id)).toEqual(lab.lab.checks.map(({ id }) => id))
      for (const { id, kind, status, figures } of outcome.checks) {
        expect(status, id).toBe('passed')
        if (kind === 'metric' || kind === 'time') expect(figures.length, id).toBeGreaterThan(0)
        for (const { value } of figures) {
          expect(value.evidence, id).not.toBe('unavailable')
          expect(value.value, id).toEqual(expect.any(Number))
        }
      }
      // Every prediction has a value before, a value after, and an explanation from counters.
      for (const { id, before, after, direction, explanation } of outcome.predictions) {
        expect([before.value, after.value], id).toEqual([
          expect.any(Number) as number,
          expect.any(Number) as number,
        ])
        expect(direction, id).not.toBeNull()
        expect(explanation.length, id).toBeGreaterThan(0)
      }
      expect(machine.calls()).toEqual([])
    },
  )

  it.each(some.map((lab) => [lab.id, lab] as const))(
    '%s: the starter fails exactly the checks listed in the lab',
    async (_, lab) => {
      const machine = await fakeMachine(nothing)
      const attempt = await check(machine, lab, lab.starter, undefined, 'recorded')
      const failing = lab.lab.starterFails
      expect(failing?.length).toBeGreaterThan(0)
      expect(statusesOf(attempt)).toEqual(
        Object.fromEntries(
          lab.lab.checks.map(({ id }) => [id, failing!.includes(id) ? 'failed' : 'passed']),
        ),
      )
      expect(outcomeExitCode(attempt.outcome)).toBe(1)
    },
  )

  it.each(
    both.filter(({ lab }) => some.includes(lab)).map((entry) => [entry.name, entry] as const),
  )(
    '%s replays to the session and checks that were recorded on the GPU',
    async (name, { lab, which }) => {
      const machine = await fakeMachine(nothing)
      const attempt = attemptOf(name)
      const kept = await readSession(attempt.folder)
      const { session } = await replay(
        asRecording(name, attempt.folder, kept)!,
        { params: {}, profile: kept.settings.profile },
        () => undefined,
        new AbortController().signal,
      )
      expect(withAsked(session, kept)).toEqual({
        ...withAsked(kept, kept),
        target: { kind: 'recorded', name },
      })
      const then = recordedOutcomeOf(attempt)
      const now = await check(machine, lab, lab[which], undefined, 'recorded')
      // Authors may change titles after a recording.
      const untitled = ({ outcome }: typeof then): object[] =>
        outcome.checks.map(({ title: _, ...check }) => check)
      expect(untitled(now)).toEqual(untitled(then))
    },
  )
}

/** Returns whether the CLI tests also check this lab. */
const isUsual = ({ id }: LabFolder): boolean =>
  ['01-coalescing', '02-shared-tile', '12-tensor-cores'].includes(id)
describe('the recorded outcomes of three labs', areJudgedAgain(labs.filter(isUsual)))
describe(
  'the recorded outcomes of all other labs',
  { tags: ['thorough'] },
  areJudgedAgain(labs.filter((lab) => !isUsual(lab))),
)

describe('the recorded outcomes', () => {
  it('cover every starter and every solution, and are not ladder recordings', async () => {
    const names = both.map(({ name }) => name).sort()
    expect(attempts.map(({ name }) => name)).toEqual(names)
    expect(await sharingSessions(join(recordedLabs(recordingsDir), sharedSessions))).toEqual(names)
    const ladders = new Set((await listRecordings(recordingsDir)).map(({ name }) => name))
    expect(both.filter(({ name }) => ladders.has(name))).toEqual([])
    expect(ladders.has('labs')).toBe(false)
  })

  it.each(both.map((entry) => [entry.name, entry] as const))(
    "%s has the shipped code and its rungs' sources, but no serial number or folder of its machine",
    async (name, { lab, which }) => {
      const { folder, row } = attemptOf(name)
      const session = await readSession(folder)
      const { texts: sources } = await readSources(folder, session)
      expect(Object.keys(sources).sort()).toEqual(session.rungs.map(({ id }) => id).sort())
      expect(sources[submissionId]).toBe(lab[which])
      const { keys, get } = await openRaw(folder)
      expect(keys).toContain('runner/device')
      const texts = [
        JSON.stringify(row),
        (await readSessionText(folder))!.text,
        ...(await Promise.all(keys.map(async (key) => JSON.stringify(await get(key))))),
      ]
      for (const text of texts)
        expect(text).not.toMatch(/GPU-[0-9a-f]{8}-|<serial>\d|\/home\/|\/root\/|\/tmp\//)
    },
  )

  it('are not offered if their list has a damaged row, which a check reports', async () => {
    const dir = await tempDir()
    const [lab] = labs
    const { row } = attemptOf(`${lab!.id}-solution-h200`)
    await cp(recordedLabs(recordingsDir), recordedLabs(dir), { recursive: true })
    await rm(attemptListFile(dir))
    const machine = await fakeMachine(nothing)
    const offered = () =>
      recordedOutcomes({ ...machine.setup.assets, recordingsDir: dir }, lab!).then((found) =>
        found.map(({ which }) => which),
      )
    const holds = (...rows: unknown[]) =>
      writeFile(
        attemptListFile(dir),
        rows.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n'),
      )
    expect(await offered()).toEqual([])
    await holds(row)
    expect(await offered()).toEqual(['solution'])
    for (const [rows, where, why] of [
      [[row, '{'], 2, /is not JSON/],
      [[row, { ...row, name: '../../elsewhere' }], 2, /name/],
      [[{ ...row, sanitized: { schema: 2 } }], 1, /verdicts/],
    ] as const) {
      await holds(...rows)
      const checked = check(machine, lab!, lab!.solution, undefined, 'recorded', {
        recordingsDir: dir,
      })
      await expect(checked).rejects.toThrow(why)
      await expect(checked).rejects.toThrow(`${attemptListFile(dir)}:${where} cannot be read`)
    }
    await holds({ ...row, outcome: { ...(row.outcome as object), schema: 3 } })
    expect(await offered()).toEqual([])
  })

  it('explain why a changed file has no verdict, with compiler messages if nvcc is available', async () => {
    const machine = await fakeMachine(['nvidia-smi', 'ncu', 'compute-sanitizer'])
    for (const lab of labs) {
      const mine = `${lab.solution}\n// mine\n`
      const { outcome } = await check(machine, lab, mine, undefined, 'recorded')
      expect(outcomeExitCode(outcome), lab.id).toBe(3)
      expect(said(outcome.reason), lab.id).toMatch(/neither\. To measure the file, use a GPU/)
      expect(outcome.device).toBeNull()
      for (const { id, kind, status } of outcome.checks)
        expect(status, `${lab.id} ${id}`).toBe(kind === 'static' ? 'passed' : 'unavailable')
    }
  })
})

describe("adding a user's folder", () => {
  it('reveals neither the existence nor the file names of a folder that is not a lab', async () => {
    const dir = await tempDir()
    await mkdir(join(dir, 'private'))
    await symlink('/etc/hostname', join(dir, 'private', 'salaries.xlsx'))
    const setup = setupIn(dir, { kernelsDir: shippedKernels })
    const told = async (folder: string): Promise<string> =>
      addLab(setup, join(dir, folder)).catch((error: unknown) =>
        JSON.stringify(toErrorShape(error)).replaceAll(folder, 'FOLDER'),
      )
    expect(await told('private')).toBe(await told('nowhere'))
    expect(await told('private')).toContain('labs.notLab')
  })
})
