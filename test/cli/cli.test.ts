import { copyFile, cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readRaw } from '../../src-main/adapters/tools/raw-files'
import { cardMetricIds } from '../../src-main/domain/metrics/metrics'
import type { RungResult } from '../../src-main/domain/session/session'
import { isAlive, ladderRungs, tempDir } from '../services/support'
import { shortLived } from '../../scripts/lib/project.mjs'
import { bundle, fakeTools, run, runBundle, start } from './support'
import { gemmProblem } from '../support'

const kernels = join(import.meta.dirname, '../../cuda-kernels')
const recorded = ['run', '--ladder', 'gemm-fp32', '--target', 'recorded']

interface RunDocument {
  schema: number
  session: string | null
  target: { kind: string; name: string }
  device: { name: string; computeCapability: string; smCount: number } | null
  problem: Record<string, unknown>
  ladder: string
  completion: string
  rungs: RungResult[]
}

const document = (stdout: string): RunDocument => JSON.parse(stdout) as RunDocument

/** Runs a test with a copy of the kernels in which one file is changed. */
async function withKernels(
  edit: (gemm: string) => Promise<void>,
): Promise<{ kernelsDir: string; dir: string }> {
  const dir = await tempDir()
  const kernelsDir = join(dir, 'cuda-kernels')
  await cp(kernels, kernelsDir, { recursive: true })
  await edit(join(kernelsDir, 'gemm'))
  return { kernelsDir, dir }
}

const small = ['run', '--ladder', 'gemm-fp32', '--size', '1024']

describe('the one-file program', () => {
  it('is at most 9 MB', async () => {
    expect((await stat(bundle)).size).toBeLessThanOrEqual(9e6)
  })
})

describe('run --target recorded --json', () => {
  it('prints one JSON document with every rung and its card metrics, and exits with 0', async () => {
    const { code, stdout, stderr } = await runBundle([...recorded, '--json'])
    expect(code).toBe(0)
    const { target, device, problem, ladder, rungs, completion } = document(stdout)
    expect(target).toEqual({ kind: 'recorded', name: 'gemm-fp32-h200-4096' })
    expect(device).toMatchObject({ name: 'NVIDIA H200', computeCapability: '9.0', smCount: 132 })
    expect(problem).toEqual(gemmProblem(4096))
    expect([ladder, completion]).toEqual(['gemm-fp32', 'complete'])
    expect(rungs.map(({ id, status }) => [id, status])).toEqual(ladderRungs.map((id) => [id, 'ok']))
    for (const rung of rungs) {
      for (const id of cardMetricIds) expect(Number.isFinite(rung.metrics[id]?.value)).toBe(true)
      expect(rung.build).toMatchObject({
        seconds: expect.any(Number) as number,
        cached: expect.any(Boolean) as boolean,
      })
      expect(rung.verify).toMatchObject({ passed: true })
      expect(rung.timing).toMatchObject({ medianMs: expect.any(Number) as number })
      expect(rung.profile).toMatchObject({ passes: 7 })
    }
    expect(stderr).toMatch(/^Replaying recorded:gemm-fp32-h200-4096…\n/)
  })
})

it('run --ladder seed-rtx3090 shows our stride study next to the author’s study', async () => {
  const { code, stdout } = await run(['run', '--ladder', 'seed-rtx3090', '--target', 'recorded'])
  expect(code).toBe(0)
  const study = stdout.slice(stdout.indexOf('ours | published'))
  expect(study).toMatch(/^ours \| published +throughput +threads\/block +Waves per SM/)
  for (const stride of [1, 2, 4, 8, 16])
    expect(study).toMatch(
      new RegExp(`39_stride_${stride} .*TFLOP/s .* ${256 / stride} \\| ${256 / stride} .*%`),
    )
})

it("show prints a step's starting rung unless that rung is in the previous row", async () => {
  const { stdout } = await run(['show', 'recorded:gemm-fp32-h200-4096'])
  expect(stdout).toMatch(/^09_register_prefetch .* 1\.20× from 08_warp_tile /m)
})

describe('the program exits with 2 and prints an error only on stderr', () => {
  it.each([
    [['frobnicate'], /unknown command 'frobnicate'/],
    [['run'], /--ladder/],
    [['run', '--ladder', 'nope'], /no ladder named "nope".*The ladders are: gemm-fp32/s],
    [['run', '--ladder', '../../etc/passwd'], /There is no folder .*passwd/],
    [['run', '--ladder', 'gemm-fp32', '--frob'], /unknown option '--frob'/],
    [['run', '--ladder', 'gemm-fp32', '--rungs', 'nope'], /no rung named "nope".*01_naive/s],
    [['run', '--ladder', 'gemm-fp32', '--rungs', ','], /--rungs is empty/],
    [['run', '--ladder', 'gemm-fp32', '--param', 'NOPE=1'], /no parameter named "NOPE"/],
    [['run', '--ladder', 'gemm-fp32', '--param', 'TILE'], /NAME=value/],
    [['run', '--ladder', 'gemm-fp32', '--param', 'TM=4', '--param', 'TM=8'], /TM is given twice/],
    [['help', 'lab', 'chek'], /no command "lab chek".*check/s],
    [['run', '--ladder', 'gemm-fp32', '--param', 'TILE=9'], /TILE=9 is not allowed.*16, 32/s],
    [['run', '--ladder', 'gemm-fp32', '--target', 'mars'], /There is no machine named mars/],
    [['run', '--ladder', 'gemm-fp32', '--profile', 'lots'], /not a profiling level.*card/s],
    [['run', '--ladder', 'gemm-fp32', '--size', '0'], /--size "0"/],
    [['run', '--ladder', 'gemm-fp32', '--size', '-5'], /--size "-5"/],
    [['run', '--ladder', 'gemm-fp32', '--size', '1e3'], /--size "1e3"/],
    [['run', '--ladder', 'gemm-fp32', '--size', 'big'], /--size "big"/],
    [['run', '--ladder', 'gemm-fp32', '--size', '99999999999'], /--size "99999999999"/],
    [['run', '--ladder', 'gemm-fp32', '--m', '2.5'], /--m "2\.5" must be a whole number/],
    [['run', '--ladder', 'gemm-fp32', '--alpha', 'much'], /--alpha "much" is not a number/],
    [['run', '--ladder', 'gemm-fp32', '--dtype', 'f64'], /dtype = f64 .*f32, f16, bf16/s],
    [
      ['run', '--ladder', 'gemm-fp32', '--at', 'rows=5'],
      /no size, scalar or option "rows".*m, n, k, alpha, beta, dtype/s,
    ],
    [['run', '--ladder', 'gemm-fp32', '--at', 'm'], /NAME=VALUE/],
    [['run', '--ladder', 'gemm-fp32', '--m', '5', '--at', 'm=5'], /m was given twice/],
    [[...recorded, '--at', 'beta=0.5'], /was recorded with beta = 0, not 0\.5/],
    [['run', '--ladder', 'gemm-fp32', '--size', '5', '--m', '5'], /cannot be combined with/],
    [[...recorded, '--size', '77'], /was not recorded at 77³/],
    [[...recorded, '--out', '/'], /already exists/],
    [['show', '/nope'], /is not a session/],
    [
      ['show', '/nope.ncu-rep'],
      /is not a session.*\n.*Import the report with `kernel-ladder import`/,
    ],
    [['show', 'recorded:nope'], /no recording named "nope"/],
    [['diff', 'recorded', '01_naive', 'nope'], /no rung named "nope"/],
    [['serve', '--port', '70000'], /--port "70000"/],
    [['serve', '--session', '/nope'], /is not a session/],
  ])('for the invalid arguments %j', async (args, message) => {
    const { code, stdout, stderr } = await run([...args])
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect(stdout).toBe('')
  })

  it('for a damaged session file, without changing the file', async () => {
    const dir = await tempDir()
    await writeFile(join(dir, 'session.json'), '{"schema": 1, "rungs": [')
    const { code, stderr } = await run(['show', dir])
    expect(code).toBe(2)
    expect(stderr).toMatch(/session\.json cannot be read.*was not changed/s)
    expect(await readFile(join(dir, 'session.json'), 'utf8')).toBe('{"schema": 1, "rungs": [')
  })

  it("for a problem larger than the GPU's memory", async () => {
    const env = { ...fakeTools(await tempDir()), FAKE_RUNNER: 'out-of-memory' }
    const { code, stderr } = await run(small, env)
    expect(code).toBe(2)
    expect(stderr).toMatch(/needs 900 GiB.*smaller size/s)
  })

  it('for a rung with a missing key in its header', async () => {
    const { kernelsDir, dir } = await withKernels(async (gemm) => {
      const path = join(gemm, '02_coalesced.cu')
      await writeFile(path, (await readFile(path, 'utf8')).replace(/^\/\/ @idea.*\n/m, ''))
    })
    const { code, stderr } = await run(small, fakeTools(dir), kernelsDir)
    expect(code).toBe(2)
    expect(stderr).toMatch(/02_coalesced\.cu.*@idea/)
  })
})

describe('a command exits with 3 and prints a remedy', () => {
  it.each([
    ['nvcc', /nvcc was not found.*CUDA toolkit/s],
    [
      'nvidia-smi',
      /No NVIDIA GPU was found.*--target emulated.*no times\.\n.*--target recorded.*\n.*--target static:h200/s,
    ],
  ])('without %s', async (tool, message) => {
    const dir = await tempDir()
    const env = fakeTools(dir)
    const bin = join(dir, 'bin')
    await mkdir(bin)
    for (const name of ['nvcc', 'ncu', 'nvidia-smi'].filter((other) => other !== tool))
      await writeFile(join(bin, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const { code, stdout, stderr } = await run(small, { ...env, PATH: bin })
    expect(code).toBe(3)
    expect(stderr).toMatch(message)
    expect(stdout).toBe('')
  })

  it('with a GPU that CUDA cannot use', async () => {
    const env = { ...fakeTools(await tempDir()), FAKE_RUNNER: 'no-device' }
    const { code, stderr } = await run(small, env)
    expect(code).toBe(3)
    expect(stderr).toMatch(/no usable GPU: no CUDA-capable device/)
  })

  it('without permission to read counters, after saving and printing the times', async () => {
    const dir = await tempDir()
    const { code, stdout, stderr } = await run([...small, '--json'], {
      ...fakeTools(dir),
      FAKE_NCU: 'counter-permission',
    })
    expect(code).toBe(3)
    expect(stderr).toMatch(/ERR_NVGPUCTRPERM/)
    const { rungs, session } = document(stdout)
    expect(rungs.every(({ status, timing }) => status === 'ok' && timing !== null)).toBe(true)
    expect(existsSync(join(session!, 'session.json'))).toBe(true)
  })

  it('for each missing item in the output of doctor, as text and as JSON', async () => {
    const env = { PATH: '/nonexistent' }
    const text = await run(['doctor'], env)
    expect(text.code).toBe(3)
    expect(text.stdout).toMatch(/✗ CUDA compiler: nvcc was not found/)
    const json = await run(['doctor', '--json'], env)
    const report = JSON.parse(json.stdout) as {
      checks: { id: string; status: string; remedy?: string }[]
      canRun: boolean
    }
    expect(report.canRun).toBe(false)
    for (const { id, status, remedy } of report.checks)
      if (status === 'missing') expect(remedy, id).toBeTruthy()
  })
})

describe('a live run', () => {
  it('saves a session that show and diff can read, and exits with 0', async () => {
    const dir = await tempDir()
    const out = join(dir, 'my session')
    const env = fakeTools(dir)
    const { code, stdout } = await run([...small, '--json', '--out', out], env)
    expect(code).toBe(0)
    expect(document(stdout)).toMatchObject({
      session: out,
      target: { kind: 'live', name: 'local' },
    })

    const shown = await run(['show', out], env)
    expect(shown.code).toBe(0)
    expect(shown.stdout).toContain('06_float4')

    const diff = await run(['diff', out, '02_coalesced', '03_shared_tile', '--json'], env)
    const { source, metrics, time } = JSON.parse(diff.stdout) as {
      source: { hunks: { lines: string[] }[] }
      metrics: { id: string; verdict: string }[]
      time: { verdict: string; speedup: number }
    }
    expect(source.hunks.flatMap(({ lines }) => lines).join('\n')).toMatch(
      /^\+.*__shared__ float aTile/m,
    )
    expect(metrics.find(({ id }) => id === 'sharedLoads')?.verdict).toBe('worse')
    expect(time).toMatchObject({ verdict: 'better', speedup: expect.any(Number) as number })
  })

  it.each([
    ['compile-error', run],
    ['wrong', run],
    // The timeout limits the time without output. The timeout is short only for `hang`, because a
    // busy machine may start programs slowly.
    ['hang', run],
    ['crash', run],
    ['flood', runBundle],
  ])(
    'exits with 1 after saving the other rungs if a rung has the fault %s',
    async (what, command) => {
      const rungs = ['02_coalesced', '03_shared_tile', '04_thread_tile_1d']
      const seconds = what === 'hang' ? '1' : '600'
      const { code, stdout } = await command(
        [...small, '--json', '--timeout', seconds, '--rungs', rungs.join(',')],
        { ...fakeTools(await tempDir()), FAKE_FAULTS: `03_shared_tile=${what}` },
      )
      expect(code).toBe(1)
      const { rungs: results, session } = document(stdout)
      const bad = results.find(({ id }) => id === '03_shared_tile')
      expect(bad?.status).toBe(what === 'wrong' ? 'wrong' : 'failed')
      expect(bad?.reason).toBeTruthy()
      expect(results.filter(({ status }) => status === 'ok')).toHaveLength(2)
      expect(existsSync(join(session!, 'session.json'))).toBe(true)
    },
  )

  it('stops its process tree, saves and prints finished results, and exits with 1 after an interrupt', async () => {
    const dir = await tempDir()
    const log = join(dir, 'calls')
    const running = start([...small, '--json', '--timeout', '600'], {
      ...fakeTools(dir),
      FAKE_LOG: log,
      FAKE_FAULTS: '04_thread_tile_1d=spawn',
    })
    const child = async () => /\["child","(\d+)"\]/.exec(await readFile(log, 'utf8'))?.[1]
    await running.says(`verify 5/${ladderRungs.length} 04_thread_tile_1d`)
    await expect.poll(child, { timeout: 60_000 }).toBeDefined()
    running.signal('SIGINT')
    const { code, stdout } = await running.finished
    expect(code).toBe(1)
    const { completion, rungs, session } = document(stdout)
    expect(completion).toBe('cancelled')
    expect(rungs.filter(({ status }) => status === 'ok')).toHaveLength(4)
    const { stderr } = (await readRaw(session!, 'runner/measure-1'))!
    expect(/child (\d+)/.exec(stderr)?.[1]).toBe(await child())
    await expect.poll(async () => isAlive(Number(await child())), { timeout: 60_000 }).toBe(false)
  })
})

describe('ladders --json', () => {
  it("has each rung's idea, prediction, and options, and the ladder’s note", async () => {
    const { ladders } = JSON.parse((await run(['ladders', '--json'])).stdout) as {
      ladders: { id: string; rungs: Record<string, unknown>[] }[]
    }
    const rungOf = (ladder: string, id: string) =>
      ladders.find((own) => own.id === ladder)!.rungs.find((own) => own['id'] === id)
    expect(rungOf('gemm-fp32', '12_rasterized')).toMatchObject({
      idea: expect.stringContaining('L2') as string,
      expect: expect.arrayContaining([{ metric: 'sharedLoads', direction: 'same' }]) as unknown,
      options: { dtype: 'f32' },
      takes: { dtype: ['f32'] },
      note: expect.stringContaining('H200') as string,
    })
    expect(rungOf('seed-rtx3060', '51_wmma_naive')).toMatchObject({
      options: { dtype: 'f16' },
      takes: { dtype: ['f16', 'bf16'] },
    })
  })

  it("has each rung's recorded measurements, which show prints for other sessions", async () => {
    const { ladders } = JSON.parse((await run(['ladders', '--json'])).stdout) as {
      ladders: { rungs: { id: string; measured: { recording: string; medianMs: number } }[] }[]
    }
    const { measured } = ladders[0]!.rungs.find(({ id }) => id === '03_shared_tile')!
    expect(measured.recording).toBe('gemm-fp32-h200-4096')
    const time = `${measured.medianMs.toPrecision(3)} ms`
    expect((await run(['ladders'])).stdout).toMatch(
      new RegExp(`03_shared_tile .*${time}, 0\\.\\d+× of 00_cublas`),
    )
    const other = await run(['show', 'recorded:gemm-fp32-h200-1024', '--rung', '03_shared_tile'])
    expect(other.stdout).toContain(
      'Recorded: NVIDIA H200 at 4096³ f32 after 02_coalesced (gemm-fp32-h200-4096, L2 cold): time ',
    )
    const own = await run(['show', 'recorded:gemm-fp32-h200-4096', '--rung', '03_shared_tile'])
    expect(own.stdout).not.toContain('Recorded: ')
  })
})

it('help describes the arguments of a subcommand', async () => {
  const { code, stdout } = await run(['help', 'lab', 'check'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Usage: kernel-ladder lab check /)
})

describe('the one-file program', () => {
  it.each([
    [0, ['help', 'run'], 'stdout', /^Usage: kernel-ladder run /],
    [2, ['run', '--ladder', 'nope'], 'stderr', /^error: There is no ladder/],
    [3, ['doctor'], 'stdout', /CUDA compiler: nvcc was not found/],
  ] as const)('exits with %i after %j, and prints to %s', async (exit, args, stream, words) => {
    const ended = await runBundle(args, { PATH: '/nonexistent' })
    expect(ended.code).toBe(exit)
    expect(ended[stream]).toMatch(words)
    expect(ended[stream === 'stdout' ? 'stderr' : 'stdout']).toBe('')
  })

  it('contains kernels, recordings, and the UI, even if copied to an empty folder', async () => {
    const dir = await tempDir()
    const file = join(dir, 'kernel-ladder.mjs')
    await copyFile(bundle, file)
    const env = { KERNEL_LADDER_CACHE: join(dir, 'cache'), KERNEL_LADDER_DATA: dir }
    expect((await runBundle(recorded, env, file)).code).toBe(0)
    const lab = join(dir, 'softmax-lab')
    expect((await runBundle(['init', lab, '--template', 'softmax'], env, file)).code).toBe(0)
    const made = await runBundle(['ladders', lab], env, file)
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^softmax-lab: /) })
    const [unpacked] = await readdir(join(dir, 'cache', 'assets'))
    expect(existsSync(join(dir, 'cache', 'assets', unpacked!, 'out/renderer/index.html'))).toBe(
      true,
    )
  })
})

describe('serve', () => {
  const get = (
    url: string,
    cookie?: string,
  ): Promise<{ status: number; cookie: string; body: string }> =>
    new Promise((done, failed) => {
      request(url, { headers: cookie === undefined ? {} : { cookie } }, (answer) => {
        let body = ''
        answer.setEncoding('utf8').on('data', (text: string) => (body += text))
        answer.on('end', () => {
          const [set] = answer.headers['set-cookie'] ?? []
          done({ status: answer.statusCode ?? 0, cookie: set?.split(';')[0] ?? '', body })
        })
      })
        .on('error', failed)
        .end()
    })

  it('prints a one-time link to the UI, keeps its port, and shuts down cleanly on request', async () => {
    const running = start(['serve', '--port', '0'])
    await running.says('Press Ctrl+C')
    const [, url] = /(http:\S+)/.exec(await running.says('Kernel Ladder is at http')) ?? []
    const first = await get(url!)
    const page = await get(new URL('/', url).href, first.cookie)
    const again = await get(url!)
    expect([first.status, page.status, again.status]).toEqual([303, 200, 403])
    expect(page.body).toContain('<div id="app"')
    const { port } = new URL(url!)
    const second = await run(['serve', '--port', port])
    expect(second.code).toBe(2)
    expect(second.stderr).toContain(port)
    running.signal('SIGTERM')
    expect((await running.finished).code).toBe(0)
  })

  it("ends with the ssh connection that started it, because the connection's pipe is its stdin", async () => {
    const child = spawn(process.execPath, [...shortLived, bundle, 'serve'], {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const ended = new Promise<number | null>((done) => child.on('close', done))
    let said = ''
    const ready = new Promise<void>((done) =>
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text
        if (said.includes('Press Ctrl+C')) done()
      }),
    )
    await ready
    child.stdin.end()
    expect(await ended).toBe(0)
    expect(said).toContain('The connection that started this server was closed.')
  })
})
