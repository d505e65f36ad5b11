/** Source lines in the user's editor: its command is the user's alone, and the file is one of the rung's. */
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { Setup } from '../../src-main/adapters/machine/machine'
import { readSession } from '../../src-main/adapters/sessions/session-store'
import { editorCommand, openInEditor } from '../../src-main/services/editor'
import { recordingsDir, root, setupIn, tempDir } from './support'

describe('the command', () => {
  it.each([
    ['code -g {file}:{line}', ['code', '-g', '/a b/x.cu:7']],
    ['"/opt/my editor/subl" {file}:{line}', ['/opt/my editor/subl', '/a b/x.cu:7']],
    ["emacsclient -n +{line} '{file}'", ['emacsclient', '-n', '+7', '/a b/x.cu']],
    ['gvim', ['gvim', '/a b/x.cu']],
    // No shell is asked.
    ['code; rm -rf {file}', ['code;', 'rm', '-rf', '/a b/x.cu']],
  ])('%s', (setting, expected) => {
    expect(editorCommand(setting, '/a b/x.cu', 7)).toEqual(expected)
  })

  it('does not read braces in the name of a file', () => {
    expect(editorCommand('code -g {file}:{line}', '/a/{line}.cu', 7)).toEqual([
      'code',
      '-g',
      '/a/{line}.cu:7',
    ])
  })
})

async function desk(setting: string | null) {
  const dir = await tempDir()
  const base = setupIn(dir, { kernelsDir: join(root, 'cuda-kernels') })
  const setup: Setup = {
    ...base,
    machine: {
      ...base.machine,
      variable: (name) => (name === 'KERNEL_LADDER_EDITOR' ? setting : null),
    },
  }
  const session = await readSession(join(recordingsDir, 'gemm-fp32-h200-4096'))
  const rung = session.rungs.find(({ id }) => id === '06_float4')!
  return { dir, setup, session, rung, open: { session, folder: dir } }
}

/** An editor that writes down what it was asked. */
async function editor(dir: string): Promise<string> {
  const file = join(dir, 'my editor')
  await writeFile(file, `#!/bin/sh\nprintf '%s' "$*" > '${dir}/asked'\n`)
  await chmod(file, 0o755)
  return file
}

describe('a line of a rung', () => {
  it('of a ladder that ships opens its file', async () => {
    const dir = await tempDir()
    const { setup, open, rung } = await desk(`"${await editor(dir)}" -g {file}:{line}`)
    const file = await openInEditor(setup, open, rung, 40)
    expect(file).toBe(join(root, 'cuda-kernels', rung.file))
    await vi.waitFor(async () =>
      expect(await readFile(join(dir, 'asked'), 'utf8')).toBe(`-g ${file}:40`),
    )
  })

  it.each(['../../../etc/passwd', '/etc/passwd', 'gemm/link.cu'])(
    'of a session that names %s opens nothing',
    async (hostile) => {
      const { dir, setup, open, rung } = await desk('true')
      await mkdir(join(dir, 'sources/gemm'), { recursive: true })
      await symlink('/etc/passwd', join(dir, 'sources/gemm/link.cu'))
      await expect(openInEditor(setup, open, { ...rung, file: hostile }, 1)).rejects.toMatchObject({
        kind: 'input',
        message: 'The source of 06_float4 is not in a file on this machine.',
      })
    },
  )

  it.each([
    [null, 'No editor is set.'],
    ['/nowhere/code -g {file}', 'The editor /nowhere/code was not found.'],
    ['false', 'The editor false ended with exit code 1.'],
  ])('with the setting %s is refused with the remedy', async (setting, sentence) => {
    const { setup, open, rung } = await desk(setting)
    const error = await openInEditor(setup, open, rung, 1).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: 'missing', message: sentence })
    expect(error).toMatchObject({ remedy: { values: { example: 'code -g {file}:{line}' } } })
  })
})
