/** Implements the contract's `machines.*` calls. */
import { readMachines } from '../../adapters/remote/machines-store'
import { lookAt } from '../../adapters/remote/remote-host'
import { sbatchWords } from '../../adapters/remote/slurm'
import type { Setup } from '../../adapters/machine/machine'
import type { CallInput } from '../../contract'
import { inputError, toErrorShape } from '../../domain/errors'
import { MachineEntry } from '../../domain/remote/machine-file'
import { message, messageOf } from '../../domain/messages/message'
import { openMachine } from './remote-job'
import { lookAtHost, refuseName, addMachine } from './add-machine'

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
