import { z } from 'zod'
import { DoctorReport } from '../../../contract'
import { MachineEntry } from '../../../domain/remote/machine-file'
import { documentKind } from './document'

export const machinesDocument = documentKind({
  name: 'machines',
  version: 1,
  title: 'machines',
  description:
    'What `kernel-ladder machine list --json` prints: the machines of machines.yaml. docs/guides/machines.md explains it.',
  fields: {
    /** Path to the machines file. The file may not exist. */
    file: z.string(),
    machines: z.array(MachineEntry.extend({ name: z.string() })),
  },
})

export const machineCheckDocument = documentKind({
  name: 'machine-check',
  version: 1,
  title: 'machine check',
  description:
    'What `kernel-ladder machine check NAME --json` prints: the doctor’s result on that machine.',
  fields: {
    name: z.string(),
    os: z.string(),
    arch: z.string(),
    /** Remote folder for the program and its jobs. */
    root: z.string(),
    /** Free space in the remote folder in KiB, or null if unknown. */
    freeKiB: z.number().nullable(),
    /** Number of seconds by which the remote clock is ahead of the local clock. */
    clockAhead: z.number(),
    /** Path to the machine's own Node.js, or null if Node.js was copied to the machine. */
    node: z.string().nullable(),
    doctor: DoctorReport,
  },
})

export const machineRunsDocument = documentKind({
  name: 'machine-runs',
  version: 1,
  title: 'machine runs',
  description:
    'What `kernel-ladder machine runs NAME --json` prints: the runs there whose sessions were not fetched. docs/guides/machines.md explains it.',
  fields: {
    name: z.string(),
    runs: z.array(
      z.object({
        /** Run id for `machine resume NAME ID`. The id begins with the start time in UTC. */
        id: z.string(),
        /** Run state. An `ended` run has a session, and a `gone` run has none. */
        state: z.enum(['running', 'ended', 'gone']),
        /** Ladder id, or the arguments of a command. */
        what: z.string(),
        /** Slurm job number, or null if the machine does not use Slurm. */
        job: z.string().nullable(),
      }),
    ),
  },
})

export const machineFetchDocument = documentKind({
  name: 'machine-fetch',
  version: 1,
  title: 'machine fetch',
  description:
    'What `kernel-ladder machine fetch SESSION --json` prints: the current location of ncu’s own report of a session. docs/guides/machines.md explains it.',
  fields: {
    /** Session folder. */
    session: z.string(),
    /** Path to the report, which Nsight Compute can open. */
    report: z.string(),
    bytes: z.number().int(),
    /** Machine that the report was fetched from, or null if the report was already local. */
    machine: z.string().nullable(),
  },
})
