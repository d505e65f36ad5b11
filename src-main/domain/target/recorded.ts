/** A recording that ships with the program, replayed through the same parsers. */
import { namedSyntax, type TargetKind } from './target-kind'

export const recorded = {
  syntax: namedSyntax('recorded', 'name', /^[A-Za-z0-9][A-Za-z0-9_.-]{0,119}$/, 'recordings', true),
  help: 'replay a shipped recording',
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
  // Repeating the run measures it live, on a GPU of the same kind.
  again: () => [],
  origin: (name: string, createdAt: string) => `recorded ${createdAt.slice(0, 10)} as ${name}`,
} as const satisfies TargetKind
