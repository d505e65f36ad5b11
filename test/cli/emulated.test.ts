import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { LabOutcome } from '../../src-main/domain/labs/outcome'
import type { SanitizeReport } from '../../src-main/domain/session/sanitizer'
import type { Session } from '../../src-main/domain/session/session'
import { inEnglish } from '../../src-main/domain/text/english'
import { runIn, type Finished } from '../hosts/cli/support'
import { keeping, keptNvcc } from '../kept-nvcc'
import { shippedKernels } from '../services/support'

const folder = await mkdtemp(join(tmpdir(), 'kl-emulated-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const env = {
  KERNEL_LADDER_CACHE: join(folder, 'cache'),
  KERNEL_LADDER_DATA: join(folder, 'data'),
}
const kept = await keptNvcc('emulated', { artifacts: true })
afterAll(() => {
  if (keeping) kept.save()
})

/** Runs a command with the stored nvcc builds for the given rungs. */
const run = async (...words: string[]): Promise<Finished> =>
  runIn({ env, machine: await kept.machine() }, ...words)

it("a rung runs on the emulated GPU, and the session has the rung's counts", async () => {
  const args = ['--ladder', 'gemm-fp32', '--rungs', '05_thread_tile_2d', '--size', '128']
  const ran = await run('run', ...args, '--target', 'emulated', '--json')
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.stderr).toMatch(/about 1 million warp instructions/)
  const { target, rungs } = JSON.parse(ran.stdout) as Session
  expect(target).toEqual({ kind: 'emulated', name: 'h200' })
  expect(rungs[0]).toMatchObject({ status: 'ok', timing: null, verify: { passed: true } })
  expect(rungs[0]!.metrics['sharedLoadBankConflicts']).toMatchObject({
    value: 8192,
    evidence: 'emulated',
  })
})

it('on the emulated GPU, only the solution passes a lab', { tags: ['thorough'] }, async () => {
  const outcomes: unknown[] = []
  // Run the commands one at a time, because the test captures the output of the whole process.
  for (const which of ['solution', 'starter']) {
    const file = new URL(`../../cuda-kernels/labs/03-waves/${which}.cu`, import.meta.url)
    const check = ['lab', 'check', '03-waves', '--file', file.pathname]
    const { code, stdout } = await run(...check, '--target', 'emulated', '--json')
    const { checks } = JSON.parse(stdout) as LabOutcome
    outcomes.push([code, Object.fromEntries(checks.map(({ id, status }) => [id, status]))])
  }
  const time = { resident: 'unavailable', fast: 'unavailable' }
  expect(outcomes).toEqual([
    [0, { right: 'passed', race: 'passed', waves: 'passed', ...time }],
    [1, { right: 'passed', race: 'passed', waves: 'failed', ...time }],
  ])
})

it('after an edit of a watched ladder, the changed counters are shown', async () => {
  const own = join(folder, 'watched')
  expect((await run('init', own)).code).toBe(0)
  const file = join(own, '01_first.cu')
  const asked = ['--rungs', '01_first', '--target', 'emulated', '--size', '65536', '--trust']
  const { sessions } = (await kept.machine()).folders
  const watching = run('run', '--ladder', own, '--watch', ...asked)
  const rounds = async (count: number): Promise<void> => {
    const names = await readdir(sessions).catch((): string[] => [])
    if (names.filter((name) => name.startsWith('watched-')).length >= count) return
    await setTimeout(50)
    return rounds(count)
  }
  await rounds(1)
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replaceAll('32', '16').replaceAll('+ 31', '+ 15'))
  await rounds(2)
  await setTimeout(500)
  process.emit('SIGINT')
  const { stdout } = await watching
  expect(stdout).toMatch(/^01_first: ok\.\n(?: {2}.*\n)* {2}Instructions: .* → .*, worse/m)
})

it('a run at a smaller size reports that size, and shows no limiter', async () => {
  const out = join(folder, 'smaller')
  const rungs = ['--ladder', 'gemm-fp32', '--rungs', '05_thread_tile_2d', '--target', 'emulated']
  const ran = await run('run', ...rungs, '--out', out)
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.stdout).toContain(
    'Emulated at m 512, n 512, k 512 instead of m 4096, n 4096, k 4096, so that the emulation takes only seconds.',
  )
  const { stdout } = await run('show', out, '--rung', '05_thread_tile_2d')
  expect(stdout).toContain('Limited by: unknown (emulated, so not timed)')
  expect(stdout).not.toMatch(/last wave|advice/)
})

it('the source line of a bank conflict is known without stall samples', async () => {
  const out = join(folder, 'conflicts')
  const rungs = ['--ladder', 'transpose', '--rungs', '03_square_tile', '--target', 'emulated']
  const size = ['--at', 'ROWS=128', '--at', 'COLS=96']
  const ran = await run('run', ...rungs, ...size, '--profile', 'deep', '--out', out)
  expect(ran.code, ran.stderr).toBe(0)
  const { stdout } = await run('show', out, '--rung', '03_square_tile')
  const [, line] =
    /^Source lines by shared-memory wavefronts beyond the ideal \(bank conflicts\):\n.*\n *100\.0 % .*03_square_tile\.cu:(\d+)/m.exec(
      stdout,
    )!
  const source = await readFile(join(shippedKernels, 'transpose/03_square_tile.cu'), 'utf8')
  expect(source.split('\n')[Number(line) - 1]).toMatch(/= tile\[/)
})

it('attention handles scores of -infinity like the reference', { tags: ['thorough'] }, async () => {
  // Run the rungs from a ladder folder, because its buffers can be filled from files.
  const ladder = join(folder, 'attention')
  await cp(join(shippedKernels, 'attention'), ladder, { recursive: true })
  for (const header of ['kl_common.cuh', 'kl_hopper.cuh'])
    await cp(join(shippedKernels, 'include', header), join(ladder, header))
  const { id: _, ...task } = parse(await readFile(join(ladder, 'task.yaml'), 'utf8'))
  const tokens = 200
  const head = 128
  for (const name of ['q', 'k', 'v']) {
    task.buffers[name].fill = { kind: 'file', path: `${name}.npy` }
    // Write BF16 values from -2 to 2. Every row of q scores -infinity for keys 100 and above. The
    // rungs process these keys first.
    const values = Uint16Array.from({ length: tokens * head }, (_, i) => {
      if (name !== 'v' && i % head === 0)
        return name === 'q' ? one : i < 100 * head ? 0 : minusInfinity
      return ((i * 7919) & 0x8000) | (0x3f00 + ((i * 104_729) % 0x100))
    })
    await writeFile(join(ladder, `${name}.npy`), npyOf(values, [1, tokens, head]))
  }
  const rungs = ['03_online_softmax', '04_mma_sync', '07_persistent'].map((id) => ({ id }))
  const about = { kernel_ladder: 1, id: 'edges', title: 'Edges', summary: 'Scores of -infinity.' }
  const at = [{ TOKENS: tokens, HEADS: 1, HEAD: head }]
  await writeFile(join(ladder, 'ladder.json'), JSON.stringify({ ...about, task, at, rungs }))
  const args = ['run', '--ladder', ladder, '--trust', '--target', 'emulated', '--json']
  const { code, stdout, stderr } = await run(...args)
  expect(code, stderr).toBe(0)
  for (const { id, status, verify } of (JSON.parse(stdout) as Session).rungs)
    expect({ id, status, verify }).toMatchObject({ status: 'ok', verify: { passed: true } })
})

/**
 * Loops for rungs in which one thread divides each row by its sum. The first loop does not check
 * the sum. The other loops divide only if the sum is finite.
 */
const quotients = {
  '01_plain': 'for (long long c = 0; c < n; ++c) y[c] = x[c] / sum;',
  '02_blind': 'for (long long c = 0; c < n; ++c) y[c] = isinf(sum) ? 0.f : x[c] / sum;',
  '03_lazy': 'if (isfinite(sum)) for (long long c = 0; c < n; ++c) y[c] = x[c] / sum;',
}
const quotient = (id: string, body: string): string => `// @rung    ${id}
// @title   ${id}
// @idea    a thread has a row
#include "kernel_ladder.h"

__global__ void divide(KlTask p) {
  if (threadIdx.x >= p.ROWS) return;
  const long long n = p.COLS;
  const float* x = p.x + threadIdx.x * n;
  float* y = p.y + threadIdx.x * n;
  float sum = 0;
  for (long long c = 0; c < n; ++c) sum += x[c];
  ${body}
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  divide<<<1, 32, 0, stream>>>(*p);
  return cudaGetLastError();
}
`
const quotientReference = `#include "kl_reference.h"
extern "C" void kl_reference(const KlReference* p) {
  for (long long row = 0; row < p->ROWS; ++row) {
    const float* x = p->x + row * p->COLS;
    double sum = 0;
    for (long long c = 0; c < p->COLS; ++c) sum += x[c];
    for (long long c = 0; c < p->COLS; ++c) p->y[row * p->COLS + c] = x[c] / sum;
  }
}
`

it(
  'infinities and NaN in the inputs, if requested, reveal rungs that do not propagate them',
  { tags: ['thorough'] },
  async () => {
    const ladder = join(folder, 'quotients')
    await mkdir(ladder)
    const x = { dtype: 'f32', shape: ['ROWS', 'COLS'], access: 'in' }
    const document = {
      ...{
        kernel_ladder: 1,
        id: 'quotients',
        title: 'Quotients',
        summary: 'Rows over their sums.',
      },
      task: {
        sizes: { ROWS: 8, COLS: 5 },
        scalars: { special: { dtype: 'i32', value: 0, inputs: true } },
        buffers: {
          x: { ...x, fill: { kind: 'uniform', lo: 1, hi: 2, special: 'special' } },
          y: { ...x, access: 'out' },
        },
        reference: 'reference.cu',
        check: { y: { rtol: 1e-5, atol: 0 } },
        work: { reads: '4*ROWS*COLS', writes: '4*ROWS*COLS' },
      },
      at: [{ ROWS: 8, COLS: 5 }],
      rungs: Object.keys(quotients).map((id) => ({ id })),
    }
    await writeFile(join(ladder, 'ladder.json'), JSON.stringify(document))
    await writeFile(join(ladder, 'reference.cu'), quotientReference)
    for (const [id, body] of Object.entries(quotients))
      await writeFile(join(ladder, `${id}.cu`), quotient(id, body))
    const results = async (...words: string[]) => {
      const asked = ['--trust', '--target', 'emulated', '--json', ...words]
      const { stdout, stderr } = await run('run', '--ladder', ladder, ...asked)
      expect(stdout, stderr).not.toBe('')
      const { rungs } = JSON.parse(stdout) as Session
      return rungs.map(({ status, verify }) => [status, verify!.firstMismatch])
    }
    const right = ['ok', null]
    expect(await results()).toEqual([right, right, right])
    const all = await results('--at', 'special=2')
    // The first mismatch is in a row that contains only -infinity, because -infinity / -infinity is
    // NaN.
    expect(all).toEqual([
      right,
      ['wrong', { buffer: 'y', index: [1, 0], expected: null, actual: 0 }],
      ['wrong', { buffer: 'y', index: [1, 0], expected: null, actual: expect.any(Number) }],
    ])
  },
)

it(
  'a block that reads the shared memory of another block in its cluster is stopped without a result',
  { tags: ['thorough'] },
  async () => {
    const rung = ['--rungs', '06_cluster', '--at', 'ROWS=2', '--at', 'COLS=64']
    const target = ['--target', 'emulated', '--json']
    const { code, stdout } = await run('run', '--ladder', 'softmax', ...rung, ...target)
    expect(code).toBe(1)
    const { status, reason } = (JSON.parse(stdout) as Session).rungs[0]!
    expect(status).toBe('failed')
    expect(inEnglish(reason!)).toContain('shared memory of another block')
  },
)

it.each([
  ['run', 'reduction', 'N=3000000000', '01_interleaved_divergent needs 11.2 GiB'],
  ['run', 'softmax', 'ROWS=2000000,COLS=8192', '01_thread_per_row needs 122.1 GiB'],
  // The size that the request omits is reduced, as in a run without sizes.
  ['run', 'softmax', 'ROWS=2000000', '01_thread_per_row needs 30.5 GiB'],
  ['sanitize', 'scan', 'N=4294967296', '01_hillis_steele needs 32.0 GiB'],
])(
  '%s of %s that exceeds the emulated GPU’s memory is rejected before anything is built',
  async (command, ladder, at, said) => {
    const rungs = said.slice(0, said.indexOf(' '))
    const sizes = at.split(',').flatMap((size) => ['--at', size])
    const asked = ['--ladder', ladder, ...sizes, '--rungs', rungs, '--target', 'emulated']
    const { code, stderr } = await run(command, ...asked)
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`${said} of GPU memory; the emulator has 4 GiB.`),
    ])
  },
)

/** The value 1 in BF16. */
const one = 0x3f80
const minusInfinity = 0xff80

/** Returns a numpy file, version 1.0. */
function npyOf(values: Uint16Array, shape: readonly number[]): Uint8Array {
  const about = `{'descr': '<u2', 'fortran_order': False, 'shape': (${shape.join(', ')}), }`
  const header = `${about.padEnd(128 - 10 - 1)}\n`
  const magic = [0x93, ...Buffer.from('NUMPY'), 1, 0, header.length, 0]
  return Buffer.concat([Buffer.from(magic), Buffer.from(header), Buffer.from(values.buffer)])
}

const prints = `// @rung    03_prints
// @title   Prints
// @idea    the factor lies in constant memory, and one thread says so
#include "kernel_ladder.h"
#include <cstdio>

__constant__ float factors[2];
__device__ int twice;

__global__ void scale(const float* x, float* y, long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i == 261) printf("%lld by %.2f and %d\\n", i, factors[1], twice);
  y[i] = factors[1] * x[i] * (twice / 2);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const int two = 2;
  if (cudaMemcpyToSymbolAsync(twice, &two, sizeof two, 0, cudaMemcpyHostToDevice, stream) != cudaSuccess ||
      cudaMemcpyToSymbol(factors, &p->a, sizeof(float), sizeof(float)) != cudaSuccess)
    return cudaGetLastError();
  scale<<<unsigned((p->N + 255) / 256), 256, 0, stream>>>(p->x, p->y, p->N);
  return cudaGetLastError();
}
`

it('a rung can print, and reads the values copied to its device variables', async () => {
  const ladder = join(folder, 'ladder')
  await cp(new URL('../../resources/templates/blank', import.meta.url), ladder, { recursive: true })
  await writeFile(join(ladder, '03_prints.cu'), prints)
  await appendFile(join(ladder, 'ladder.yaml'), '  - id: 03_prints\n')
  const args = ['run', '--ladder', ladder, '--trust', '--rungs', '03_prints', '--at', 'N=1000']
  const { code, stderr } = await run(...args, '--target', 'emulated')
  expect(code, stderr).toBe(0)
  const said = '03_prints, thread (5, 0, 0) of block (1, 0, 0): 261 by 2.50 and 2'
  expect(stderr).toContain(said)

  const checks = ['sanitize', ...args.slice(1), '--target', 'emulated']
  const checked = await run(...checks)
  expect(checked.code, checked.stderr).toBe(0)
  expect(checked.stdout).toContain(`printed:\n  ${said}`)
  const { rungs } = JSON.parse((await run(...checks, '--json')).stdout) as SanitizeReport
  expect(rungs[0]!.printed).toHaveLength(1)
})

/**
 * Returns a rung's source. In the source, the kernel executes `each` for each element, and `launch`
 * launches the kernel.
 */
const faulty = (id: string, each: string, launch: string): string => `// @rung    ${id}
// @title   Faulty
// @idea    a GPU refuses it, or the emulator does
#include "kernel_ladder.h"

__global__ void scale(const float* x, float* y, long long n, float a, cudaTextureObject_t texture) {
  extern __shared__ float shared[];
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ${each};
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  float* own = p->y;
  ${launch};
  return cudaGetLastError();
}
`

it('a rung that cannot run is reported with the reason and a remedy', async () => {
  const ladder = join(folder, 'faulty')
  await cp(new URL('../../resources/templates/blank', import.meta.url), ladder, { recursive: true })
  const scaled = 'y[i] = shared[threadIdx.x] = a * x[i]'
  const launch = (bytes: number): string =>
    `scale<<<8, 128, ${bytes}, stream>>>(p->x, own, p->N, p->a, 0)`
  const rungs = [
    [
      '03_managed',
      scaled,
      `cudaMallocManaged(&own, 4 * p->N); ${launch(512)}`,
      /managed memory, which the host writes to/,
    ],
    [
      '04_nodes',
      scaled,
      `cudaGraph_t graph; cudaGraphCreate(&graph, 0); ${launch(512)}`,
      /cudaGraphCreate.*--target local/,
    ],
    ['05_not_allowed', scaled, launch(64 * 1024), /may have 49152 until cudaFuncSetAttribute/],
    [
      '06_textures',
      'y[i] = tex1Dfetch<float>(texture, i)',
      launch(0),
      /stopped at \/\*0[0-9a-f]{3}\*\/ TLD \(.*06_textures\.cu:9\)/,
    ],
  ] as const
  for (const [id, each, launched] of rungs) {
    await writeFile(join(ladder, `${id}.cu`), faulty(id, each, launched))
    await appendFile(join(ladder, 'ladder.yaml'), `  - id: ${id}\n`)
  }
  const ids = rungs.map(([id]) => id).join()
  const args = ['run', '--ladder', ladder, '--trust', '--rungs', ids, '--at', 'N=1000']
  const { code, stdout, stderr } = await run(...args, '--target', 'emulated')
  expect(code, stderr).toBe(1)
  for (const [id, , , reason] of rungs) {
    const line = stdout.split('\n').find((one) => one.startsWith(`${id}: `)) ?? ''
    expect(line).toMatch(reason)
  }
})

it('the output of nvcc is stored for every rung in this file', () => {
  if (!keeping) expect(kept.stale, 'keep it anew with KERNEL_LADDER_KEEP=1').toEqual([])
})
