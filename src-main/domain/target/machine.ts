/** A run on a machine of the user's machines.yaml, over ssh or as a job of Slurm. */
import { isMachineName } from '../machines/machine-file'
import type { TargetKind } from './target-kind'

export const machine = {
  syntax: {
    bare: null,
    named: '<machine>',
    names: 'machines',
    parse: (text: string) => (isMachineName(text) ? { name: text } : null),
    print: (name: string | null) => name ?? '',
  },
  help: 'run on another machine, added with `machine add`',
  can: {
    builds: true,
    runs: true,
    times: true,
    profiles: true,
    needsGpu: false,
    elsewhere: true,
    replays: false,
    knowsRun: true,
  },
  listed: 'live',
  tone: 'accent',
  namesGpu: false,
  again: (name: string) => ['--target', name],
  origin: (name: string, createdAt: string) =>
    `measured on ${name}, ${createdAt.slice(0, 16).replace('T', ' ')} UTC`,
} as const satisfies TargetKind
