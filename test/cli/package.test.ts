/** The npm package as a user has it: its tarball, installed by npm in an empty folder, without a network. */
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../services/support'
import { runBundle, start } from './support'

const exec = promisify(execFile)
const folder = join(root, 'dist/package')

let home = ''
let program = ''
let tarball = ''
let env: Record<string, string> = {}

/** What the npm that runs the tests tells its scripts, such as which folder is theirs, is not for the one here. */
const withoutNpm = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD$)/i.test(name)),
)

/** Asks no registry. */
const npm = (args: readonly string[], cwd: string) =>
  exec('npm', [...args, '--offline', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    env: { ...withoutNpm, npm_config_cache: join(home, 'npm') },
  })

beforeAll(async () => {
  // Not `tempDir`, whose folders are of one test.
  home = await mkdtemp(join(tmpdir(), 'kl-package-'))
  env = { KERNEL_LADDER_CACHE: join(home, 'cache'), KERNEL_LADDER_DATA: join(home, 'data') }
  const packed = await npm(['pack', folder, '--json'], home)
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }]
  tarball = join(home, filename)
  const empty = join(home, 'a folder with spaces')
  await mkdir(empty)
  await npm(['install', tarball], empty)
  program = join(empty, 'node_modules/.bin/kernel-ladder')
})

afterAll(() => rm(home, { recursive: true, force: true }))

describe('the npm package', () => {
  it('is at most 12 MB and brings no other package along', async () => {
    expect((await stat(tarball)).size).toBeLessThanOrEqual(12e6)
    const names = await readdir(dirname(dirname(program)))
    expect(names.filter((name) => !name.startsWith('.'))).toEqual(['kernel-ladder'])
  })

  it('names the licenses of what is bundled into it', async () => {
    const text = await readFile(join(folder, 'lib/third-party-licenses.md'), 'utf8')
    for (const library of ['commander', 'zod', 'execa', 'yaml']) expect(text).toContain(library)
  })

  it('replays a recorded ladder and writes a report with the UI', async () => {
    const args = ['run', '--ladder', 'gemm-fp32', '--target', 'recorded', '--json']
    const run = await runBundle(args, env, program)
    expect(run).toMatchObject({ code: 0 })
    expect((JSON.parse(run.stdout) as { rungs: unknown[] }).rungs).toHaveLength(16)
    const out = join(home, 'report.html')
    const ref = 'recorded:gemm-fp32-h200-4096'
    const report = await runBundle(['report', ref, '--format', 'html', '--out', out], env, program)
    expect(report).toMatchObject({ code: 0 })
    expect(await readFile(out, 'utf8')).toContain('<title>')
  })

  it.each(['serve', 'app'])(
    'serves the UI with `%s` where there is no display',
    async (command) => {
      const none = { ...env, DISPLAY: '', WAYLAND_DISPLAY: '' }
      const server = start([command], none, program)
      const said = await Promise.race([server.says('Press Ctrl+C'), server.finished])
      const link = /http:\S+/.exec(String(said))![0]
      const entry = await fetch(link, { redirect: 'manual' })
      const cookie = entry.headers.getSetCookie()[0]!.split(';')[0]!
      const page = await fetch(new URL('/', link), { headers: { cookie } })
      expect(await page.text()).toContain('<div id="app"')
      server.signal('SIGTERM')
      expect((await server.finished).code).toBe(0)
    },
  )

  it('opens the window of an Electron that is installed beside it', async () => {
    const modules = dirname(dirname(program))
    const electron = join(modules, 'electron')
    await mkdir(join(electron, 'dist'), { recursive: true })
    await writeFile(join(electron, 'package.json'), '{"name":"electron"}')
    await writeFile(join(electron, 'path.txt'), 'electron')
    const fake = join(electron, 'dist/electron')
    await writeFile(fake, '#!/bin/sh\necho "opened $1"\nexit 7\n')
    await chmod(fake, 0o755)
    const main = join(modules, 'kernel-ladder/out/main/index.js')
    const app = start(['app'], { ...env, DISPLAY: ':99' }, program)
    if (process.getuid?.() === 0) {
      // Electron refuses that user, so the browser is asked for.
      const said = await Promise.race([app.says('Press Ctrl+C'), app.finished])
      expect(said).toContain('Electron does not run as root')
      app.signal('SIGTERM')
      expect((await app.finished).code).toBe(0)
    } else expect(await app.finished).toMatchObject({ code: 7, stdout: `opened ${main}\n` })
    expect((await stat(main)).isFile()).toBe(true)
  })

  it('needs no folder that it may write to for what only prints', async () => {
    const blocked = join(home, 'blocked')
    await writeFile(blocked, '')
    const nowhere = {
      KERNEL_LADDER_CACHE: join(blocked, 'a'),
      KERNEL_LADDER_DATA: join(blocked, 'b'),
    }
    expect((await runBundle(['ladders'], nowhere, program)).code).toBe(0)
    expect((await runBundle(['show', 'recorded'], nowhere, program)).code).toBe(0)
  })

  it('says in a sentence that a user has no home', async () => {
    const homeless = { HOME: '', XDG_CACHE_HOME: '', XDG_DATA_HOME: '' }
    const { code, stderr } = await runBundle(['ladders'], homeless, program)
    expect(code).toBe(3)
    expect(stderr).toContain('error: This user has no home folder.\n  Set HOME to')
    expect((await runBundle(['--help'], homeless, program)).code).toBe(0)
  })
})
