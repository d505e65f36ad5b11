/** Replays a recording and saves the session if an output folder is given. */
import { draftNew, misplaced, type Runner } from './saved-run'
import { diskError } from '../../adapters/disk/disk'
import { copySources } from '../../adapters/sessions/session-sources'
import { copyRaw } from '../../adapters/tools/raw-files'
import { KernelLadderError } from '../../domain/errors'
import { listRecordings, readRecording } from '../sessions/recordings'
import { chooseRecording } from '../sessions/choose-recording'
import { replay } from '../sessions/replay-recording'

export const runRecorded: Runner = async (name, request, options) => {
  const recordings = await listRecordings(options.assets.recordingsDir)
  const recording = await readRecording(await chooseRecording(recordings, name, request))
  const draft = options.out === undefined ? null : await draftNew(options.out)
  try {
    const { session, deep, missing } = await replay(
      recording,
      request,
      options.emit,
      options.signal,
    )
    if (!draft) return { session, folder: recording.folder, missing, unsaved: null }
    session.warnings.push(...(await copySources(recording.folder, draft.path)))
    await copyRaw(recording.folder, draft.path)
    for (const profile of deep.values()) await draft.addDeep(profile)
    const folder = await draft.commit(session)
    return { session, folder, missing, unsaved: misplaced(options.out, folder) }
  } catch (error) {
    await draft?.discard()
    throw error instanceof KernelLadderError ? error : diskError(error, options.out ?? '', 'save')
  }
}
