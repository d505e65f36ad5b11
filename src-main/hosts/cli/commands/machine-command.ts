/** `kernel-ladder machine`: manages the machines that `--target` can name. */
import { machinesPath, readMachines, writeMachine } from '../../../adapters/remote/machines-store'
import { sbatchWords } from '../../../adapters/remote/slurm'
import type { HostKey } from '../../../adapters/remote/ssh'
import type { SetUp } from '../../../adapters/machine/machine'
import { DoctorReport, RunRequest } from '../../../contract'
import { exitCodes, inputError, KernelLadderError } from '../../../domain/errors'
import { MachineEntry } from '../../../domain/remote/machine-file'
import { submittedId } from '../../../domain/remote/slurm-job'
import { messageOf } from '../../../domain/messages/message'
import { inEnglish } from '../../../domain/text/english'
import { findRuns, openMachine, prepare, runWords } from '../../../services/remote/remote-job'
import { bringReport, findReport, openInNsight } from '../../../services/remote/ncu-report'
import { openNamed } from '../../../services/sessions/open-session'
import { resumeRun } from '../../../services/targets/machine'
import { abortOnStop } from '../stop-signals'
import {
  machineCheckDocument,
  machineRunsDocument,
  machinesDocument,
  machineFetchDocument,
} from '../documents/machines'
import { note, printJson, printText } from '../output'
import { table } from '../table'
import { progressPrinter } from '../progress'
import { printRun } from './run-command'
import { Job } from '../../../domain/remote/job-protocol'
import { addMachine, lookAtHost, refuseName } from '../../../services/remote/add-machine'
import { confirmed } from '../ask'
import { doctorText } from './doctor-command'

export interface MachineAddOptions {
  ssh?: string
  slurm?: boolean
  partition?: string
  account?: string
  qos?: string
  gres?: string
  constraint?: string
  time?: string
  sbatch?: string[]
  before?: string[]
  after?: string[]
  fingerprint?: string
  replace?: boolean
}

const slurmNames = ['partition', 'account', 'qos', 'gres', 'constraint', 'time'] as const

function slurmOf({ slurm, sbatch, ...options }: MachineAddOptions) {
  const given = slurmNames.filter((name) => options[name] !== undefined)
  const alone = given[0] ?? (sbatch ? 'sbatch' : undefined)
  if (!slurm && alone !== undefined)
    throw inputError(`--${alone} requires --slurm.`, `Add --slurm, or leave --${alone} out.`)
  return {
    ...Object.fromEntries(given.map((name) => [name, options[name]])),
    ...(sbatch ? { options: sbatch } : {}),
  }
}

/** Returns the machine's entry as written in the file and in parsed form. */
function entryOf(options: MachineAddOptions) {
  const slurm = slurmOf(options)
  const written = {
    ...(options.ssh === undefined ? {} : { ssh: options.ssh }),
    ...(options.slurm ? { slurm } : {}),
    ...(options.before ? { before: options.before } : {}),
    ...(options.after ? { after: options.after } : {}),
  }
  const parsed = MachineEntry.safeParse(written)
  if (parsed.success) return { written, entry: parsed.data }
  const [{ path, message } = { path: ['ssh'], message: '' }] = parsed.error.issues
  const name = path[0] === 'slurm' ? (path[1] === 'options' ? 'sbatch' : path[1]) : path[0]
  throw inputError(`--${String(name)} must be ${inEnglish(messageOf(message))}.`)
}

export async function machineAddCommand(
  setUp: SetUp,
  name: string,
  options: MachineAddOptions,
): Promise<number> {
  if (options.ssh === undefined && !options.slurm)
    throw inputError(
      '--ssh HOST is missing.',
      'Give the host as for `ssh`, for example: --ssh titan. On a login node, --slurm is enough.',
    )
  const { written, entry } = entryOf(options)
  const { machine } = await setUp()
  const { config } = machine.folders
  await refuseName(machine.folders, name, options.replace)
  const key = entry.ssh === undefined ? null : await lookAtHost(entry.ssh)
  const seen = key && (await seenKey(name, entry.ssh!, key, options.fingerprint))
  await addMachine(machine.folders, name, written, key, seen)
  note(`Added ${name} to ${machinesPath(config)}.`)
  note(`Next: kernel-ladder run --ladder LADDER --target ${name}`)
  return 0
}

/**
 * Returns the host's key if the user trusts it, either by giving its fingerprint or by answering a
 * question. Returns null if ssh already knows the host. Throws an error if the user does not trust
 * the key.
 */
async function seenKey(
  name: string,
  host: string,
  key: HostKey,
  fingerprint: string | undefined,
): Promise<string | null> {
  note(`${host} is ${key.user}@${key.hostname}, port ${key.port}.`)
  if (key.known || key.fingerprint === null) return null
  note(`Its host key is ${key.fingerprint}, which ssh does not know yet.`)
  if (fingerprint !== undefined && !key.fingerprint.endsWith(fingerprint))
    throw inputError(
      `The host key is not ${fingerprint}, so ${name} was not added.`,
      'Ask the administrator of the machine for the fingerprint of its key.',
    )
  const allowed =
    fingerprint !== undefined ||
    (process.stdin.isTTY &&
      process.stderr.isTTY &&
      (await confirmed('From now on ssh will trust this key.')))
  if (allowed) return key.fingerprint
  throw inputError(
    `The host key of ${host} is not trusted, so ${name} was not added.`,
    `If the key is correct, add --fingerprint ${key.fingerprint.split(' ').pop()}`,
  )
}

export async function machineListCommand(
  setUp: SetUp,
  { json }: { json?: boolean },
): Promise<number> {
  const { machine } = await setUp()
  const file = machinesPath(machine.folders.config)
  const machines = Object.entries(await readMachines(machine.folders.config)).map(
    ([name, entry]) => ({ name, ...entry }),
  )
  if (json) printJson(machinesDocument, { file, machines })
  else if (machines.length === 0)
    printText(`There are no machines in ${file}. Add one with \`kernel-ladder machine add\`.`)
  else
    printText(
      table(machines, [
        { header: 'machine', align: 'left', cell: ({ name }) => name },
        { header: 'ssh', align: 'left', cell: ({ ssh }) => ssh ?? '' },
        {
          header: 'Slurm',
          align: 'left',
          cell: ({ slurm }) => (slurm ? sbatchWords(slurm).join(' ') : ''),
        },
        { header: 'before', align: 'left', cell: ({ before }) => before.join('; ') },
      ]),
    )
  return 0
}

export async function machineRemoveCommand(setUp: SetUp, name: string): Promise<number> {
  const { machine } = await setUp()
  const { config } = machine.folders
  if (!Object.hasOwn(await readMachines(config), name))
    throw inputError(`There is no machine named ${name} in ${machinesPath(config)}.`)
  await writeMachine(config, name, null)
  note(`Removed ${name} from ${machinesPath(config)}. Its host key and its files were not changed.`)
  return 0
}

export async function machineCheckCommand(
  setUp: SetUp,
  name: string,
  { json }: { json?: boolean },
): Promise<number> {
  const { machine } = await setUp()
  const signal = abortOnStop('stopping.')
  const onNotice = (notice: Parameters<typeof inEnglish>[0]): void => note(inEnglish(notice))
  const opened = await openMachine(machine.folders, name)
  const { facts } = await prepare(opened, { signal, onNotice })
  const { stdout } = await runWords(
    machine.folders,
    name,
    { send: null, words: () => ['doctor', '--json'] },
    { signal, onNote: () => undefined, onNotice },
  )
  const doctor = DoctorReport.safeParse(JSON.parse(stdout))
  if (!doctor.success)
    throw new KernelLadderError('internal', `The doctor on ${name} returned no report.`)
  const { os, arch, root, freeKiB, clockAhead, node } = facts
  if (json)
    printJson(machineCheckDocument, {
      ...{ name, os, arch, root, freeKiB, clockAhead, node },
      doctor: doctor.data,
    })
  else {
    const free = freeKiB === null ? 'unknown' : `${(freeKiB / 2 ** 20).toFixed(1)} GiB`
    printText(`${name}: ${os} ${arch}, ${free} free in ${root}, Node.js ${node ?? 'sent there'}`)
    printText(doctorText(doctor.data))
  }
  return doctor.data.checks.some(({ status }) => status === 'missing') ? exitCodes.missing : 0
}

const commandText = (text: string): string => {
  try {
    const job = Job.parse(JSON.parse(text))
    if (job.kind === 'words') return job.words.join(' ')
    return job.own ?? RunRequest.parse(job.request).ladder
  } catch {
    return 'of another version of this program'
  }
}

/**
 * Lists runs whose sessions were not copied back, for example because the local machine was shut
 * down.
 */
export async function machineRunsCommand(
  setUp: SetUp,
  name: string,
  { json }: { json?: boolean },
): Promise<number> {
  const { machine } = await setUp()
  const opened = await openMachine(machine.folders, name)
  const { jobs } = await findRuns(opened, abortOnStop('stopping.'))
  const runs = jobs.map(({ id, state, submission, job }) => ({
    ...{ id, state, what: commandText(job) },
    job: submission && (submittedId(submission)?.id ?? null),
  }))
  if (json) printJson(machineRunsDocument, { name, runs })
  else if (runs.length === 0) printText(`There are no runs to fetch on ${name}.`)
  else
    printText(
      table(runs, [
        { header: 'run', align: 'left', cell: ({ id }) => id },
        { header: 'state', align: 'left', cell: ({ state }) => state },
        { header: 'job', align: 'left', cell: ({ job }) => job ?? '' },
        { header: '', align: 'left', cell: ({ what }) => what },
      ]),
    )
  return 0
}

export async function machineResumeCommand(
  setUp: SetUp,
  name: string,
  run: string,
  { json }: { json?: boolean },
): Promise<number> {
  const { machine } = await setUp()
  const result = await resumeRun(name, run, {
    machine,
    signal: abortOnStop('stopping it there and saving the finished results.'),
    emit: progressPrinter(),
  })
  return printRun(result, json)
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)

/** Fetches the ncu report of a session from the machine that ran the session. */
export async function machineFetchCommand(
  setUp: SetUp,
  session: string,
  { json, open }: { json?: boolean; open?: boolean },
): Promise<number> {
  const setup = await setUp()
  const { folder } = await openNamed(setup, session)
  const before = await findReport(folder)
  if (before?.done) note(`${megabytes(before.done)} of ${megabytes(before.bytes)} MB are here.`)
  let reportedBytes = 0
  const report = await bringReport(setup, folder, {
    signal: abortOnStop('stopping; the downloaded part is kept.'),
    onBytes(done, bytes) {
      if (done < bytes && done - reportedBytes < 4e6) return
      reportedBytes = done
      note(`  ${megabytes(done)}/${megabytes(bytes)} MB`)
    },
    onNotice: (notice) => note(inEnglish(notice)),
  })
  const machine = before?.machine ?? null
  if (json)
    printJson(machineFetchDocument, { session: folder, report, bytes: before!.bytes, machine })
  else printText(report)
  if (open) await openInNsight(setup, report)
  return 0
}
