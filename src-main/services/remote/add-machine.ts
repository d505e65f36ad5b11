/**
 * Adds a machine to machines.yaml, for the command line and the UI.
 *
 * The host's key is trusted only if the user has seen the key. Adding a machine also tests the
 * login and queries Slurm.
 */
import { readMachines, writeMachine } from '../../adapters/remote/machines-store'
import { answer } from '../../adapters/remote/remote-host'
import { tryOptions } from '../../adapters/remote/slurm'
import { askHostKey, trustHostKey, type HostKey } from '../../adapters/remote/ssh'
import type { Folders } from '../../adapters/machine/machine'
import { inputError } from '../../domain/errors'
import { MachineEntry, nameFault, type WrittenMachine } from '../../domain/remote/machine-file'
import { message } from '../../domain/messages/message'
import { shellOf, sshOptions } from './remote-job'

/** Returns the address to which ssh would connect, and the host's key. */
export const lookAtHost = (host: string): Promise<HostKey> => askHostKey(host, sshOptions())

/** Throws an error if the name is not a valid machine name or is already in use. */
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
 * Trusts the host's key if it is unknown and matches the key that the user saw. Then logs in,
 * queries Slurm, and writes the entry. `seen` is the key that the user saw (`ssh-ed25519
 * SHA256:…`), or null if the user saw no key.
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
  // A known key does not prove that the host accepts this user.
  await answer(shell, 'a first look', 'true')
  if (entry.slurm) await tryOptions(shell, entry.slurm)
  await writeMachine(config, name, written)
}
