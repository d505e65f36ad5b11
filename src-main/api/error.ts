/** The error that this package's functions throw for invalid input. */
import { KernelLadderError as Thrown } from '../domain/errors'

/** The error that the readers throw. */
export interface KernelLadderError extends Error {
  readonly name: 'KernelLadderError'
  /** `input` means that the input data cannot be read. */
  readonly kind: 'usage' | 'input' | 'missing' | 'failed' | 'cancelled' | 'internal'
}

/** Returns whether an error was caused by invalid input, rather than by a bug in the library. */
export const isKernelLadderError = (error: unknown): error is KernelLadderError =>
  error instanceof Thrown
