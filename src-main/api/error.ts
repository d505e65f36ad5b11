/** The error that this package's functions throw for invalid input. */
import { KernelLadderError as Thrown } from '../domain/errors'

/** What the readers throw. */
export interface KernelLadderError extends Error {
  readonly name: 'KernelLadderError'
  /** `input`: what was given cannot be read. */
  readonly kind: 'usage' | 'input' | 'missing' | 'failed' | 'cancelled' | 'internal'
}

/** Whether a reader refused what it was given, rather than failed itself. */
export const isKernelLadderError = (error: unknown): error is KernelLadderError =>
  error instanceof Thrown
