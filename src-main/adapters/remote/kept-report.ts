/**
 * Handles the ncu report for a session that ran on a remote machine.
 *
 * The report can be larger than the rest of the session and is needed only for Nsight Compute, so
 * it stays on the remote machine under its hash. The session contains a note. The report is
 * downloaded on request, and an interrupted download can be resumed.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { KernelLadderError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { diskError } from '../disk/disk'
import { reportFile } from '../sessions/session-store'
import { answer } from './remote-host'
import type { JobPlace } from './remote-jobs'
import { quoted, type Shell } from './ssh'

export const keptReportFile = 'report-there.json'

export const KeptReport = z.object({
  schema: z.literal(1),
  /** The machine's name in machines.yaml. */
  machine: z.string(),
  /** Absolute path on the machine. */
  path: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().nonnegative(),
})
export type KeptReport = z.infer<typeof KeptReport>

/**
 * Links a job session's report into a folder that is kept after the job is removed. Returns null if
 * the session has no report.
 */
export async function keepReport(
  shell: Shell,
  machine: string,
  { folder }: JobPlace,
  session: string,
): Promise<KeptReport | null> {
  const root = dirname(dirname(folder))
  const lines = await answer(
    shell,
    'its report',
    [
      `f=${quoted(`${session}/${reportFile}`)}; [ -f "$f" ] || exit 0`,
      `umask 077; mkdir -p ${quoted(`${root}/reports`)} && cd ${quoted(`${root}/reports`)} || exit 1`,
      `h=$(sha256sum < "$f" | cut -d' ' -f1) && t="$h.$$"`,
      '{ ln -f "$f" "$t" 2>/dev/null || cp "$f" "$t"; } && mv -f "$t" "$h.ncu-rep" || { rm -f "$t"; exit 1; }',
      'echo "report $(wc -c < "$h.ncu-rep") $h"',
    ].join('\n'),
  )
  const [, bytes, sha256] =
    lines.map((line) => /^report +(\d+) ([0-9a-f]{64})$/.exec(line)).find(Boolean) ?? []
  if (bytes === undefined || sha256 === undefined) return null
  return KeptReport.parse({
    ...{ schema: 1, machine, sha256 },
    path: `${root}/reports/${sha256}.ncu-rep`,
    bytes: Number(bytes),
  })
}

/** Reads the note in a session's folder. Returns null if there is no note. */
export async function readKeptReport(folder: string): Promise<KeptReport | null> {
  try {
    return KeptReport.parse(JSON.parse(await readFile(join(folder, keptReportFile), 'utf8')))
  } catch {
    return null
  }
}

const partOf = (folder: string): string => join(folder, `${reportFile}.part`)

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )

/** Returns the number of bytes downloaded so far. */
export const fetchedBytes = (folder: string): Promise<number> => sizeOf(partOf(folder))

const hashOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/** Number of bytes to buffer in memory before writing. */
const flushBytes = 256 * 1024

/**
 * Appends the report's missing bytes to the partial local file. Returns `lost` if the connection
 * ended early. Throws an error if the remote report is missing or has changed.
 */
export async function fetchReport(
  shell: Shell,
  folder: string,
  kept: KeptReport,
  onBytes: (done: number) => void,
  signal: AbortSignal,
): Promise<'done' | 'lost'> {
  const part = partOf(folder)
  let done = await sizeOf(part)
  if (done > kept.bytes) {
    await rm(part, { force: true })
    done = 0
  }
  if (done < kept.bytes && (await fetchRest(shell, part, kept, done, onBytes, signal)) === 'lost')
    return 'lost'
  if ((await sizeOf(part)) !== kept.bytes || (await hashOf(part)) !== kept.sha256) {
    await rm(part, { force: true })
    throw new KernelLadderError(
      'failed',
      message('machines.reportDamaged', { name: kept.machine }),
      message('machines.fetchAgain'),
    )
  }
  await rename(part, join(folder, reportFile))
  await rm(join(folder, keptReportFile), { force: true })
  await answer(shell, 'tidying up', `rm -f ${quoted(kept.path)}`).catch(() => undefined)
  return 'done'
}

async function fetchRest(
  shell: Shell,
  part: string,
  { path, bytes, machine }: KeptReport,
  from: number,
  onBytes: (done: number) => void,
  signal: AbortSignal,
): Promise<'done' | 'lost'> {
  let [done, waiting, heldBytes]: [number, Buffer[], number] = [from, [], 0]
  let gone = false
  const file = await open(part, 'a').catch((error: unknown) => {
    throw diskError(error, part, 'write')
  })
  try {
    let work: Promise<unknown> = Promise.resolve()
    const flush = (): void => {
      const chunk = Buffer.concat(waiting)
      ;[waiting, heldBytes] = [[], 0]
      work = work
        .then(() => file.appendFile(chunk))
        .then(() => {
          done += chunk.length
          onBytes(done)
        })
      work.catch(() => undefined)
    }
    onBytes(done)
    const result = await shell.run({
      script: [
        `f=${quoted(path)}; [ -f "$f" ] || { echo gone; exit 0; }`,
        `tail -c +${from + 1} "$f" | base64 && echo .`,
      ].join('\n'),
      onLine(line) {
        if (line === 'gone') gone = true
        if (line === '.' || line === 'gone') return
        const chunk = Buffer.from(line, 'base64')
        waiting.push(chunk)
        heldBytes += chunk.length
        if (heldBytes >= flushBytes) flush()
      },
      signal,
    })
    // Even an incomplete line contains valid bytes of the report.
    flush()
    await work.catch((error: unknown) => {
      throw diskError(error, part, 'write')
    })
    if (gone)
      throw new KernelLadderError(
        'missing',
        message('machines.reportGone', { name: machine }),
        message('machines.profileAgain'),
      )
    if (result.outcome === 'cancelled')
      throw new KernelLadderError('cancelled', message('machines.fetchStopped'))
    return result.outcome === 'done' && done === bytes ? 'done' : 'lost'
  } finally {
    await file.close()
  }
}
