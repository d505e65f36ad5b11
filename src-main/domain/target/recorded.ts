/** A recording that ships with the program, told again by the same parsers. */
import { namedSyntax, type TargetKind } from './target-kind'

export const recorded = {
  syntax: namedSyntax('recorded', 'name', /^[A-Za-z0-9][A-Za-z0-9_.-]{0,119}$/, 'recordings', true),
  help: 'a recording that ships, told again',
  can: {
    builds: true,
    runs: true,
    times: true,
    profiles: true,
    needsGpu: false,
    replays: true,
    knowsRun: true,
  },
  listed: 'recorded',
  tone: 'caution',
  namesGpu: false,
  // On such a GPU.
  again: () => [],
  origin: (name: string, createdAt: string) => `recorded ${createdAt.slice(0, 10)} as ${name}`,
} as const satisfies TargetKind
