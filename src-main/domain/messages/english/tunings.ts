/** Sweeps over the parameters of a rung. */
export const tunings = {
  none: 'There is no sweep {id}.',
  damaged: '{file} is no sweep of this program, or is damaged.',
  tuneAgain:
    'Start it again with `kernel-ladder tune`: the points that are known are not measured again.',
  shipped: '{ladder} ships with the program, so no variant is added to it.',
} as const
