/** Implements the contract's `folders.*` calls. */
import type { Setup } from '../../adapters/machine/machine'
import type { CallInput } from '../../contract/index'
import {
  completeFolder,
  forgetOpened,
  listFolders,
  openFolder,
  saveFile,
  trustOpened,
} from '../folders/folders'
import { createCounting } from '../run/live-counters'
import { buildFolder, countersIn } from '../folders/build-folder'

export function folderCalls(setup: Setup) {
  const counting = createCounting(setup)
  return {
    'folders.list': async () => ({ folders: await listFolders(setup) }),
    'folders.open': ({ path }: CallInput<'folders.open'>) => openFolder(setup, path),
    'folders.forget': async ({ path }: CallInput<'folders.forget'>) => {
      await forgetOpened(setup, path)
      return {}
    },
    'folders.trust': async ({ path }: CallInput<'folders.trust'>) => {
      await trustOpened(setup, path)
      return {}
    },
    'folders.complete': async ({ typed }: CallInput<'folders.complete'>) => ({
      folders: await completeFolder(setup, typed),
    }),
    'folders.save': (request: CallInput<'folders.save'>) => saveFile(setup, request),
    'folders.build': (request: CallInput<'folders.build'>) => buildFolder(setup, request),
    'folders.counters': (request: CallInput<'folders.counters'>) =>
      countersIn(setup, counting(), request),
  }
}
