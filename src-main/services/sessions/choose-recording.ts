/** Chooses the shipped recording that matches a request. */
import type { RunRequest } from '../../contract/index'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { problemLabel, sizesLabel } from '../../domain/task/problem'
import type { ProfileLevel } from '../../domain/metrics/metric-definition'
import { chosen, type Choice } from '../../domain/task/problem-request'
import { recordedRef } from '../../domain/session/session-ref'
import { readRecording, type ListedRecording } from './recordings'

const describe = ({ name, summary: { ladder, problem } }: ListedRecording): string =>
  `${recordedRef(name)} (${ladder.id}${problem === null ? '' : ` at ${problemLabel(problem)}`})`

/**
 * Size that the target `recorded` uses if the request names no recording and the ladder was
 * recorded at several sizes.
 */
const usualSize = 4096

const hasUsualSize = ({ summary }: ListedRecording): boolean =>
  Object.values(summary.problem?.sizes ?? {}).every((size) => size === usualSize)

/**
 * Returns the recording for a request. The recording's ladder, size, and parameters must match the
 * request.
 */
export async function chooseRecording(
  recordings: readonly ListedRecording[],
  /** The recording's name, or null to accept any matching recording. */
  name: string | null,
  request: Pick<RunRequest, 'ladder'> & Choice & { profile?: ProfileLevel },
): Promise<ListedRecording> {
  const named = recordings.filter((recording) => name === null || recording.name === name)
  if (recordings.length === 0) throw inputError(message('sessions.noRecordings'))
  if (named.length === 0)
    throw inputError(
      message('sessions.noRecording', { recording: JSON.stringify(name) }),
      message('sessions.recordings', { recordings: recordings.map(describe).join(', ') }),
    )
  const isAtLevel = ({ summary }: ListedRecording): boolean => summary.profile === request.profile
  const allOfLadder = named.filter(({ summary }) => summary.ladder.id === request.ladder)
  // Prefer recordings with the requested level, but accept any level.
  const ofLadder = [
    ...allOfLadder.filter(isAtLevel),
    ...allOfLadder.filter((one) => !isAtLevel(one)),
  ]
  const ladder = JSON.stringify(request.ladder)
  if (ofLadder.length === 0)
    throw inputError(
      name === null
        ? message('asked.noRecordingOfLadder', { ladder })
        : message('asked.otherLadder', { recording: recordedRef(name), ladder }),
      message('sessions.recordings', { recordings: recordings.map(describe).join(', ') }),
    )
  const first = ofLadder[0]!
  const isChosen = request.size !== undefined || request.at !== undefined
  const { sizes } = isChosen ? chosen((await readRecording(first)).task, request) : {}
  if (!sizes) return ofLadder.find(hasUsualSize) ?? first
  // Sizes that the request omits match any size. Recordings with the usual size come first.
  const ofSizes = ofLadder.filter(({ summary: { problem } }) =>
    Object.entries(sizes).every(([name, size]) => problem?.sizes[name] === size),
  )
  const ofSize = ofSizes.find(hasUsualSize) ?? ofSizes[0]
  if (!ofSize)
    throw inputError(
      message('asked.otherSize', { ladder: request.ladder, sizes: sizesLabel(sizes) }),
      message('asked.sizeNeedsGpu', { recordings: ofLadder.map(describe).join(', ') }),
    )
  return ofSize
}
