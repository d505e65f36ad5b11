/** What the core keeps of a student's work: drafts, answers, hints seen, and every attempt. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { LabFolder } from '../adapters/lab-library'
import { freeFolder } from './climb'
import { labsDataDir } from './lab-trust'

/** A lab of another content has a place of its own only where it has another id. */
export const progressDir = (lab: string): string => join(labsDataDir(), lab)
export const attemptsDir = (lab: string): string => join(progressDir(lab), 'attempts')

/** `20261121-030507-1a2b`: sorts by time. */
export function newAttemptFolder({ id }: LabFolder): Promise<string> {
  const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  return freeFolder(attemptsDir(id), `${stamp}-${randomBytes(2).toString('hex')}`)
}
