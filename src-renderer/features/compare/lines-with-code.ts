import type { DeepProfile } from '../../../src-main/domain/session/deep'

/** Lines of a file that produced instructions of the rung, in ascending order. */
export const linesWithCode = (profile: DeepProfile, of: string): number[] =>
  [
    ...new Set(
      profile.kernels.flatMap(({ instructions }) =>
        instructions.flatMap(({ file, line }) => (file === of && line !== null ? [line] : [])),
      ),
    ),
  ].sort((a, b) => a - b)
