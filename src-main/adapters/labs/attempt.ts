/**
 * Reads and writes an attempt at a lab. The attempt's folder contains attempt.json (answers and
 * outcome) and lab.cu. The folder also has session/ if anything was measured, and
 * compute-sanitizer's verdicts if that tool ran. An attempt is written once and never edited.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { inputError, errorText, schemaFault } from '../../domain/errors'
import { LabAnswers, LabOutcome } from '../../domain/labs/outcome'
import { Statement, message } from '../../domain/messages/message'
import type { Session } from '../../domain/session/session'
import { formats, upgraded } from '../../domain/session/upgrade/index'
import { diskError } from '../disk/disk'

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

const sanitizerFileVersion = 2
const SanitizerFile = z.object({
  schema: z.literal(sanitizerFileVersion),
  verdicts: SanitizerVerdicts,
})

export const LabAttempt = z.object({ answers: LabAnswers, outcome: LabOutcome })
export type LabAttempt = z.infer<typeof LabAttempt>

export const sessionFolder = (folder: string): string => join(folder, 'session')

const files = { attempt: 'attempt.json', source: 'lab.cu' } as const

/** Writes all of an attempt's files except the session, which the run has already saved. */
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

const refuse = (path: string, why: Statement) =>
  inputError(message('files.unreadable', { file: path, why }), message('files.notChanged'))

/**
 * Upgrades and validates a document from the file at `path`. Throws an error with the reason if the
 * document is damaged or was written by a newer version.
 */
export function parseAs<T>(
  value: unknown,
  path: string,
  schema: z.ZodType<T>,
  upgrade: Upgrade = (value) => ({ value }),
): T {
  const current = upgrade(value)
  if ('refused' in current) throw refuse(path, current.refused)
  const read = schema.safeParse(current.value)
  if (!read.success) throw refuse(path, schemaFault(read.error))
  return read.data
}

/** Parses a JSON document from the file at `path`. */
export function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refuse(path, message('files.notJson', { text: errorText(error) }))
  }
}

async function readJson(path: string): Promise<unknown> {
  try {
    return parseJson(await readFile(path, 'utf8'), path)
  } catch (error) {
    throw diskError(error, path, 'read')
  }
}

/** Upgrades an attempt by upgrading its outcome, which contains the schema version. */
const upgradedAttempt: Upgrade = (value) => {
  const attempt = z.looseObject({ outcome: z.unknown() }).safeParse(value)
  if (!attempt.success) return { refused: message('sessions.noAttempt') }
  const outcome = upgraded(formats.labOutcome, attempt.data.outcome)
  return 'refused' in outcome ? outcome : { value: { ...attempt.data, outcome: outcome.value } }
}

export const parseAttempt = (value: unknown, path: string): LabAttempt =>
  parseAs(value, path, LabAttempt, upgradedAttempt)

const parseSanitizerFile = (value: unknown, path: string): SanitizerVerdicts =>
  parseAs(value, path, SanitizerFile, (file) => upgraded(formats.sanitizerVerdicts, file)).verdicts

const noVerdicts = { schema: sanitizerFileVersion, verdicts: {} }

/** Returns an attempt's compute-sanitizer verdicts. */
export const parseVerdicts = (value: unknown, path: string): SanitizerVerdicts => {
  const attempt = z.looseObject({ sanitized: z.unknown() }).safeParse(value)
  return parseSanitizerFile(attempt.data?.sanitized ?? noVerdicts, path)
}

export async function readAttempt(folder: string): Promise<LabAttempt> {
  const path = join(folder, files.attempt)
  return parseAttempt(await readJson(path), path)
}

export const readAttemptSource = (folder: string): Promise<string> =>
  readFile(join(folder, files.source), 'utf8')

/** Evidence for judging an attempt's checks. */
export interface AttemptEvidence {
  session: Session
  sanitized: SanitizerVerdicts
}

/** Returns the attempts in a folder and their names, oldest first. Skips unreadable attempts. */
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
