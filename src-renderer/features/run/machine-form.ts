/** The form that adds a machine, and a machine's state. */
import type { CallInput, CallOutput } from '../../../src-main/contract/index'
import type { Statement } from '../../../src-main/domain/messages/message'

export interface MachineFields {
  name: string
  host: string
  slurm: boolean
  partition: string
}

export interface MachineState {
  state: 'checking' | 'ok' | 'unreachable'
  /** The reason that the machine cannot be reached. */
  why?: Statement
}

/** Returns a machine's state from the response to a check. */
export const stateOf = (answer: CallOutput<'machines.check'>): MachineState =>
  answer.error === null ? { state: 'ok' } : { state: 'unreachable', why: answer.error.message }

/**
 * Returns the request that adds a machine. If ssh does not know the host key, the request confirms
 * the key that the user saw.
 */
export const machineRequest = (
  { name, host, slurm, partition }: MachineFields,
  { known, fingerprint }: CallOutput<'machines.look'>,
): CallInput<'machines.add'> => ({
  name: name.trim(),
  host: host.trim(),
  slurm: slurm ? (partition.trim() === '' ? {} : { partition: partition.trim() }) : null,
  fingerprint: known ? null : fingerprint,
})
