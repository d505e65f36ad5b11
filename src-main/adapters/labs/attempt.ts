/**
 * An attempt at a lab on disk: attempt.json (answers, outcome, and compute-sanitizer's verdicts if it ran), lab.cu,
 * and session/ if something was measured. Written once, never edited.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { inputError, errorText } from '../../domain/errors'
import { LabAnswers, LabOutcome } from '../../domain/labs/outcome'
import { Statement, message } from '../../domain/messages/message'
import type { Session } from '../../domain/session/session'
import { formats, upgraded } from '../../domain/session/upgrade'
import { diskError } from '../disk/disk'
import { readSession } from '../sessions/session-store'

export const SanitizerVerdicts = z.record(
  z.string(),
  z.union([
    z.object({ reason: Statement }),
    z.array(
      z.object({
        tool: z.string(),
        status: z.enum(['clean', 'found', 'failed', 'unsupported', 'not-run']),
        reason: Statement.optional(),
        total: z.number().nullable(),
        findings: z.array(
          z.object({ place: z.object({ line: z.number().nullable() }), message: z.string() }),
        ),
      }),
    ),
  ]),
)
export type SanitizerVerdicts = z.infer<typeof SanitizerVerdicts>

export const sanitizerFileVersion = 2
const SanitizerFile = z.object({
  schema: z.literal(sanitizerFileVersion),
  verdicts: SanitizerVerdicts,
})

export const LabAttempt = z.object({ answers: LabAnswers, outcome: LabOutcome })
export type LabAttempt = z.infer<typeof LabAttempt>

export const sessionFolder = (folder: string): string => join(folder, 'session')

const files = { attempt: 'attempt.json', source: 'lab.cu' } as const
/** Where older attempts store the verdicts. */
const sanitizerFile = 'sanitizer.json'

/** Writes everything but the session, which the run has already saved there. */
export async function writeAttempt(
  folder: string,
  attempt: LabAttempt,
  source: string,
  sanitized: SanitizerVerdicts,
): Promise<void> {
  const kept =
    Object.keys(sanitized).length > 0
      ? { ...attempt, sanitized: { schema: sanitizerFileVersion, verdicts: sanitized } }
      : attempt
  try {
    await writeFile(join(folder, files.source), source)
    await writeFile(join(folder, files.attempt), `${JSON.stringify(kept, null, 2)}\n`)
  } catch (error) {
    throw diskError(error, folder, 'write')
  }
}

type Upgrade = (value: unknown) => ReturnType<typeof upgraded>

/** Reads, upgrades and validates a file; a newer or damaged one is rejected with the reason. */
async function readJson<T>(path: string, schema: z.ZodType<T>, upgrade: Upgrade): Promise<T> {
  const refuse = (why: Statement) =>
    inputError(message('files.unreadable', { file: path, why }), message('files.notChanged'))
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw diskError(error, path, 'read')
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw refuse(message('files.notJson', { text: errorText(error) }))
  }
  const current = upgrade(value)
  if ('refused' in current) throw refuse(current.refused)
  const read = schema.safeParse(current.value)
  if (!read.success) throw refuse(z.prettifyError(read.error))
  return read.data
}

/** The version of an attempt is its outcome's. */
const upgradedAttempt: Upgrade = (value) => {
  const attempt = z.looseObject({ outcome: z.unknown() }).safeParse(value)
  if (!attempt.success) return { refused: message('sessions.noAttempt') }
  const outcome = upgraded(formats.labOutcome, attempt.data.outcome)
  return 'refused' in outcome ? outcome : { value: { ...attempt.data, outcome: outcome.value } }
}

export const readAttempt = (folder: string): Promise<LabAttempt> =>
  readJson(join(folder, files.attempt), LabAttempt, upgradedAttempt)

export const readAttemptSource = (folder: string): Promise<string> =>
  readFile(join(folder, files.source), 'utf8')

/** The evidence of an attempt; null if the folder contains no session. */
export async function readAttemptEvidence(
  folder: string,
): Promise<{ session: Session; sanitized: SanitizerVerdicts } | null> {
  const names = await readdir(folder).catch(() => [] as string[])
  if (!names.includes('session')) return null
  const within = await readJson(join(folder, files.attempt), SanitizerFile, (value) => {
    const attempt = z.looseObject({ sanitized: z.unknown() }).safeParse(value)
    return upgraded(formats.sanitizerVerdicts, attempt.data?.sanitized ?? {})
  })
  const beside = names.includes(sanitizerFile)
    ? await readJson(join(folder, sanitizerFile), SanitizerFile, (value) =>
        upgraded(formats.sanitizerVerdicts, value),
      )
    : null
  return {
    session: await readSession(sessionFolder(folder)),
    sanitized: { ...beside?.verdicts, ...within.verdicts },
  }
}

/** The attempts in a folder by name, oldest first; unreadable ones are skipped. */
export async function listAttempts(
  folder: string,
): Promise<{ id: string; folder: string; attempt: LabAttempt }[]> {
  const names = (await readdir(folder).catch(() => [] as string[]))
    .filter((name) => !name.startsWith('.'))
    .sort()
  const found = await Promise.all(
    names.map(async (id) => {
      const attempt = await readAttempt(join(folder, id)).catch(() => null)
      return attempt ? [{ id, folder: join(folder, id), attempt }] : []
    }),
  )
  return found.flat()
}
