/** Every reader of what the program did not write itself, with real inputs to damage. */
import { readersOfFiles } from './readers-of-files'
import { readersOfMachines } from './readers-of-machines'
import { readersOfTools } from './readers-of-tools'
import type { Reader } from './reader'

export const readers: readonly Reader[] = [
  ...readersOfFiles,
  ...readersOfTools,
  ...readersOfMachines,
]
