/**
 * Opens a source line in the user's editor.
 *
 * The command is the user's own setting, KERNEL_LADDER_EDITOR; nothing that a page or a session says is part of it, and
 * only a file of the ladder's folder, of this program or of the session is opened.
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

/** `code -g {file}:{line}`; words as in a shell, without anything else of a shell. */
export function editorCommand(setting: string, file: string, line: number): string[] {
  const words = [...setting.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  )
  const named = words.some((word) => word.includes('{file}')) ? words : [...words, '{file}']
  return named.map((word) => word.replaceAll('{line}', `${line}`).replaceAll('{file}', file))
}

/** The file without links; null if there is none inside of the folder. */
async function inside(folder: string, file: string): Promise<string | null> {
  try {
    const root = await realpath(folder)
    const path = await realpath(join(root, file))
    return path.startsWith(root + sep) ? path : null
  } catch {
    return null
  }
}

/** Where the source of a rung can be edited, else what the session kept of it; null if it has none. */
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

/** How long an editor may take to say that it cannot start; many stay until their window is closed. */
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
