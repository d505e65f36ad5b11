/**
 * Runs rungs on a machine listed in machines.yaml. The ladder is sent to the machine, and the
 * session is copied back.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { diskError } from '../../adapters/disk/disk'
import { keepReport, keptReportFile, type KeptReport } from '../../adapters/remote/kept-report'
import { fetchFolder, type RemoteFile, sendLadder } from '../../adapters/remote/remote-host'
import { removeJob } from '../../adapters/remote/remote-jobs'
import {
  draftSession,
  parseSession,
  reportFile,
  sessionFile,
} from '../../adapters/sessions/session-store'
import { RunEvent, type RunRequest } from '../../contract'
import { inputError, KernelLadderError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { Session } from '../../domain/session/session'
import { printTarget, type Target } from '../../domain/targets/targets'
import { openTrustedLadder } from '../folders/open'
import {
  findRuns,
  openMachine,
  prepare,
  resumeJob,
  runJob,
  type EndedJob,
  type NamedMachine,
  type RemoteOptions,
} from '../remote/remote-job'
import { planRun } from '../run/plan'
import {
  draftNew,
  misplaced,
  type FinishedRun,
  type Runner,
  type StartRunOptions,
} from './saved-run'
import { Job } from '../../domain/remote/job-protocol'

export const runMachine: Runner = async (name, request, options) => {
  const target = { kind: 'machine' as const, name: name! }
  const machine = await openMachine(options.machine.folders, target.name)
  if (request.draft !== undefined) throw inputError(message('machines.noDraft'))
  const { catalog, id, own } = await openTrustedLadder(options, request.ladder)
  // Reject an invalid request before sending anything.
  planRun(catalog, { ...request, ladder: id })
  const remote = remoteOptions(target, options)
  options.emit({ type: 'stage', stage: 'prepare', done: 0, total: 0 })
  const ready = await prepare(machine, remote)
  const folder = own && (await sendLadder(machine.shell, ready.facts, own, options.signal))
  const ended = await runJob(
    machine,
    ready,
    (job) => ({
      kind: 'run',
      request: { ...request, target: 'local', ladder: folder ?? id } satisfies RunRequest,
      settings: { ...options.settings },
      folder,
      out: `${job}/session`,
      own: own?.folder ?? null,
    }),
    remote,
  )
  return finish(machine, ended, own?.folder ?? null, options)
}

type Ending = Pick<StartRunOptions, 'emit' | 'signal' | 'machine' | 'out'>

/**
 * Follows an earlier run on the machine and copies its session back. Throws an error if the run
 * does not exist.
 */
export async function resumeRun(name: string, run: string, options: Ending): Promise<FinishedRun> {
  const machine = await openMachine(options.machine.folders, name)
  const { facts, jobs } = await findRuns(machine, options.signal)
  const found = jobs.find(({ id }) => id === run)
  const job = found && Job.safeParse(JSON.parse(found.job)).data
  if (!found || job?.kind !== 'run')
    throw inputError(
      message('machines.noRun', { name, run }),
      message('machines.seeRuns', { name }),
    )
  const ended = await resumeJob(
    machine,
    facts,
    found,
    remoteOptions({ kind: 'machine', name }, options),
  )
  return finish(machine, ended, job.own, options)
}

/** Returns options that convert a remote job's output lines to events of a run on this target. */
const remoteOptions = (
  target: Target & { name: string },
  { signal, emit }: Pick<Ending, 'signal' | 'emit'>,
): RemoteOptions => ({
  signal,
  onNotice: (notice, level) => emit({ type: 'log', level: level ?? 'warning', message: notice }),
  onLink: (up) => emit({ type: 'link', machine: target.name, up, at: new Date().toISOString() }),
  onLine(line) {
    if (line.type !== 'event') return
    const event = RunEvent.safeParse(line.event).data
    if (!event || event.type === 'finished') return
    emit(event.type === 'started' ? { ...event, target: printTarget(target) } : event)
  },
})

/**
 * Copies back the session that a remote run saved. ncu's report stays on the machine until the user
 * requests it. `own` is the local ladder folder.
 */
async function finish(
  { name, shell }: NamedMachine,
  { end, place, host }: EndedJob,
  own: string | null,
  options: Ending,
): Promise<FinishedRun> {
  if (end.folder === null) await removeJob(shell, place).catch(() => undefined)
  if (end.error) throw new KernelLadderError(end.error.kind, end.error.message, end.error.remedy)
  if (end.folder === null)
    throw new KernelLadderError(
      options.signal.aborted ? 'cancelled' : 'failed',
      message('machines.nothing', { name }),
    )
  options.emit({ type: 'stage', stage: 'save', done: 0, total: 1 })
  const kept = await keepReport(shell, name, place, end.folder)
  const fetched = await bringHome(
    end.id ?? name,
    kept,
    (onFile) => fetchFolder(shell, end.folder!, reportFile, onFile),
    (session) => ({
      ...session,
      target: { kind: 'machine', name },
      ...(host ? { host } : {}),
      ladder: own === null ? session.ladder : { ...session.ladder, folder: own },
    }),
    options,
  )
  await removeJob(shell, place).catch(() => undefined)
  options.emit({ type: 'stage', stage: 'save', done: 1, total: 1 })
  return { ...fetched, missing: end.missing }
}

/** Writes a session's files to the store or the requested folder. */
async function bringHome(
  id: string,
  kept: KeptReport | null,
  fetch: (onFile: (file: RemoteFile) => Promise<void>) => Promise<void>,
  change: (session: Session) => Session,
  { out, machine }: Ending,
): Promise<Omit<FinishedRun, 'missing'>> {
  const draft = await (out === undefined
    ? draftSession(join(machine.folders.sessions, id))
    : draftNew(out))
  try {
    let text = ''
    await fetch(async ({ path, bytes }) => {
      const place = resolve(draft.path, path)
      if (!place.startsWith(draft.path + sep)) return
      if (path === sessionFile) text = Buffer.from(bytes).toString('utf8')
      else {
        try {
          await mkdir(dirname(place), { recursive: true })
          await writeFile(place, bytes)
        } catch (error) {
          throw diskError(error, place, 'write')
        }
      }
    })
    if (kept) await draft.addNote(keptReportFile, kept)
    const session = change(parseSession(text, sessionFile))
    const folder = await draft.commit(session)
    return { session, folder, unsaved: misplaced(out, folder) }
  } finally {
    await draft.discard()
  }
}
