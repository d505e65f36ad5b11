/**
 * Downloads a session's ncu report from its machine, opens it in Nsight Compute, and reads it in
 * parts.
 */
import { open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fetchedBytes, fetchReport, readKeptReport } from '../../adapters/remote/kept-report'
import { reportFile } from '../../adapters/sessions/session-store'
import type { Setup } from '../../adapters/machine/machine'
import { letGo } from '../../adapters/tools/process'
import type { CallInput, CallOutput } from '../../contract'
import { inputError, KernelLadderError, missingError, toErrorShape } from '../../domain/errors'
import type { ErrorShape } from '../../domain/errors'
import { message, type Statement } from '../../domain/messages/message'
import type { OpenedSession } from '../sessions/open-session'
import { openMachine } from './remote-job'

interface FoundReport {
  state: 'here' | 'there'
  /** The report's path on the machine that stores it. */
  path: string
  bytes: number
  /** Number of bytes that were already downloaded to this machine. */
  done: number
  /** Name of the machine that stores the report. Null if the report is on this machine. */
  machine: string | null
}

/** Returns the location of a session's ncu report, or null if the session has no report. */
export async function findReport(folder: string): Promise<FoundReport | null> {
  const path = join(folder, reportFile)
  const here = await stat(path).catch(() => null)
  if (here) return { state: 'here', path, bytes: here.size, done: here.size, machine: null }
  const kept = await readKeptReport(folder)
  if (!kept) return null
  const { machine, bytes } = kept
  return { state: 'there', path: kept.path, bytes, machine, done: await fetchedBytes(folder) }
}

/**
 * Pauses before reconnecting, in milliseconds. After the last pause, the download stops and keeps
 * the received bytes.
 */
const retriesMs = [500, 2000, 5000, 15_000]

/**
 * Copies a session's report to this machine if needed and returns its path. If a download is
 * interrupted, the next call resumes it. Throws an error if there is no report or its machine is
 * unreachable.
 */
export async function bringReport(
  { machine }: Setup,
  folder: string,
  {
    signal,
    onBytes,
    onNotice,
  }: {
    signal: AbortSignal
    onBytes: (done: number, bytes: number) => void
    onNotice: (notice: Statement) => void
  },
): Promise<string> {
  const found = await findReport(folder)
  if (found?.state === 'here') return found.path
  const kept = await readKeptReport(folder)
  if (!kept)
    throw inputError(message('machines.noReport', { folder }), message('machines.noReportDo'))
  const { shell, name } = await openMachine(machine.folders, kept.machine)
  for (let tries = 0; ; tries += 1) {
    const outcome = await fetchReport(
      shell,
      folder,
      kept,
      (done) => onBytes(done, kept.bytes),
      signal,
    )
    if (outcome === 'done') return join(folder, reportFile)
    const pause = retriesMs[tries]
    if (pause === undefined)
      throw missingError(
        message('machines.reportCut', {
          name,
          done: await fetchedBytes(folder),
          bytes: kept.bytes,
        }),
        message('machines.fetchAgain'),
      )
    onNotice(message('machines.fetchLost', { name }))
    await delay(pause, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) throw new KernelLadderError('cancelled', message('machines.fetchStopped'))
  }
}

/** Time in milliseconds to wait for Nsight Compute to report that it cannot start. */
const patienceMs = 1500

/** Opens a report in Nsight Compute on this machine. */
export async function openInNsight({ machine }: Setup, path: string): Promise<void> {
  const ncu = await machine.toolbox(null).locate('ncu')
  const programs = [...(ncu === null ? [] : [join(dirname(ncu), 'ncu-ui')]), 'ncu-ui']
  for (const program of programs) {
    const { outcome, exitCode } = await letGo(program, [path], patienceMs)
    if (outcome === 'running' || (outcome === 'exited' && exitCode === 0)) return
    if (outcome === 'exited')
      throw missingError(
        message('machines.nsightFailed', { program, code: String(exitCode) }),
        message('machines.openFile', { file: path }),
      )
  }
  throw missingError(message('machines.noNsight'), message('machines.openFile', { file: path }))
}

/** Number of report bytes in each response. */
const partBytes = 2 * 2 ** 20

/**
 * Implements the contract's `ncuReport.*` calls. Each session's report has at most one active
 * download.
 */
export function createNcuReports(
  setup: Setup,
  openSession: (ref: string) => Promise<OpenedSession>,
) {
  const fetching = new Map<string, { done: number; abort: AbortController }>()
  const failures = new Map<string, ErrorShape>()
  const reportOf = async (ref: string): Promise<{ folder: string; found: FoundReport | null }> => {
    const { folder } = await openSession(ref)
    return { folder, found: await findReport(folder) }
  }
  const copyHere = async (ref: string): Promise<FoundReport> => {
    const { folder, found } = await reportOf(ref)
    if (found?.state === 'here') return found
    throw inputError(message('machines.noReport', { folder }), message('machines.noReportDo'))
  }
  return {
    calls: {
      'ncuReport.state': async ({
        ref,
      }: CallInput<'ncuReport.state'>): Promise<CallOutput<'ncuReport.state'>> => {
        const { found } = await reportOf(ref)
        const error = failures.get(ref) ?? null
        if (!found) return { state: 'none', bytes: 0, done: 0, machine: null, error: null }
        const now = fetching.get(ref)
        return {
          state: now ? 'fetching' : found.state,
          bytes: found.bytes,
          done: now?.done ?? found.done,
          machine: found.machine,
          error,
        }
      },
      'ncuReport.fetch': async ({ ref }: CallInput<'ncuReport.fetch'>) => {
        const { folder, found } = await reportOf(ref)
        if (!found)
          throw inputError(message('machines.noReport', { folder }), message('machines.noReportDo'))
        if (found.state === 'here' || fetching.has(ref)) return {}
        const job = { done: found.done, abort: new AbortController() }
        fetching.set(ref, job)
        failures.delete(ref)
        void bringReport(setup, folder, {
          signal: job.abort.signal,
          onBytes: (done) => (job.done = done),
          onNotice: () => undefined,
        })
          .catch((error: unknown) => failures.set(ref, toErrorShape(error)))
          .finally(() => fetching.delete(ref))
        return {}
      },
      'ncuReport.open': async ({ ref }: CallInput<'ncuReport.open'>) => {
        await openInNsight(setup, (await copyHere(ref)).path)
        return {}
      },
      'ncuReport.part': async ({ ref, from }: CallInput<'ncuReport.part'>) => {
        const { path, bytes } = await copyHere(ref)
        const file = await open(path)
        try {
          const { buffer, bytesRead } = await file.read({
            buffer: Buffer.alloc(Math.max(0, Math.min(partBytes, bytes - from))),
            position: from,
          })
          return { base64: buffer.subarray(0, bytesRead).toString('base64'), bytes }
        } finally {
          await file.close()
        }
      },
    },
    close(): void {
      for (const { abort } of fetching.values()) abort.abort()
    },
  }
}
