/**
 * Represents the machine on which a recording was made. The machine's tools replay their recorded
 * output. A recorded machine has no disk.
 */
import { emptyBuildCache } from '../disk/build-cache'
import type { Machine } from './machine'
import { recordedToolbox } from '../tools/recorded-toolbox'

export const recordedMachine = (name: string, folder: string): Machine => ({
  name,
  toolbox: () => recordedToolbox(folder),
  cache: emptyBuildCache,
  aliases: [],
  readText: () => Promise.resolve(null),
  exists: () => Promise.resolve(false),
  variable: () => null,
})
