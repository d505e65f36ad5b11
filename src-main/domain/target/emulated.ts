/** Rungs that run on an emulated GPU: their results and what code and shape determine, without a GPU and without times. */
import { namedSyntax, type TargetKind } from './target-kind'

/** Where none is named: the GPU that the emulator was held against. */
export const defaultEmulatedGpu = 'h200'

export const emulated = {
  syntax: namedSyntax('emulated', 'gpu', /^[a-z0-9][a-z0-9_-]{0,39}$/, 'gpus', true),
  help: 'count on an emulated GPU, without times',
  can: {
    builds: true,
    runs: true,
    times: false,
    profiles: true,
    needsGpu: false,
    replays: false,
    knowsRun: true,
  },
  listed: 'live',
  tone: 'caution',
  namesGpu: true,
  again: (name: string) => ['--target', `emulated:${name}`],
  origin: (name: string, createdAt: string) => `emulated for ${name}, ${createdAt.slice(0, 10)}`,
} as const satisfies TargetKind
