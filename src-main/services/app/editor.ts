/**
 * Opens a source line in the user's editor.
 *
 * The command always comes from the user's setting KERNEL_LADDER_EDITOR, never from a page or a
 * session. Only files that belong to the ladder's folder, this program, or the session can be
 * opened.
 */
import { realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { Setup } from '../../adapters/machine/machine'
import { inputError, missingError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import type { RungResult } from '../../domain/session/session'
import { folderOf } from '../folders/folders'
import type { OpenedSession } from '../sessions/open-session'
import { letGo } from '../../adapters/tools/process'
import { sourcesFolder } from '../../adapters/sessions/session-sources'

const editorVariable = 'KERNEL_LADDER_EDITOR'

const remedy = () => message('editor.set', { example: 'code -g {file}:{line}' })

export const hasEditor = ({ variable }: Pick<Setup['machine'], 'variable'>): boolean =>
  Boolean(variable(editorVariable)?.trim())

/**
 * Returns the command and its arguments for a setting such as `code -g {file}:{line}`. Supports
 * shell quoting but no other shell syntax.
 */
export function editorCommand(setting: string, file: string, line: number): string[] {
  const words = [...setting.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  )
  const named = words.some((word) => word.includes('{file}')) ? words : [...words, '{file}']
  return named.map((word) => word.replaceAll('{line}', `${line}`).replaceAll('{file}', file))
}

/** Returns the file's real path, or null if the file is missing or outside the folder. */
async function inside(folder: string, file: string): Promise<string | null> {
  try {
    const root = await realpath(folder)
    const path = await realpath(join(root, file))
    return path.startsWith(root + sep) ? path : null
  } catch {
    return null
  }
}

/**
 * Returns a rung's editable source file, or the session's stored copy. Returns null if the rung has
 * neither file.
 */
async function sourceFile(
  setup: Setup,
  { session, folder }: Pick<OpenedSession, 'session' | 'folder'>,
  { file }: RungResult,
): Promise<string | null> {
  const own = await folderOf(setup, session.ladder)
  if (own !== null) return inside(own, file.replace(/^[^/]*\//, ''))
  const shipped = session.ladder.folder === undefined ? setup.assets.kernelsDir : null
  return (
    (shipped && (await inside(shipped, file))) ?? (await inside(join(folder, sourcesFolder), file))
  )
}

/**
 * Milliseconds to wait for an editor to report that it cannot start. Many editors run until their
 * window is closed.
 */
const patienceMs = 1500

export async function openInEditor(
  setup: Setup,
  opened: Pick<OpenedSession, 'session' | 'folder'>,
  rung: RungResult,
  line: number,
): Promise<string> {
  const setting = setup.machine.variable(editorVariable)?.trim()
  if (!setting) throw missingError(message('editor.unset'), remedy())
  const file = await sourceFile(setup, opened, rung)
  if (file === null)
    throw inputError(message('editor.noFile', { rung: rung.id }), message('editor.noFileThen'))
  const [program = '', ...args] = editorCommand(setting, file, line)
  const { outcome, exitCode } = await letGo(program, args, patienceMs)
  if (outcome === 'not-found') throw missingError(message('editor.notFound', { program }), remedy())
  if (outcome === 'exited' && exitCode !== 0)
    throw missingError(message('editor.failed', { program, code: String(exitCode) }), remedy())
  return file
}
