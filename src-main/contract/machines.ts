/** Calls about remote machines that runs can be sent to. */
import { z } from 'zod'
import { ErrorShape } from '../domain/errors'
import { SlurmOptions } from '../domain/remote/machine-file'

const Name = z.string().min(1).max(40)

const Host = z.string().min(1).max(255)

const ListedMachine = z.object({
  name: Name,
  /** The host as after `ssh`; null for Slurm on this machine. */
  ssh: z.string().nullable(),
  /** Options of sbatch, as one text; null without Slurm. */
  slurm: z.string().nullable(),
})

type ListedMachine = z.infer<typeof ListedMachine>

/** Where ssh would connect to, and the host's key. */
const LookedAtHost = z.object({
  hostname: z.string(),
  user: z.string(),
  port: z.string(),
  /** `ssh-ed25519 SHA256:…`; null if the connection ended earlier. */
  fingerprint: z.string().nullable(),
  /** Whether ssh already trusts the key. */
  known: z.boolean(),
})

type LookedAtHost = z.infer<typeof LookedAtHost>

export const machineCalls = {
  'machines.list': {
    input: z.object({}),
    /** `error`: machines.yaml has a fault. */
    output: z.object({ machines: z.array(ListedMachine), error: ErrorShape.nullable() }),
  },
  /** Tests whether the machine can be reached, without sending anything. */
  'machines.check': {
    input: z.object({ name: Name }),
    output: z.object({ error: ErrorShape.nullable() }),
  },
  'machines.look': { input: z.object({ host: Host }), output: LookedAtHost },
  /** Adds a machine. `fingerprint` is the one that the user saw and trusts; null for a host whose key is known. */
  'machines.add': {
    input: z.object({
      name: z.string().max(200),
      host: Host,
      slurm: SlurmOptions.partial().nullable(),
      fingerprint: z.string().nullable(),
    }),
    output: z.object({}),
  },
} as const
