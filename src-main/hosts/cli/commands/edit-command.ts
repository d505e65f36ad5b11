/** `kernel-ladder edit`: a rung's source in the user's editor. */
import type { SetUp } from '../../../adapters/machine/machine'
import { openInEditor } from '../../../services/editor'
import { openNamed } from '../../../services/sessions/sessions'
import { note } from '../output'
import { namedRung } from './show-command'

export async function editCommand(setUp: SetUp, name: string, where: string): Promise<number> {
  const setup = await setUp()
  const [, rung = where, line = '1'] = /^(.+):(\d{1,9})$/.exec(where) ?? []
  const opened = await openNamed(setup, name)
  const file = await openInEditor(setup, opened, namedRung(opened.session, rung), Number(line))
  note(`Opened ${file}:${line}`)
  return 0
}
