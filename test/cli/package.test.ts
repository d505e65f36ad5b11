/**
 * Tests the npm package as users install it. npm installs the tarball in an empty folder without
 * a network.
 */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findTool } from '../../src-main/adapters/tools/live-toolbox'
import { packedRow, ncuCapture } from '../captures'
import { root } from '../services/support'
import { runBundle, start, type Running } from './support'

const exec = promisify(execFile)
const folder = join(root, 'dist/package')

/** A memcheck finding in the format that compute-sanitizer writes. */
const memcheckXml = `<ComputeSanitizerOutput><record><kind>Precise</kind><level>Error</level><what><text>Invalid __global__ read</text></what><where><func>k</func><path>k.cu</path><line>7</line></where></record></ComputeSanitizerOutput>`

let home = ''
let program = ''
let tarball = ''
let env: Record<string, string> = {}

/**
 * When npm runs the tests, it sets variables for its scripts, such as their folder. The nested npm
 * must not inherit the variables of the outer npm.
 */
const withoutNpm = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD$)/i.test(name)),
)

/**
 * Returns a server's output once the server is ready. The output includes the link, which the
 * server prints on a different stream than its last line. Throws an error if the server ended
 * before it was ready.
 */
const outputWhenReady = ({ says, finished }: Running): Promise<string> =>
  Promise.race([
    says('Press Ctrl+C').then(() => says('Kernel Ladder is at http')),
    finished.then(({ stderr }) => {
      throw new Error(stderr)
    }),
  ])

/** Runs npm without access to a registry. */
const npm = (args: readonly string[], cwd: string) =>
  exec('npm', [...args, '--offline', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    env: { ...withoutNpm, npm_config_cache: join(home, 'npm') },
  })

beforeAll(async () => {
  // `tempDir` cannot be used here, because its folders last for one test.
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
  it('is at most 13 MB and depends on no other package', async () => {
    expect((await stat(tarball)).size).toBeLessThanOrEqual(13e6)
    const names = await readdir(dirname(dirname(program)))
    expect(names.filter((name) => !name.startsWith('.'))).toEqual(['kernel-ladder'])
  })

  it('lists the licenses of the bundled packages', async () => {
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

  it.each(['serve', 'app'])('serves the UI over HTTP if `%s` has no display', async (command) => {
    const none = { ...env, DISPLAY: '', WAYLAND_DISPLAY: '' }
    const server = start([command], none, program)
    const said = await outputWhenReady(server)
    const link = /http:\S+/.exec(said)![0]
    const entry = await fetch(link, { redirect: 'manual' })
    const cookie = entry.headers.getSetCookie()[0]!.split(';')[0]!
    const page = await fetch(new URL('/', link), { headers: { cookie } })
    expect(await page.text()).toContain('<div id="app"')
    server.signal('SIGTERM')
    expect((await server.finished).code).toBe(0)
  })

  it('opens a window with an Electron that is installed next to it', async () => {
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
      // Electron refuses to run as root, so the program opens the browser instead.
      const said = await outputWhenReady(app)
      expect(said).toContain('Electron does not run as root')
      app.signal('SIGTERM')
      expect((await app.finished).code).toBe(0)
    } else expect(await app.finished).toMatchObject({ code: 7, stdout: `opened ${main}\n` })
    expect((await stat(main)).isFile()).toBe(true)
  })

  it('requires no writable folder for commands that only print', async () => {
    const blocked = join(home, 'blocked')
    await writeFile(blocked, '')
    const nowhere = {
      KERNEL_LADDER_CACHE: join(blocked, 'a'),
      KERNEL_LADDER_DATA: join(blocked, 'b'),
    }
    expect((await runBundle(['ladders'], nowhere, program)).code).toBe(0)
    expect((await runBundle(['show', 'recorded'], nowhere, program)).code).toBe(0)
  })

  it('reports an error if the user has no home folder', async () => {
    const homeless = { HOME: '', XDG_CACHE_HOME: '', XDG_DATA_HOME: '' }
    const { code, stderr } = await runBundle(['ladders'], homeless, program)
    expect(code).toBe(3)
    expect(stderr).toContain('error: This user has no home folder.\n  Set HOME to')
    expect((await runBundle(['--help'], homeless, program)).code).toBe(0)
  })
})

const outside = `__global__ void outsideStore(float* out, int n) {
  out[blockIdx.x * blockDim.x + threadIdx.x + n] = 1;
}
`

describe('the library in the package', () => {
  const library = join(root, 'src-main/api')
  const examples = readdirSync(library).flatMap((file) => {
    const text = readFileSync(join(library, file), 'utf8')
    return [...text.matchAll(/@example\n \* ```js\n([\s\S]*?) \* ```/g)].map(([, code = '']) => ({
      module: basename(file, '.ts'),
      code: code.replaceAll(/^ \* ?/gm, ''),
    }))
  })
  const ncu = join(root, 'test/captures/ncu/2025.3.1-h200')
  /** Returns the input files for an example, based on the functions it calls. */
  const given = async (code: string): Promise<string[]> => {
    const report = join(home, 'slow.ncu-rep')
    await writeFile(
      report,
      brotliDecompressSync(await readFile(join(ncu, 'five-kernels.ncu-rep.br'))),
    )
    const table = join(home, 'raw.csv')
    await writeFile(table, ncuCapture('import-set-full'))
    const xml = join(home, 'found.xml')
    await writeFile(xml, memcheckXml)
    if (code.includes('readSanitizerXml')) return [xml]
    if (code.includes('compileCubin')) {
      const source = join(home, 'outside.cu')
      await writeFile(source, outside)
      return [source]
    }
    const cubin = join(home, 'faults.cubin')
    await writeFile(cubin, packedRow('cubins.jsonl', 'faults.cubin').bytes)
    if (code.includes('emulate(')) return [cubin]
    return code.includes('readNcuCsv') ? [table] : [report, report]
  }

  it('has an example for every function', () => {
    const called = examples.flatMap(
      ({ code }) => /^import \{ (.*) \} from 'kernel/m.exec(code)![1]!,
    )
    for (const name of [
      'readNcuRep',
      'readNcuCsv',
      'readSanitizerXml',
      'hottestLines',
      'occupancy',
      'waves',
      'sharedAccess',
      'globalAccess',
      'compareReports',
      'emulate',
      'compileCubin',
    ])
      expect(called.join(', ')).toContain(name)
  })

  it('reports a missing nvcc', async () => {
    const { code } = examples.find(({ module }) => module === 'compile')!
    const file = join(dirname(dirname(dirname(program))), 'compile.mjs')
    await writeFile(file, code)
    const env = { PATH: home, KERNEL_LADDER_PATH_ONLY: '1' }
    await expect(exec(process.execPath, [file, 'any.cu'], { env })).rejects.toThrow(
      'nvcc was not found.',
    )
  })

  it.each(examples)(
    'runs the installed example of $module: $code',
    { tags: ['thorough'] },
    async ({ code }) => {
      if (code.includes('compileCubin') && (await findTool('nvcc')) === null) return
      const file = join(dirname(dirname(dirname(program))), 'example.mjs')
      await writeFile(file, code)
      const { stdout } = await exec(process.execPath, [file, ...(await given(code))])
      // A comment after a statement states the expected output of the example.
      const promised = /^(?!\s*\/\/).*\S \/\/ (.+)$/m.exec(code)?.[1]
      expect(stdout.trim()).not.toBe('')
      if (promised !== undefined) expect(stdout.trim()).toBe(promised)
      if (code.includes('compileCubin')) expect(stdout).toBe('52 warp instructions, 128 findings\n')
      else if (code.includes('emulate('))
        expect(stdout).toMatch(
          /^\d+ warp instructions.*\n.*faults\.cu:9: Invalid __global__ write of size 4/,
        )
      else if (code.includes('hottestLines'))
        expect(stdout).toMatch(/98\.6 % .*01_naive\.cu:27 .*sum \+=/)
    },
  )

  it('can print the hottest lines in a documented program of at most ten lines', async () => {
    const text = await readFile(join(root, 'docs/reference/library.md'), 'utf8')
    const code = /```js\n([\s\S]*?)```/.exec(text)![1]!
    expect(code.split('\n').filter(Boolean).length).toBeLessThanOrEqual(10)
    expect(examples.map((one) => one.code)).toContain(code)
  })

  it(
    'has self-contained types that work with Node’s module resolution',
    { tags: ['thorough'] },
    async () => {
      const user = dirname(dirname(dirname(program)))
      await writeFile(
        join(user, 'user.mts'),
        [
          "import { hottestLines, isKernelLadderError, readNcuRep, type HotLine } from 'kernel-ladder'",
          'const lines: HotLine[] = readNcuRep(new Uint8Array()).kernels.flatMap((one) => hottestLines(one))',
          'export const first: string | undefined = lines[0]?.file',
          'export const kind = (e: unknown): string => (isKernelLadderError(e) ? e.kind : "")',
          '// @ts-expect-error a counter that there is not',
          "hottestLines(readNcuRep(new Uint8Array()).kernels[0]!, 'nonsense')",
        ].join('\n'),
      )
      const compiler = join(root, 'node_modules/typescript-7/bin/tsc')
      const options = ['--noEmit', '--strict', '--module', 'nodenext', '--skipLibCheck', 'false']
      const types = ['--target', 'es2023', '--types', 'node', '--typeRoots']
      await exec(
        process.execPath,
        [compiler, ...options, ...types, join(root, 'node_modules/@types'), 'user.mts'],
        { cwd: user },
      )
    },
  )

  it('rejects a file that is not a report, with a specific error', async () => {
    const file = join(dirname(dirname(dirname(program))), 'refused.mjs')
    await writeFile(
      file,
      [
        "import { isKernelLadderError, occupancy, readNcuRep, sharedAccess } from 'kernel-ladder'",
        'const said = (f) => { try { f() } catch (e) { return `${isKernelLadderError(e)} ${e.message}` } }',
        'console.log(said(() => readNcuRep(new Uint8Array(9))))',
        "console.log(said(() => sharedAccess('load', { addresses: [0], bytes: 4 })))",
        "console.log(said(() => occupancy('1.0', {})))",
      ].join('\n'),
    )
    const { stdout } = await exec(process.execPath, [file])
    expect(stdout).toMatch(/^true .+\nfalse addresses must have one.+\nfalse The limits of.+\n$/)
  })

  it('contains the current documentation pages', async () => {
    const { libraryDocs } = await import('../../scripts/lib/library-doc.mjs')
    for (const [path, expected] of await libraryDocs()) {
      const text = await readFile(join(root, path), 'utf8')
      expect(text, 'run `npm run readme -- library`').toBe(expected)
    }
  })
})
