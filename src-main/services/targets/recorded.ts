/** Tells a recording again, and saves what is told where a folder is named for it. */
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { diskError } from '../../adapters/disk/disk'
import { KernelLadderError } from '../../domain/errors'
import { chooseRecording, listRecordings, replay } from '../sessions/recordings'
import type { Runner } from './runner'
import { draftNew, misplaced } from './saved-run'

export const runRecorded: Runner = async (name, request, options) => {
  const recordings = await listRecordings(options.assets.recordingsDir)
  const recording = chooseRecording(recordings, name, request)
  const draft = options.out === undefined ? null : await draftNew(options.out)
  try {
    const { session, deep, missing } = await replay(
      recording,
      request,
      options.emit,
      options.signal,
    )
    if (!draft) return { session, folder: recording.folder, missing, unsaved: null }
    for (const part of ['raw', 'sources'])
      await cp(join(recording.folder, part), join(draft.path, part), { recursive: true })
    for (const profile of deep.values()) await draft.addDeep(profile)
    const folder = await draft.commit(session)
    return { session, folder, missing, unsaved: misplaced(options.out, folder) }
  } catch (error) {
    await draft?.discard()
    throw error instanceof KernelLadderError ? error : diskError(error, options.out ?? '', 'save')
  }
}
