/** Calls for managing remote machines that can execute runs. */
import { z } from 'zod'
import { ErrorShape } from '../domain/errors'
import { SlurmOptions } from '../domain/remote/machine-file'

const Name = z.string().min(1).max(40)

const Host = z.string().min(1).max(255)

const ListedMachine = z.object({
  name: Name,
  /** Host name or alias for `ssh`; null for Slurm on this machine. */
  ssh: z.string().nullable(),
  /** sbatch options as one string; null if the machine does not use Slurm. */
  slurm: z.string().nullable(),
})

type ListedMachine = z.infer<typeof ListedMachine>

/** The host that ssh would connect to, and its host key. */
const LookedAtHost = z.object({
  hostname: z.string(),
  user: z.string(),
  port: z.string(),
  /**
   * Fingerprint of the host key, such as `ssh-ed25519 SHA256:…`; null if the connection failed
   * before the key exchange.
   */
  fingerprint: z.string().nullable(),
  /** Whether ssh already trusts the host key. */
  known: z.boolean(),
})

type LookedAtHost = z.infer<typeof LookedAtHost>

export const machineCalls = {
  'machines.list': {
    input: z.object({}),
    /** All configured machines. `error` reports an error in machines.yaml. */
    output: z.object({ machines: z.array(ListedMachine), error: ErrorShape.nullable() }),
  },
  /** Tests whether the machine is reachable. Copies nothing to the machine. */
  'machines.check': {
    input: z.object({ name: Name }),
    output: z.object({ error: ErrorShape.nullable() }),
  },
  'machines.look': { input: z.object({ host: Host }), output: LookedAtHost },
  /**
   * Adds a machine. `fingerprint` is the key that the user accepted; null if ssh already trusts the
   * host.
   */
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
