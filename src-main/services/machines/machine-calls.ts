/**
 * Adding a machine to machines.yaml, for the command line and the contract's `machines.*` calls: its key is trusted only
 * if the user saw it, a login is tried, its Slurm asked.
 */
import { readMachines, writeMachine } from '../../adapters/remote/machines-store'
import { answer, lookAt } from '../../adapters/remote/remote-host'
import { sbatchWords, tryOptions } from '../../adapters/remote/slurm'
import { askHostKey, trustHostKey, type HostKey } from '../../adapters/remote/ssh'
import type { Folders } from '../../adapters/machine/machine'
import type { Setup } from '../../adapters/machine/machine'
import type { CallInput } from '../../contract'
import { inputError, toErrorShape } from '../../domain/errors'
import { MachineEntry, nameFault, type WrittenMachine } from '../../domain/machines/machine-file'
import { message, messageOf } from '../../domain/messages/message'
import { openMachine, shellOf, sshOptions } from './remote-job'

/** Where ssh would connect to, and the key that the host shows. */
export const lookAtHost = (host: string): Promise<HostKey> => askHostKey(host, sshOptions())

/** Throws if a machine cannot have this name, or one has it already. */
export async function refuseName(
  { config }: Pick<Folders, 'config'>,
  name: string,
  replace = false,
): Promise<void> {
  const fault = nameFault(name)
  if (fault !== null) throw inputError(fault)
  if (!replace && Object.hasOwn(await readMachines(config), name))
    throw inputError(message('machines.taken', { name }), message('machines.otherName'))
}

/**
 * Trusts the host's key if it is unknown and still the one that the user saw, logs in, asks Slurm, and writes the entry.
 * `seen` is that key, `ssh-ed25519 SHA256:…`; null if the user saw none.
 */
export async function addMachine(
  { config }: Pick<Folders, 'config'>,
  name: string,
  written: WrittenMachine,
  key: HostKey | null,
  seen: string | null,
): Promise<void> {
  const entry = MachineEntry.parse(written)
  if (entry.ssh !== undefined && key && !key.known) {
    if (key.fingerprint === null || seen !== key.fingerprint)
      throw inputError(
        message('machines.notTrusted', { host: entry.ssh, name }),
        message('machines.trustIt', { key: key.fingerprint ?? '–' }),
      )
    await trustHostKey(entry.ssh, key.fingerprint, sshOptions())
  }
  const shell = shellOf(name, entry)
  // A key that is known says nothing of whether the host lets this user in.
  await answer(shell, 'a first look', 'true')
  if (entry.slurm) await tryOptions(shell, entry.slurm)
  await writeMachine(config, name, written)
}

// The calls of a UI.

export const machineCalls = ({ machine: { folders } }: Setup) => ({
  'machines.list': async () => {
    try {
      const machines = Object.entries(await readMachines(folders.config))
      return {
        machines: machines.map(([name, { ssh = null, slurm }]) => ({
          ...{ name, ssh, slurm: slurm ? sbatchWords(slurm).join(' ') : null },
        })),
        error: null,
      }
    } catch (error) {
      return { machines: [], error: toErrorShape(error) }
    }
  },
  'machines.check': async ({ name }: CallInput<'machines.check'>) => {
    try {
      const { shell, entry } = await openMachine(folders, name)
      await lookAt(shell, entry, AbortSignal.timeout(30_000))
      return { error: null }
    } catch (error) {
      return { error: toErrorShape(error) }
    }
  },
  'machines.look': async ({ host }: CallInput<'machines.look'>) => {
    entryOf({ ssh: host })
    return lookAtHost(host)
  },
  'machines.add': async (request: CallInput<'machines.add'>) => {
    const { name, host, slurm, fingerprint } = request
    const written = { ssh: host, ...(slurm ? { slurm } : {}) }
    entryOf(written)
    await refuseName(folders, name)
    await addMachine(folders, name, written, await lookAtHost(host), fingerprint)
    return {}
  },
})

function entryOf(written: unknown): MachineEntry {
  const parsed = MachineEntry.safeParse(written)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw inputError(
    message('machines.badField', {
      field: issue?.path.at(-1)?.toString() ?? 'ssh',
      what: messageOf(issue?.message ?? ''),
    }),
  )
}
