/** A program of the user's own under ncu, kernel by kernel. `profile -- COMMAND` makes such a session, and no run does. */
import type { TargetKind } from './target-kind'

export const program = {
  syntax: null,
  help: '',
  can: {
    builds: false,
    runs: false,
    times: false,
    profiles: true,
    needsGpu: true,
    replays: false,
    knowsRun: false,
  },
  listed: 'live',
  tone: 'accent',
  namesGpu: false,
  again: () => null,
  origin: (name: string, createdAt: string) => `profile of ${name}, ${createdAt.slice(0, 10)}`,
} as const satisfies TargetKind
