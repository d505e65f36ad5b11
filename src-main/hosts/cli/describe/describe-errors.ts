/** Prints compiler messages of a rung in the format that compilers write and editors read. */
import { isAbsolute, join, relative } from 'node:path'
import type { Diagnostic, RungResult, Session } from '../../../domain/session/session'

/** Returns the path of a source in the ladder's folder, if it has one, relative to the current folder. */
function shown({ folder }: Session['ladder'], file: string): string {
  // A header outside the folder has its own path.
  if (folder === undefined || isAbsolute(file)) return file
  const path = join(folder, file.replace(/^[^/]*\//, ''))
  const near = relative(process.cwd(), path)
  return near.startsWith('..') ? path : near
}

const place = (ladder: Session['ladder'], { file, line }: Diagnostic): string =>
  file === null ? '' : `${shown(ladder, file)}:${line === null ? '' : `${line}:`} `

export const describeDiagnostics = (
  { ladder }: Pick<Session, 'ladder'>,
  { diagnostics }: Pick<RungResult, 'diagnostics'>,
  severity: Diagnostic['severity'],
): string[] =>
  diagnostics
    .filter((one) => one.severity === severity)
    .map((one) => `${place(ladder, one)}${severity}: ${one.message}`)

/** Returns the compiler's warnings of every rung, built or failed. */
export const describeWarnings = (session: Pick<Session, 'ladder' | 'rungs'>): string[] =>
  session.rungs.flatMap((rung) => describeDiagnostics(session, rung, 'warning'))
