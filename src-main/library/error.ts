import { KernelLadderError as Thrown } from '../domain/errors'

/** An error that its reader can act on. */
export interface KernelLadderError extends Error {
  readonly name: 'KernelLadderError'
  /** `input`: what was given cannot be read. */
  readonly kind: 'usage' | 'input' | 'missing' | 'failed' | 'cancelled' | 'internal'
}

/** What the readers throw, for `instanceof`. */
export const KernelLadderError: abstract new (...given: never) => KernelLadderError = Thrown
