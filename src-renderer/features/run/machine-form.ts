/** The form that adds a machine, and the state of one. */
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
  /** Why it is not reached. */
  why?: Statement
}

/** The answer of a check, or the error of the call. */
export const stateOf = (answer: CallOutput<'machines.check'>): MachineState =>
  answer.error === null ? { state: 'ok' } : { state: 'unreachable', why: answer.error.message }

/** A key that ssh does not know is trusted as it was shown. */
export const machineRequest = (
  { name, host, slurm, partition }: MachineFields,
  { known, fingerprint }: CallOutput<'machines.look'>,
): CallInput<'machines.add'> => ({
  name: name.trim(),
  host: host.trim(),
  slurm: slurm ? (partition.trim() === '' ? {} : { partition: partition.trim() }) : null,
  fingerprint: known ? null : fingerprint,
})
