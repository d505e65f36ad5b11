import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { afterAll, beforeAll } from 'vitest'

/**
 * Sets the number of cores to one in a test file that emulates kernels. A test worker has a share
 * of one core, and each additional emulator thread would compile the same code again.
 */
export function useOneCore(): void {
  const { availableParallelism } = os
  const cores = (own: () => number): void => {
    Object.assign(os, { availableParallelism: own })
    syncBuiltinESMExports()
  }
  beforeAll(() => cores(() => 1))
  afterAll(() => cores(availableParallelism))
}
