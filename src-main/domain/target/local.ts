/** A run on the GPU of this machine. Its sessions have used the kind `live` since the first version. */
import { wordSyntax, type TargetKind } from './target-kind'

export const local = {
  syntax: wordSyntax('local'),
  help: 'run on the GPU of this machine',
  can: {
    builds: true,
    runs: true,
    times: true,
    profiles: true,
    needsGpu: true,
    replays: false,
    knowsRun: true,
  },
  listed: 'live',
  tone: 'accent',
  namesGpu: false,
  again: () => [],
  origin: (_name: string, createdAt: string) =>
    `measured ${createdAt.slice(0, 16).replace('T', ' ')} UTC`,
} as const satisfies TargetKind
