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
    /** The path of the machines file, even if the file does not exist. */
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
    /** The remote folder for the program and its jobs. */
    root: z.string(),
    /** The free space in the remote folder in KiB, or null if unknown. */
    freeKiB: z.number().nullable(),
    /** The lead of the remote clock over the local clock, in seconds. */
    clockAhead: z.number(),
    /** The path of the machine's own Node.js, or null if a Node.js was sent. */
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
        /** The run's id for `machine resume NAME ID`. An id begins with the start time in UTC. */
        id: z.string(),
        /** The run's state. An `ended` run has a session. A `gone` run does not. */
        state: z.enum(['running', 'ended', 'gone']),
        /** The ladder, or the words of a command. */
        what: z.string(),
        /** The Slurm job number, or null without Slurm. */
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
    /** The session’s folder. */
    session: z.string(),
    /** The path of the report, which Nsight Compute can open. */
    report: z.string(),
    bytes: z.number().int(),
    /** The machine that had the report, or null if the report was already local. */
    machine: z.string().nullable(),
  },
})
