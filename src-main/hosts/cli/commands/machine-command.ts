/** `kernel-ladder machine`: the machines that --target names. */
import { machinesPath, readMachines, writeMachine } from '../../../adapters/remote/machines-store'
import { askHostKey, trustHostKey } from '../../../adapters/remote/ssh'
import type { SetUp } from '../../../adapters/machine/machine'
import { DoctorReport } from '../../../contract'
import { exitCodes, inputError, KernelLadderError } from '../../../domain/errors'
import { MachineEntry, nameFault } from '../../../domain/machines/machine-file'
import { inEnglish } from '../../../domain/text/wording'
import { openMachine, prepare, runWords, sshOptions } from '../../../services/machines/remote-job'
import { confirmed } from '../confirm'
import { doctorText } from './doctor-command'
import { machineCheckDocument, machinesDocument } from '../documents/machines'
import { note, printJson, printText, table } from '../output'
import { abortOnStop } from '../signals'

export interface MachineAddOptions {
  ssh?: string
  before?: string[]
  after?: string[]
  fingerprint?: string
  replace?: boolean
}

function entryOf(options: MachineAddOptions) {
  const entry = {
    ...(options.ssh === undefined ? {} : { ssh: options.ssh }),
    ...(options.before ? { before: options.before } : {}),
    ...(options.after ? { after: options.after } : {}),
  }
  const parsed = MachineEntry.safeParse(entry)
  if (!parsed.success)
    throw inputError(
      `--${parsed.error.issues[0]?.path.join('.') ?? 'ssh'} must be ${parsed.error.issues[0]?.message ?? ''}.`,
    )
  return entry
}

export async function machineAddCommand(
  setUp: SetUp,
  name: string,
  options: MachineAddOptions,
): Promise<number> {
  const fault = nameFault(name)
  if (fault !== null) throw inputError(fault)
  const host = options.ssh
  if (host === undefined)
    throw inputError(
      '--ssh HOST is missing.',
      'Give the host as after `ssh`, for example: --ssh titan.',
    )
  const entry = entryOf(options)
  const { machine } = await setUp()
  const { config } = machine.folders
  if (!options.replace && Object.hasOwn(await readMachines(config), name))
    throw inputError(`There is a machine named ${name} already.`, 'Use another name, or --replace.')
  const key = await askHostKey(host, sshOptions())
  note(`${host} is ${key.user}@${key.hostname}, port ${key.port}.`)
  if (!key.known && key.fingerprint !== null) {
    note(`Its host key is ${key.fingerprint}, which ssh does not know yet.`)
    if (options.fingerprint !== undefined && !key.fingerprint.endsWith(options.fingerprint))
      throw inputError(
        `The host key is not ${options.fingerprint}, so ${name} was not added.`,
        'Ask the administrator of the machine for the fingerprint of its key.',
      )
    const allowed =
      options.fingerprint !== undefined ||
      (process.stdin.isTTY &&
        process.stderr.isTTY &&
        (await confirmed('From now on ssh will trust this key.')))
    if (!allowed)
      throw inputError(
        `The host key of ${host} is not trusted, so ${name} was not added.`,
        `If it is the right one, add --fingerprint ${key.fingerprint.split(' ').pop()}`,
      )
    await trustHostKey(host, key.fingerprint, sshOptions())
  }
  await writeMachine(config, name, entry)
  note(`Added ${name} to ${machinesPath(config)}.`)
  note(`Next: kernel-ladder run --ladder gemm-fp32 --target ${name}`)
  return 0
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
  note(
    `Removed ${name} from ${machinesPath(config)}. Its host key and what lies there were left alone.`,
  )
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
  const { stdout } = await runWords(machine.folders, name, ['doctor', '--json'], {
    signal,
    onNote: () => undefined,
    onNotice,
  })
  const doctor = DoctorReport.safeParse(JSON.parse(stdout))
  if (!doctor.success)
    throw new KernelLadderError('internal', `The doctor on ${name} gave no report.`)
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
