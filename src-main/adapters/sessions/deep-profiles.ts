/**
 * Reads deep profiles from `deep/<rung>.json` in a session folder. Each deep profile is validated
 * when it is read.
 */
import { join } from 'node:path'
import { z } from 'zod'
import { inputError } from '../../domain/errors'
import { errorCode, readPlainFile, diskError } from '../disk/disk'
import { message, type Statement } from '../../domain/messages/message'
import { DeepProfile } from '../../domain/session/deep'
import { formats, upgraded } from '../../domain/session/upgrade/index'
import { Identifier } from '../../domain/ladder/rung'
import { parseJsonWithin } from '../../parsers/json-within'

export const deepFile = (rung: string): string => join('deep', `${Identifier.parse(rung)}.json`)

/**
 * Returns a rung's stored deep profile, or null if there is none. Throws an input error if the
 * profile is damaged.
 */
export async function readDeep(folder: string, rung: string): Promise<DeepProfile | null> {
  const path = join(folder, deepFile(rung))
  let text: string
  try {
    text = await readPlainFile(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null
    throw diskError(error, path, 'read')
  }
  return parseDeep(text, path)
}

export function parseDeep(text: string, path: string): DeepProfile {
  const refuse = (why: Statement) =>
    inputError(
      message('sessions.deepUnreadable', { file: path, why }),
      message('sessions.profileAgain'),
    )
  const parsed = parseJsonWithin(text)
  if ('refused' in parsed) throw refuse(parsed.refused)
  const current = upgraded(formats.deep, parsed.value)
  if ('refused' in current) throw refuse(current.refused)
  const profile = DeepProfile.safeParse(current.value)
  if (!profile.success) throw refuse(firstFaults(profile.error))
  return profile.data
}

/**
 * Returns the first few validation errors of a profile. A file with thousands of instructions can
 * have thousands of errors.
 */
const firstFaults = (error: z.ZodError): string =>
  error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`)
    .join('; ')
