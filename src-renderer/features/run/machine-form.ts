/** The form that adds a machine, and the state of a machine. */
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
  /** Why the machine cannot be reached. */
  why?: Statement
}

/** Returns the state from a check's answer or from the call's error. */
export const stateOf = (answer: CallOutput<'machines.check'>): MachineState =>
  answer.error === null ? { state: 'ok' } : { state: 'unreachable', why: answer.error.message }

/**
 * Returns the request. If ssh does not know the host key, the request confirms the key shown to the
 * user.
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
