/** Rungs built for a GPU of the built-in table, on a machine that may have no GPU; nothing is run. */
import { namedSyntax, type TargetKind } from './target-kind'

export const built = {
  syntax: namedSyntax('static', 'gpu', /^[a-z0-9][a-z0-9_-]{0,39}$/, 'gpus', false),
  help: 'build for a known GPU without running',
  can: {
    builds: true,
    runs: false,
    times: false,
    profiles: false,
    needsGpu: false,
    replays: false,
    knowsRun: true,
  },
  listed: 'live',
  tone: 'caution',
  namesGpu: true,
  again: (name: string) => ['--target', `static:${name}`],
  origin: (name: string, createdAt: string) =>
    `built for ${name} on ${createdAt.slice(0, 10)}, not run`,
} as const satisfies TargetKind
