/** Prints a rung's compiler messages in the usual compiler format, which editors can parse. */
import { isAbsolute, join, relative } from 'node:path'
import type { Diagnostic, RungResult, Session } from '../../../domain/session/session'

/**
 * Returns the path of a source relative to the current folder. If the ladder has no folder, returns
 * the path unchanged.
 */
function shown({ folder }: Session['ladder'], file: string): string {
  // Keep the absolute path of a header outside the ladder's folder.
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

/** Returns the compiler warnings of all rungs, including rungs that failed. */
export const describeWarnings = (session: Pick<Session, 'ladder' | 'rungs'>): string[] =>
  session.rungs.flatMap((rung) => describeDiagnostics(session, rung, 'warning'))
