/**
 * An attempt at a lab on disk: attempt.json (answers, outcome, and compute-sanitizer's verdicts where it ran),
 * lab.cu, and session/ where something was measured. Written once, never edited.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { inputError } from '../../domain/errors'
import { LabAnswers, LabOutcome } from '../../domain/labs/outcome'
import type { Session } from '../../domain/session/session'
import { diskError, errorCode } from '../disk/disk'
import { readSession } from '../sessions/session-store'

export const SanitizerVerdicts = z.record(
  z.string(),
  z.union([
    z.object({ reason: z.string() }),
    z.array(
      z.object({
        tool: z.string(),
        status: z.enum(['clean', 'found', 'failed', 'unsupported', 'not-run']),
        reason: z.string().optional(),
        total: z.number().nullable(),
        findings: z.array(
          z.object({ place: z.object({ line: z.number().nullable() }), message: z.string() }),
        ),
      }),
    ),
  ]),
)
export type SanitizerVerdicts = z.infer<typeof SanitizerVerdicts>

export const LabAttempt = z.object({ answers: LabAnswers, outcome: LabOutcome })
export type LabAttempt = z.infer<typeof LabAttempt>

export const sessionFolder = (folder: string): string => join(folder, 'session')

const files = { attempt: 'attempt.json', source: 'lab.cu' } as const
/** Where attempts of before have the verdicts. */
const sanitizerFile = 'sanitizer.json'

const Sanitized = z.object({ sanitized: SanitizerVerdicts.optional() })

/** Writes all but the session, which its run has put there. */
export async function writeAttempt(
  folder: string,
  attempt: LabAttempt,
  source: string,
  sanitized: SanitizerVerdicts,
): Promise<void> {
  const kept = Object.keys(sanitized).length > 0 ? { ...attempt, sanitized } : attempt
  try {
    await writeFile(join(folder, files.source), source)
    await writeFile(join(folder, files.attempt), `${JSON.stringify(kept, null, 2)}\n`)
  } catch (error) {
    throw diskError(error, folder, 'write')
  }
}

async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T> {
  try {
    return schema.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    if (errorCode(error) !== undefined) throw diskError(error, path, 'read')
    throw inputError(
      `${path} is damaged: ${error instanceof z.ZodError ? z.prettifyError(error) : String(error)}`,
      'The file was left as it was.',
    )
  }
}

export const readAttempt = (folder: string): Promise<LabAttempt> =>
  readJson(join(folder, files.attempt), LabAttempt)

export const readAttemptSource = (folder: string): Promise<string> =>
  readFile(join(folder, files.source), 'utf8')

/** What an attempt rests on; null where the folder holds no session. */
export async function readAttemptEvidence(
  folder: string,
): Promise<{ session: Session; sanitized: SanitizerVerdicts } | null> {
  const names = await readdir(folder).catch(() => [] as string[])
  if (!names.includes('session')) return null
  const { sanitized } = await readJson(join(folder, files.attempt), Sanitized)
  return {
    session: await readSession(sessionFolder(folder)),
    sanitized:
      sanitized ??
      (names.includes(sanitizerFile)
        ? await readJson(join(folder, sanitizerFile), SanitizerVerdicts)
        : {}),
  }
}

/** The attempts in a folder by name, oldest first; one that cannot be read is left out. */
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
