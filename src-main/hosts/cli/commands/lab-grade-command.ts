/**
 * `kernel-ladder lab grade`: grades a folder of submissions. The result is a table with one row per
 * student.
 */
import { readdir, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { Setup, SetUp } from '../../../adapters/machine/machine'
import { inEnglish } from '../../../domain/text/english'
import { diskError, errorCode } from '../../../adapters/disk/disk'
import { readRecord, type GradeRecord } from '../../../adapters/labs/grade-records'
import { isIsolated, isolationSentence, type Isolation } from '../../../adapters/sandbox/isolation'
import type { Limits } from '../../../adapters/sandbox/sandbox'
import { exitCodes, inputError, missingError } from '../../../domain/errors'
import { gradeFolder, regradeRecord } from '../../../services/labs/grade'
import { listLabs, openLab } from '../../../services/labs/find-lab'
import { can, parseTarget } from '../../../domain/targets/targets'
import { appVersion } from '../../../services/version'
import { parseLabTarget } from '../parse-run-request'
import { labTarget } from './lab-command'
import { abortOnStop } from '../stop-signals'
import { folderCommandThere, folderTasksThere, machineOf, withOption } from '../elsewhere'
import { note, printJson, printText } from '../output'
import type { GradeRow } from '../../../domain/labs/grade-row'
import { isShipped, isTrusted, requireTrust, trustLab } from '../../../services/labs/trust'
import { parsePart, wholeNumber } from '../option-values'
import { confirmed } from '../ask'
import { labGradeDocument } from '../documents/lab-grade'
import type { GradeRequest } from '../../../services/labs/judge-submission'
import { csvOf, textOf, counted, startSentence, endSentence, type Batch } from './grade-output'

export interface LabGradeOptions {
  lab?: string
  jobs?: string
  timeout?: string
  memory?: string
  target?: string
  unisolated?: boolean
  readable?: string[]
  csv?: boolean
  json?: boolean
  out?: string
  /** Number of tasks in the Slurm array. */
  tasks?: string
  /** Part of the submissions that one task grades, such as `3/40`. */
  part?: string
  trust?: boolean
}

/**
 * Returns the batches to grade. `--lab`, the folder's name, or the names of its subfolders
 * determine the lab.
 */
async function batchesOf(
  setup: Setup,
  dir: string,
  { lab: named, trust }: LabGradeOptions,
): Promise<Batch[]> {
  const folder = resolve(dir)
  const open = async (name: string, at: string): Promise<Batch> => {
    const lab = await openLab(setup, name)
    if (trust && !(await isTrusted(setup, lab))) await trustLab(setup.machine.folders, lab)
    await requireTrust(setup, lab)
    return { lab, folder: at }
  }
  if (named !== undefined) return [await open(named, folder)]
  const shipped = new Set((await listLabs(setup)).labs.map(({ id }) => id))
  if (shipped.has(basename(folder))) return [await open(basename(folder), folder)]
  const inside = (await readdir(folder).catch(() => [] as string[])).filter((name) =>
    shipped.has(name),
  )
  if (inside.length === 0)
    throw inputError(
      `Cannot tell which lab the submissions in ${dir} are for.`,
      'Give the lab with --lab, or name the folder or its subfolders after labs.',
    )
  return Promise.all(inside.sort().map((name) => open(name, join(folder, name))))
}

const GiB = 2 ** 30

function limitsOf(options: Pick<LabGradeOptions, 'timeout' | 'memory'>): Limits {
  return {
    seconds: wholeNumber(options.timeout ?? '120', '--timeout', 86_400, 4),
    memoryBytes: wholeNumber(options.memory ?? '8', '--memory', 4096) * GiB,
    processes: 256,
    outputBytes: 32 * 1024 * 1024,
    fileBytes: GiB,
    diskBytes: GiB,
  }
}

/** Returns the real paths of the folders. Throws an error if a folder does not exist. */
const readableFolders = (folders: readonly string[]): Promise<string[]> =>
  Promise.all(
    folders.map((folder) =>
      realpath(folder).catch(() => {
        throw inputError(`--readable ${folder} does not exist.`, 'Use an existing folder.')
      }),
    ),
  )

/**
 * Throws an error unless submissions run in isolation or the user consents. The user consents with
 * an option or by answering a question.
 */
async function allowUnisolated(
  isolation: Isolation,
  { unisolated }: Pick<LabGradeOptions, 'unisolated'>,
): Promise<boolean> {
  if (unisolated) return true
  const refusal = missingError(
    `This machine cannot isolate submissions as required. ${isolationSentence(isolation)}`,
    'Grade on a machine with util-linux (unshare, setpriv) where user namespaces are allowed, or as root; or pass --unisolated to run them anyway.',
  )
  if (!process.stdin.isTTY) throw refusal
  if (await confirmed('Submissions would be able to access everything listed above.')) return true
  throw refusal
}

/**
 * Creates the output file early, so that an unwritable path is noticed before grading, which can
 * take an hour.
 */
async function reserve(file: string): Promise<string> {
  const path = resolve(file)
  try {
    await writeFile(path, '', { flag: 'wx' })
  } catch (error) {
    if (errorCode(error) === 'EEXIST')
      throw inputError(`${path} already exists.`, 'Choose another file; nothing is overwritten.')
    throw diskError(error, path, 'write')
  }
  return path
}

/**
 * Writes the file. If the write fails, prints the file's content instead, so that no grade is lost.
 */
async function writeOrPrint(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text)
  } catch (error) {
    process.stdout.write(text)
    throw diskError(error, path, 'write')
  }
}

/** Grades the submissions. Progress and notices go to stderr, and only the table goes to stdout. */
export async function labGradeCommand(
  setUp: SetUp,
  dir: string,
  options: LabGradeOptions,
  given: readonly string[] = [],
): Promise<number> {
  if ((options.csv ?? options.out !== undefined) && options.json)
    throw inputError(
      `${options.csv ? '--csv' : '--out'} cannot be combined with --json.`,
      'Use one or the other.',
    )
  const setup = await setUp()
  const elsewhere = machineOf(options.target)
  if (elsewhere !== null) return gradeThere(setup, elsewhere, dir, options, given)
  if (options.tasks !== undefined)
    throw inputError(
      '--tasks requires --target and a machine with Slurm.',
      'On this machine, each GPU grades one submission at a time; --jobs sets how many.',
    )
  const target = await labTarget(setup, options.target, { checks: [] })
  const batches = await batchesOf(setup, dir, options)
  const limits = limitsOf(options)
  const out = options.out === undefined ? null : await reserve(options.out)
  try {
    return await gradeBatches(setup, batches, limits, target, out, options)
  } catch (error) {
    if (out !== null && (await stat(out)).size === 0) await rm(out, { force: true })
    throw error
  }
}

/** Slurm's default limit on the number of array tasks. */
const mostTasks = 1000

/**
 * Runs the grading command on a remote machine. First sends the current submissions and the
 * teacher's lab, if any.
 */
async function gradeThere(
  setup: Setup,
  machine: string,
  dir: string,
  options: LabGradeOptions,
  given: readonly string[],
): Promise<number> {
  const labs = await batchesOf(setup, dir, options)
  const own = labs.find(({ lab }) => !isShipped(setup, lab))?.lab.folder
  const tasks =
    options.tasks === undefined ? null : wholeNumber(options.tasks, '--tasks', mostTasks, 2)
  const out = options.out === undefined ? null : await reserve(options.out)
  const signal = abortOnStop('stopping there; the same command resumes after the finished rows.')
  const command = {
    words: withOption(given, '--tasks', null, true),
    folders: [dir, ...(own === undefined ? [] : [own])],
    change(words: readonly string[], [submissions, lab]: readonly string[]) {
      const there = words.map((word) => (word === dir ? submissions! : word))
      return lab === undefined
        ? there
        : withOption(withOption(there, '--lab', lab), '--trust', true)
    },
  }
  if (tasks !== null)
    await folderTasksThere(
      setup,
      machine,
      {
        ...command,
        change: (words, places) =>
          ['--json', '--csv', '--out'].reduce(
            (kept, name) => withOption(kept, name, null, name === '--out'),
            withOption(command.change(words, places), '--part', `{task}/${tasks}`),
          ),
      },
      tasks,
      signal,
    )
  const { code, stdout } = await folderCommandThere(
    setup,
    machine,
    {
      ...command,
      change(words, places) {
        const there = command.change(words, places)
        return out === null
          ? there
          : withOption(withOption(there, '--out', null, true), '--csv', true)
      },
    },
    signal,
  )
  if (out === null) process.stdout.write(stdout)
  else await writeOrPrint(out, stdout)
  return code
}

async function gradeBatches(
  setup: Setup,
  batches: readonly Batch[],
  limits: Limits,
  target: GradeRequest['target'],
  out: string | null,
  options: LabGradeOptions,
): Promise<number> {
  const signal = abortOnStop('stopping; finished rows are printed.')
  const rows: GradeRow[] = []
  const solutions: GradeRow[] = []
  let isolation = ''
  let seconds = 0
  let reused = 0
  let allowed = false
  for (const { lab, folder } of batches) {
    if (signal.aborted) break
    const request: GradeRequest = {
      ...{ setup, folder, lab, limits, target },
      ...(options.part === undefined ? {} : { part: parsePart(options.part) }),
      ...(options.jobs === undefined ? {} : { jobs: wholeNumber(options.jobs, '--jobs', 256) }),
      program: process.argv[1]!,
      readable: await readableFolders(options.readable ?? []),
    }
    const grades = await gradeFolder(request, {
      onStart: async (facts) => {
        isolation = isolationSentence(facts.isolation)
        const abilities = can(parseTarget(target)!)
        note(`${lab.id}: ${startSentence(facts, abilities)}`)
        note(isolation)
        if (abilities.needsGpu && facts.jobs > Math.max(1, facts.gpus))
          note('warning: several submissions share a GPU, which distorts their times.')
        allowed ||= isIsolated(facts.isolation) || (await allowUnisolated(facts.isolation, options))
      },
      onSolution: (row) => {
        solutions.push(row)
        if (row.status !== 'passed')
          note(
            `warning: the lab’s own solution does not pass on this machine, so submissions cannot be expected to pass: ${inEnglish(row.reason)}`,
          )
      },
      onRow: (row, done, total) => {
        note(
          `  ${done}/${total} ${row.student}: ${row.status} in ${row.seconds.toFixed(1)} s. ${inEnglish(row.reason)}`,
        )
      },
      onResumed: (count) => {
        reused += count
        note(
          `${counted(count, 'row')} of earlier gradings of these submissions ${count === 1 ? 'is' : 'are'} reused.`,
        )
      },
      onLeft: noteLeft,
      signal,
    })
    rows.push(...grades.rows)
    seconds += grades.seconds
  }
  if (out !== null) await writeOrPrint(out, csvOf(batches, rows))
  else if (options.csv) process.stdout.write(csvOf(batches, rows))
  else if (options.json) printJson(labGradeDocument, { isolation, seconds, solutions, rows })
  else printText(textOf(rows))
  note(endSentence(rows, reused, seconds))
  const alike = rows.filter(({ similarTo }) => similarTo.length > 0).length
  if (alike > 0)
    note(`${alike} closely resemble another submission: compare both before drawing conclusions.`)
  const copies = rows.filter(({ likeSolution }) => likeSolution !== null).length
  if (copies > 0) note(`${copies} closely resemble the lab’s own solution, apart from their names.`)
  if (signal.aborted) return exitCodes.cancelled
  // Grading a part always succeeds, because the final grading also grades the submissions that the
  // parts missed.
  if (options.part !== undefined) return 0
  const judged = rows.some(({ status }) => status !== 'unavailable')
  const able = [...solutions, ...rows].some(({ status }) => status === 'passed')
  if (judged && able) return 0
  note('Nothing could be graded: even the lab’s own solution does not pass on this machine.')
  return exitCodes.missing
}

/**
 * `kernel-ladder lab regrade`: grades one submission again, for appeals. The exit code is 0 if the
 * row is the same, and 1 if it differs.
 */
export async function labRegradeCommand(
  setUp: SetUp,
  file: string,
  options: Pick<LabGradeOptions, 'timeout' | 'memory' | 'unisolated' | 'readable'>,
): Promise<number> {
  const setup = await setUp()
  const record = await readRecord(resolve(file))
  const lab = await openLab(setup, record.lab)
  await requireTrust(setup, lab)
  if (record.appVersion !== appVersion)
    note(`warning: it was graded by version ${record.appVersion}, and this is ${appVersion}.`)
  const { row, differs } = await regradeRecord(
    {
      ...{ setup, lab, limits: limitsOf(options), target: parseLabTarget(record.target) },
      program: process.argv[1]!,
      readable: await readableFolders(options.readable ?? []),
    },
    record,
    {
      async onStart(isolation) {
        note(isolationSentence(isolation))
        if (!isIsolated(isolation)) await allowUnisolated(isolation, options)
      },
      onLeft: noteLeft,
      signal: abortOnStop('stopping.'),
    },
  )
  printText(textOf([{ ...row, record: null }]))
  if (differs.length === 0) note('The row is the same as then.')
  for (const name of differs) note(`${name}: ${differenceIn(name, record, row)}`)
  return differs.length === 0 ? 0 : exitCodes.failed
}

const differenceIn = (name: string, { row: then }: GradeRecord, now: GradeRow): string =>
  name === 'cubin'
    ? 'the compiler now generates different machine code'
    : name === 'status'
      ? `${then.status} then, ${now.status} now`
      : `${then.checks[name] ?? 'absent'} then, ${now.checks[name] ?? 'absent'} now`

const noteLeft = (folder: string): void =>
  note(`warning: ${folder} could not be removed; remove it yourself.`)
