/**
 * The format of machines.yaml, which lists the machines for `--target NAME`. The file contains no
 * secrets, because ssh uses the user's keys.
 */
import { z } from 'zod'
import type { MessageKey } from '../messages/message'

/**
 * Returns a message key as a schema's error text. `messageOf` converts the key to a message.
 */
const key = (fault: MessageKey): string => fault

/** Reserved machine names: the existing and planned targets, and the target types. */
const reserved = [
  ...[
    'local',
    'live',
    'recorded',
    'imported',
    'program',
    'static',
    'emulated',
    'predicted',
    'machine',
  ],
  ...['ssh', 'slurm', 'remote', 'all', 'any', 'none', 'this', 'default'],
]

const namePattern = /^[A-Za-z][A-Za-z0-9_-]{0,39}$/

/**
 * Returns a sentence that explains why a machine cannot have this name. Returns null if the name is
 * valid.
 */
export function nameFault(name: string): string | null {
  if (!namePattern.test(name))
    return `${JSON.stringify(name)} cannot name a machine: use up to 40 letters, digits, "_" and "-", beginning with a letter.`
  return reserved.includes(name.toLowerCase())
    ? `${JSON.stringify(name)} cannot name a machine, because it means something else after --target.`
    : null
}

export const isMachineName = (text: string): boolean => nameFault(text) === null

/** Host name for `ssh`, which must be a single word that does not look like an option. */
const SshHost = z.string().regex(/^[^\s\p{Cc}-][^\s\p{Cc}]{0,254}$/u, {
  error: key('written.sshHost'),
})
/**
 * A value for sbatch's command line. The allowed characters exclude shell syntax and additional
 * options.
 */
const SlurmWord = z.string().regex(/^[A-Za-z0-9_[(][\w.,:;+=@&|*!()[\]/%-]{0,199}$/, {
  error: key('written.slurmWord'),
})
const Commands = z.array(z.string().min(1).max(4000)).max(20)

/** sbatch options that would interfere with submitting or tracking a job. */
const ownOptions =
  /^--(array|chdir|error|export|export-file|help|hold|input|job-name|nodes|ntasks|open-mode|output|parsable|quiet|requeue|no-requeue|test-only|usage|verbose|version|wait|wrap|cluster|clusters)(=|$)/

const SlurmOption = z
  .string()
  .regex(/^--[a-z][a-z-]*(=[\w.,:;+=@&|*!()[\]/%-]{1,200})?$/, {
    error: key('written.slurmOption'),
  })
  .refine((option) => !ownOptions.test(option), {
    error: key('written.slurmOwnOption'),
  })

export const SlurmOptions = z.strictObject({
  partition: SlurmWord.optional(),
  account: SlurmWord.optional(),
  qos: SlurmWord.optional(),
  gres: SlurmWord.default('gpu:1').describe('The GPUs of a job, such as gpu:h100:1.'),
  constraint: SlurmWord.optional(),
  time: z
    .string()
    .regex(/^(\d+-)?\d+(:\d+){0,2}$/, { error: key('written.slurmTime') })
    .optional()
    .describe('The time limit of a job, as sbatch takes it: 30 (minutes), 2:00:00.'),
  options: z
    .array(SlurmOption)
    .max(20)
    .default([])
    .describe('Further options of sbatch, such as --reservation=lab or --disable-dcgm.'),
})
export type SlurmOptions = z.infer<typeof SlurmOptions>

export const MachineEntry = z.strictObject({
  ssh: SshHost.optional().describe(
    'The host, as after `ssh`; user, port, keys and jump hosts are those of the user’s ssh configuration. Absent for Slurm on this machine.',
  ),
  slurm: SlurmOptions.optional().describe('Runs are submitted as jobs instead of started there.'),
  before: Commands.default([]).describe(
    'Shell commands before each run, such as `module load cuda` or `dcgmi profile --pause`.',
  ),
  after: Commands.default([]).describe('Shell commands after each run, however it ended.'),
})
export type MachineEntry = z.infer<typeof MachineEntry>
/** A machine entry as written in the file. Fields with defaults may be omitted. */
export type WrittenMachine = z.input<typeof MachineEntry>

export const MachinesFile = z.strictObject({
  $schema: z.string().optional(),
  kernel_ladder_machines: z.literal(1).describe('The version of this format.'),
  machines: z
    .record(
      z.string().refine(isMachineName, { error: key('written.machineName') }),
      MachineEntry.refine(({ ssh, slurm }) => ssh !== undefined || slurm !== undefined, {
        error: key('written.sshOrSlurm'),
      }),
    )
    .describe('By the name that is given to --target.'),
})
export type MachinesFile = z.infer<typeof MachinesFile>
