/** Counters imported from an ncu file. No run produces such a session, and the file does not say what was run. */
import type { TargetKind } from './target-kind'

export const imported = {
  syntax: null,
  help: '',
  can: {
    builds: false,
    runs: false,
    times: false,
    profiles: true,
    needsGpu: false,
    replays: false,
    knowsRun: false,
  },
  listed: 'imported',
  tone: 'caution',
  namesGpu: false,
  again: () => null,
  origin: (name: string, createdAt: string) => `imported from ${name}, ${createdAt.slice(0, 10)}`,
} as const satisfies TargetKind
