/** `kernel-ladder edit`: opens a rung's source in the user's editor. */
import type { SetUp } from '../../../adapters/machine/machine'
import { note } from '../output'
import { openNamed } from '../../../services/sessions/open-session'
import { openInEditor } from '../../../services/app/editor'
import { namedRung } from './named-rung'

export async function editCommand(setUp: SetUp, name: string, where: string): Promise<number> {
  const setup = await setUp()
  const [, rung = where, line = '1'] = /^(.+):(\d{1,9})$/.exec(where) ?? []
  const opened = await openNamed(setup, name)
  const file = await openInEditor(setup, opened, namedRung(opened.session, rung), Number(line))
  note(`Opened ${file}:${line}`)
  return 0
}
