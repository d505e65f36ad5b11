/** Tests the MCP server with the SDK's client over stdio, using the installed program. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { agentsDoc } from '../../scripts/lib/agents-doc.mjs'
import { root, tempDir } from '../services/support'

const program = join(root, 'dist/package/lib/kernel-ladder.js')
const hasNvcc = spawnSync('nvcc', ['--version']).status === 0
const clients: Client[] = []
/**
 * Cleanup functions that run after the last test of the file. The `clients` are closed after each
 * test.
 */
const atEnd: (() => unknown)[] = []

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()))
})
afterAll(async () => {
  for (const undo of atEnd) await undo()
})

interface Desk {
  /** The folder that the user allowed. */
  folder: string
  client: Client
  call: (name: string, given?: Record<string, unknown>) => Promise<{ error?: Refusal } & Answer>
}

type Answer = Record<string, unknown> & { summary?: string }
interface Refusal {
  kind: string
  message: string
  remedy?: string
}

const envOf = (dir: string): Record<string, string> => ({
  ...(process.env as Record<string, string>),
  KERNEL_LADDER_PATH_ONLY: '1',
  KERNEL_LADDER_CACHE: join(dir, 'cache'),
  KERNEL_LADDER_DATA: join(dir, 'data'),
})

let usual: Promise<Desk> | undefined
/** Returns the client that all read-only tests share. */
const sharedDesk = (): Promise<Desk> =>
  (usual ??= (async () => {
    const dir = await mkdtemp(join(tmpdir(), 'kl-test-'))
    const desk = await deskIn(dir)
    clients.splice(clients.indexOf(desk.client), 1)
    atEnd.push(
      () => desk.client.close(),
      () => rm(dir, { recursive: true, force: true, maxRetries: 10 }),
    )
    return desk
  })())

const runWithInput = (dir: string, input: string) =>
  spawnSync(process.execPath, [program, 'mcp'], { env: envOf(dir), input, encoding: 'utf8' })

const desk = async (...options: string[]): Promise<Desk> => deskIn(await tempDir(), ...options)

async function deskIn(dir: string, ...options: string[]): Promise<Desk> {
  const folder = join(dir, 'work')
  await mkdir(folder)
  const capture = join(root, 'test/captures/ncu/2025.3.1-h200/five-kernels.ncu-rep.br')
  await writeFile(join(folder, 'slow.ncu-rep'), brotliDecompressSync(await readFile(capture)))
  const client = new Client({ name: 'test', version: '1' })
  clients.push(client)
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp', ...options, folder],
      env: envOf(dir),
      stderr: 'ignore',
    }),
  )
  return {
    folder,
    client,
    call: async (name, given = {}) => {
      const { content, structuredContent } = await client.callTool({ name, arguments: given })
      const [first] = content as { text: string }[]
      // Clients that only show text must get identical content.
      if (structuredContent !== undefined)
        expect(JSON.parse(first!.text)).toEqual(structuredContent)
      return (structuredContent ?? { error: { kind: 'sdk', message: first!.text } }) as never
    },
  }
}

describe('an agent', () => {
  it('can read what each call does before calling', async () => {
    const { client } = await sharedDesk()
    const { tools } = await client.listTools()
    expect(tools.length).toBeGreaterThan(8)
    for (const { description, annotations } of tools) {
      expect(description).toMatch(/^(Read-only|Saves|Builds)/)
      expect(annotations?.readOnlyHint).toBe(description!.startsWith('Read-only'))
      expect(annotations).toMatchObject({ destructiveHint: false, openWorldHint: false })
    }
  })

  it('requests recommendations, and gets changes with figures', async () => {
    const { call } = await sharedDesk()
    const session = 'recorded:gemm-fp32-h200-4096-deep'
    const next = (await call('next', { session, rung: '05_thread_tile_2d' })) as unknown as {
      summary: string
      limit: string
      steps: { id: string; change: string; msNow: number; msAfter: { low: number; high: number } }[]
    }
    expect(next.steps).toHaveLength(5)
    expect(next.summary).toContain(next.steps[0]!.change)
    for (const { msNow, msAfter } of next.steps) {
      expect(msAfter.low).toBeLessThan(msNow)
      expect(msAfter.low).toBeLessThanOrEqual(msAfter.high)
    }
    const wrong = await call('next', { session, rung: '06_flaot4' })
    expect(wrong.error?.message).toContain('06_flaot4')
  })

  it('reads long results in pages and inspects machine code', async () => {
    const { call } = await sharedDesk()
    const where = { session: 'recorded:gemm-fp32-h200-4096-deep', rung: '05_thread_tile_2d' }
    const first = await call('machine_code', { ...where, limit: 2 })
    expect(first).toMatchObject({ next: 2, entries: [{ offset: '0x0' }, { offset: '0x10' }] })
    const last = await call('machine_code', { ...where, from: Number(first['total']) - 1 })
    expect(last).toMatchObject({ next: null, entries: [{}] })
    const lines = await call('source', { ...where, by: 'sharedWavefrontsExcess', limit: 1 })
    expect(lines.summary).toMatch(/% of sharedWavefrontsExcess/)
    const [hot] = lines['entries'] as { at: string; sharedWavefronts: number }[]
    expect(hot!.sharedWavefronts).toBeGreaterThan(0)
    const sass = await call('machine_code', { ...where, line: hot!.at })
    expect(JSON.stringify(sass['entries'])).toMatch(/LDS|STS/)
  })

  it('finds sessions and recordings as resources, and compares two of them', async () => {
    const { client, call } = await sharedDesk()
    const { resources } = await client.listResources()
    const recorded = resources.find(({ name }) => name === 'recorded:gemm-fp32-h200-4096')!
    const [content] = (await client.readResource({ uri: recorded.uri })).contents
    const document = JSON.parse((content as { text: string }).text) as { rungs: unknown[] }
    expect(document.rungs).toHaveLength(16)
    const compared = await call('compare', {
      a: 'recorded:gemm-fp32-h200-4096',
      b: 'recorded:gemm-fp32-h200-4096',
    })
    expect(compared.summary).toMatch(/^Of the \d+ rungs in both sessions, /)
  })

  it('replays a recording, and gets progress messages', async () => {
    const { client } = await sharedDesk()
    const said: string[] = []
    // A progress callback would miss messages that arrive with the response, because the client
    // removes the callback at that point.
    client.setNotificationHandler('notifications/progress', ({ params }) => {
      said.push(params.message ?? '')
    })
    const given = { ladder: 'gemm-fp32', rungs: ['01_naive'] }
    const { structuredContent } = await client.callTool(
      { name: 'run', arguments: given },
      { onprogress: () => undefined },
    )
    expect(structuredContent).toMatchObject({ session: 'recorded:gemm-fp32-h200-4096', total: 1 })
    expect(said.join('\n')).toContain('01_naive: ')
  })
})

describe('an agent may not', () => {
  it.each([
    ['an absolute path', '/etc/passwd'],
    ['a path above', '../data/x.ncu-rep'],
    ['a link that leads out', 'link.ncu-rep'],
    ['a neighbor whose name begins the same', '../work-other/x.ncu-rep'],
  ])('reach %s', async (_what, file) => {
    const { folder, call } = await sharedDesk()
    await mkdir(`${folder}-other`, { recursive: true })
    await writeFile(`${folder}-other/x.ncu-rep`, 'NVR')
    if (file === 'link.ncu-rep') await symlink(`${folder}-other/x.ncu-rep`, join(folder, file))
    for (const [tool, given] of [
      ['import', { file }],
      ['lab_check', { lab: '01-coalescing', file, target: 'recorded' }],
      ['run', { ladder: `./${file}` }],
      ['session', { session: `./${file}` }],
    ] as const) {
      const { error } = await call(tool, given)
      if (file.startsWith('/') && tool !== 'import' && tool !== 'lab_check')
        expect(error?.kind).toBe('input')
      else
        expect(error).toMatchObject({ kind: 'input', message: expect.stringContaining('outside') })
    }
  })

  it('run code on a GPU, unless the user allowed it', async () => {
    const { call } = await sharedDesk()
    for (const [tool, given] of [
      ['run', { ladder: 'gemm-fp32', target: 'local' }],
      // `titan` is a machine that the user added. A run on its GPU also requires permission.
      ['run', { ladder: 'gemm-fp32', target: 'titan' }],
      ['lab_check', { lab: '01-coalescing', file: 'lab.cu', target: 'local' }],
    ] as const)
      expect((await call(tool, given)).error).toMatchObject({
        message: 'This server may not run code on a GPU.',
        remedy: expect.stringContaining('--allow-run'),
      })
    const allowed = await desk('--allow-run')
    const { error } = await allowed.call('run', { ladder: 'gemm-fp32', target: 'local' })
    // A missing GPU or compiler would be a different error.
    expect(error?.message ?? '').not.toContain('may not')
  })
})

describe('mistakes', () => {
  it('in a name are reported together with the closest name', async () => {
    const { call } = await sharedDesk()
    const named = async (tool: string, given: Record<string, unknown>) =>
      (await call(tool, given)).error?.remedy
    expect(await named('ladders', { ladder: 'gem-fp32' })).toBe('Did you mean gemm-fp32?')
    const session = 'recorded:gemm-fp32-h200-4096'
    expect(await named('why', { session, rung: '06_flaot4' })).toBe('Did you mean 06_float4?')
    expect(await named('session', { session: 'recorded:gemm-fp32-h200-4069' })).toBe(
      `Did you mean ${session}?`,
    )
    const nowhere = await call('emulate', { ladder: 'gemm-fp32', gpu: 'nope' })
    expect(nowhere.error).toMatchObject({ kind: 'input', message: expect.stringContaining('nope') })
    expect((await call('why', { session: 7 })).error?.message).toContain('session')
    expect((await call('why', { session, rung: '06_float4', extra: 1 })).error).toBeDefined()
  })

  it('in the protocol are rejected without stopping the server, even in a flood of requests', async () => {
    const { call, client } = await desk()
    const asked = Array.from({ length: 200 }, () => call('ladders', { limit: 1 }))
    const answers = await Promise.all(asked)
    const refusals = answers.filter(({ error }) => error !== undefined)
    expect(answers.length - refusals.length).toBeGreaterThan(0)
    for (const { error } of refusals) expect(error?.message).toContain('calls are waiting already')
    await expect(client.callTool({ name: 'nonsense', arguments: {} })).rejects.toThrow('nonsense')
    expect((await call('ladders')).summary).toContain('ladders')
  })

  it('such as invalid JSON do not stop the server, which exits with its client', async () => {
    const dir = await tempDir()
    const child = spawn(process.execPath, [program, 'mcp', dir], { env: envOf(dir) })
    const ended = new Promise<number | null>((done) => child.once('close', done))
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
    const hello = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'x', version: '1' },
      },
    }
    child.stdin.write(`nonsense\n{"a":\n[]\n\0\n${JSON.stringify(hello)}\n`)
    await expect.poll(() => said).toContain('"serverInfo"')
    // stdout must contain only protocol messages.
    for (const line of said.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('jsonrpc')
    child.stdin.end()
    expect(await ended).toBe(0)
  })

  it('in the folder arguments are reported before the server starts', async () => {
    const dir = await tempDir()
    const child = spawn(process.execPath, [program, 'mcp', join(dir, 'nowhere')], {
      env: envOf(dir),
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    expect(await new Promise((done) => child.once('close', done))).toBe(2)
    expect(said).toContain('There is no folder')
  })
})

describe('the conversations in docs/guides/agents.md', { tags: ['thorough'] }, () => {
  it.skipIf(!hasNvcc)(
    'find a top-ranked cause and a bank conflict in four calls each',
    async () => {
      const cache = join(root, '.cache', 'agents-doc')
      const { text, cause, conflict } = await agentsDoc(program, await tempDir(), cache)
      expect(cause.calls.length).toBeLessThanOrEqual(4)
      expect(cause.found).toMatch(/^01_gemmCoalesced: 373 µs.* 11\.9× The L1 data stage/)
      expect(conflict.calls.length).toBeLessThanOrEqual(4)
      const [, line, found] = /lab\.cu:(\d+) has 100 % of sharedWavefrontsExcess: (.+)$/.exec(
        conflict.found,
      )!
      const lab = await readFile(
        join(root, 'cuda-kernels/labs/07-bank-conflicts/starter.cu'),
        'utf8',
      )
      expect(lab.split('\n')[Number(line) - 1]).toContain(found)
      // The finding points to the store to the transposed tile.
      expect(found).toMatch(/\w+\[.+\] = /)
      const written = await readFile(join(root, 'docs/guides/agents.md'), 'utf8')
      expect(written, 'run `npm run readme -- agents`').toBe(text)
    },
  )
})

describe.skipIf(!hasNvcc)('emulated sessions', () => {
  it('list the counters that changed most', async () => {
    const dir = await tempDir()
    const kernelLadder = (...words: string[]): void => {
      const { status, stderr } = spawnSync(process.execPath, [program, ...words], {
        // nvcc takes most of the time of this test, so later test runs reuse its builds.
        env: { ...envOf(dir), KERNEL_LADDER_CACHE: join(root, '.cache/mcp-builds') },
        encoding: 'utf8',
      })
      expect(status, stderr).toBe(0)
    }
    const own = join(dir, 'own')
    kernelLadder('init', own)
    const run = ['run', '--ladder', own, '--target', 'emulated', '--size', '65536', '--trust']
    const [before, after] = ['before', 'after'].map((name) => join(dir, 'work', name))
    const { call } = await deskIn(dir)
    kernelLadder(...run, '--out', before!)
    const file = join(own, '01_first.cu')
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replaceAll('32', '16').replaceAll('+ 31', '+ 15'))
    kernelLadder(...run, '--out', after!)

    const compared = await call('compare', { a: before, b: after })
    expect(compared.summary).toMatch(
      /^Counters that changed most, in 01_first: .+ → .+\. Nothing was timed\.$/,
    )
    const { entries } = compared['pairs'] as { entries: { b: string; moved?: string[] }[] }
    expect(entries.find(({ b }) => b === '01_first')!.moved).toHaveLength(3)
    expect(entries.find(({ b }) => b === '02_coalesced')!.moved).toBeUndefined()
    const { entries: rungs } = await call('session', { session: before })
    expect(rungs).toMatchObject([
      { rung: '01_first', resources: { staticSharedBytes: 0, spillStoreBytes: 0 } },
      { rung: '02_coalesced' },
    ])
    expect(entries.find(({ b }) => b === '01_first')).toMatchObject({
      titleA: '32 neighbors per thread',
      titleB: '16 neighbors per thread',
    })
    const code = { session: before, rung: '01_first' }
    const { kernels } = (await call('machine_code', code)) as { kernels?: string[] }
    expect(kernels).toHaveLength(1)
    expect((await call('machine_code', { ...code, kernel: kernels![0] })).error).toBeUndefined()
    expect((await call('machine_code', { ...code, kernel: 'other' })).error).toMatchObject({
      message: '01_first has no kernel with "other" in its name.',
    })

    const why = await call('why', { session: before, rung: '02_coalesced' })
    expect(why.summary).toMatch(
      /^Counters that changed most: .*Sectors per global load 32\.0 sectors → 16\.0 sectors.*\. Neither rung was timed\. 02_coalesced: emulated, counted and not timed\.$/,
    )
    const alone = await call('why', { session: before, rung: '01_first' })
    expect(alone.summary).toBe('01_first: emulated, counted and not timed.')
    const { stdout } = spawnSync(
      process.execPath,
      [program, 'diff', before!, '01_first', '02_coalesced'],
      { env: envOf(dir), encoding: 'utf8' },
    )
    expect(stdout).toContain('\nWhy: Counters that changed most: ')
    expect(stdout).not.toMatch(/\? unknown|^Time /m)
  })
})

it('the server ends with an error message if a client sends a line that is too long', async () => {
  const { status, stdout, stderr } = runWithInput(await tempDir(), `{"x":"${'x'.repeat(11 << 20)}`)
  expect(status, stderr).toBe(2)
  expect(stdout).toBe('')
  expect(stderr).toContain('The client sent a line of more than 10 MiB.')
  expect(stderr.length).toBeLessThan(400)
})
