/**
 * Tests rungs that are PTX, machine code or a shared library, built with nvcc during the test. The
 * rungs run on the emulated GPU and are built for a real GPU.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '../../../src-main/adapters/disk/build-cache'
import { findTool } from '../../../src-main/adapters/tools/live-toolbox'
import type { Session } from '../../../src-main/domain/session/session'
import { inEnglish } from '../../../src-main/domain/text/english'
import { runIn } from '../../hosts/cli/support'
import { root } from '../support'

const folder = await mkdtemp(join(tmpdir(), 'kl-compiled-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const env = {
  KERNEL_LADDER_CACHE: join(folder, 'cache'),
  KERNEL_LADDER_DATA: join(folder, 'data'),
}
const nvcc = await findTool('nvcc')

const head = `kernel_ladder: 1
id: scaled
title: Scaled
summary: y is f times x.
task:
  sizes: { N: 1000 }
  scalars: { f: { dtype: f32, value: 3 } }
  buffers:
    x: { dtype: f32, shape: [N], access: in, fill: { kind: uniform, lo: 1, hi: 2 } }
    y: { dtype: f32, shape: [N], access: out }
  reference: reference.cu
  check: { y: { rtol: "1e-6", atol: 0 } }
  work: { reads: 4*N, writes: 4*N }
test_at: [{ N: 1 }, { N: 777, f: 0.5 }]
rungs:
`
const reference = `#include "kl_reference.h"
extern "C" void kl_reference(const KlReference* p) {
  for (long long i = 0; i < p->N; ++i) p->y[i] = double(p->f) * p->x[i];
}
`
const kernels = `struct Task { long long N; float f; const float* x; float* y; void* workspace; unsigned long long workspaceBytes; };
extern "C" __global__ void scale(const float* x, float* y, int n, float f) {
  extern __shared__ float factor[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  factor[threadIdx.x] = f;
  __syncthreads();
  if (i < n) y[i] = x[i] * factor[threadIdx.x ^ 1];
}
extern "C" __global__ void scaleTask(Task p, double* sums) {
  const long long i = blockIdx.x * 128LL + threadIdx.x;
  if (i >= p.N) return;
  sums[i] = p.f;
  p.y[i] = p.x[i] * float(sums[i]);
}
`
const library = `#include <cuda_runtime.h>
struct Task { long long N; float f; const float* x; float* y; };
static __global__ void scale(const float* x, float* y, long long n, float f) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) y[i] = x[i] * f;
}
extern "C" cudaError_t kl_launch(const Task* p, cudaStream_t stream) {
  scale<<<unsigned((p->N + 255) / 256), 256, 0, stream>>>(p->x, p->y, p->N, p->f);
  return cudaGetLastError();
}
`
const launch = 'kernel: scale, grid: [ceil(N / 64)], block: [64], shared: 64 * 4'
const entry = (file: string, rest = `launch: { ${launch}, arguments: [x, y, N, f] }`): string =>
  `  - { id: ${file.split('.')[0]!}, idea: It was compiled elsewhere.${rest && `, ${rest}`} }\n`

describe.skipIf(nvcc === null)('a rung that was compiled elsewhere', () => {
  const made = join(folder, 'made')
  let version: string
  /**
   * Builds one file for an architecture. Later test runs copy the file, because nvcc takes most of
   * the time of these tests.
   */
  const make = async (source: string, name: string, ...flags: string[]): Promise<void> => {
    const inputs = [version, await readFile(join(made, source), 'utf8'), name, flags]
    const kept = join(root, '.cache/compiled-rungs', `${sha256(JSON.stringify(inputs))}-${name}`)
    if (!existsSync(kept)) {
      await promisify(execFile)(nvcc!, [...flags, join(made, source), '-o', join(made, name)])
      await mkdir(dirname(kept), { recursive: true })
      await copyFile(join(made, name), `${kept}.pending`)
      await rename(`${kept}.pending`, kept)
    }
    await copyFile(kept, join(made, name))
  }
  beforeAll(async () => {
    await mkdir(made)
    version = (await promisify(execFile)(nvcc!, ['--version'])).stdout
    await writeFile(join(made, 'kernels.cu'), kernels)
    await writeFile(join(made, 'library.cu'), library)
    await make('kernels.cu', 'good.cubin', '-arch=sm_90', '-cubin')
    await make('kernels.cu', 'old.cubin', '-arch=sm_80', '-cubin')
    await make('kernels.cu', 'good.ptx', '-arch=sm_90a', '-ptx')
    const shared = ['-shared', '-Xcompiler', '-fPIC']
    await make('library.cu', 'good.so', ...shared, '-arch=sm_90', '-cudart', 'none')
    await make('library.cu', 'old.so', ...shared, '-arch=sm_80', '-cudart', 'none')
    await make('library.cu', 'own.so', ...shared, '-arch=sm_90')
    const cubin = await readFile(join(made, 'good.cubin'))
    await writeFile(join(made, 'cut.cubin'), cubin.subarray(0, cubin.length / 2))
    await writeFile(join(made, 'text.cubin'), 'This is no cubin.')
    await writeFile(join(made, 'text.ptx'), 'This is no PTX.\n')
    await writeFile(join(made, 'text.so'), 'This is no library.')
    await make('kernels.cu', 'other.so', ...shared, '-arch=sm_90', '-cudart', 'none')
  }, 120_000)

  let folders = 0
  async function ladder(files: Record<string, string>, entries: string): Promise<string> {
    folders += 1
    const own = join(folder, `ladder${folders}`)
    await mkdir(own)
    await writeFile(join(own, 'ladder.yaml'), head + entries)
    await writeFile(join(own, 'reference.cu'), reference)
    for (const [name, from] of Object.entries(files))
      await copyFile(join(made, from), join(own, name))
    return own
  }
  const run = (own: string, target: string) =>
    runIn({ env }, 'run', '--ladder', own, '--trust', '--target', target, '--json')
  async function session(own: string, target = 'emulated'): Promise<Session> {
    const { stdout, stderr } = await run(own, target)
    expect(stdout, stderr).not.toBe('')
    return JSON.parse(stdout) as Session
  }

  it('is correct on the emulated GPU, has counters, and is shown as machine code', async () => {
    const files = {
      'r1.cubin': 'good.cubin',
      'r2.ptx': 'good.ptx',
      'r3.so': 'good.so',
      'r4.cubin': 'good.cubin',
    }
    const task =
      'launch: { kernel: scaleTask, grid: [(N + 127 - (N + 127) % 128) / 128], block: [128, 1, 1], workspace: 8 * N, arguments: [task, workspace] }'
    const entries = entry('r1.x') + entry('r2.x') + entry('r3.x', '') + entry('r4.x', task)
    const found = await session(await ladder(files, entries))
    for (const rung of found.rungs) {
      expect([rung.id, rung.status, rung.reason]).toEqual([rung.id, 'ok', undefined])
      expect(rung.alsoVerified?.map(({ verify }) => verify?.passed)).toEqual([true, true])
      expect(rung.metrics['instructions']?.value).toBeGreaterThan(100)
      expect(rung.build?.registersPerThread).toBeGreaterThan(4)
    }
    expect(found.rungs[0]!.launches).toMatchObject([
      {
        name: 'scale',
        grid: [16, 1, 1],
        block: [64, 1, 1],
        resources: { dynamicSharedBytes: 256 },
      },
    ])
  }, 120_000)

  it('is built for a GPU from the built-in table, with its occupancy', async () => {
    const own = await ladder(
      { 'r1.cubin': 'old.cubin', 'r2.ptx': 'good.ptx' },
      entry('r1.x') + entry('r2.x'),
    )
    const { rungs } = await session(own, 'static:a100')
    expect(rungs.map(({ status }) => status)).toEqual(['not-run', 'unsupported'])
    expect(rungs[0]!.metrics['theoreticalOccupancy']?.value).toBe(100)
    expect(inEnglish(rungs[1]!.reason!)).toContain('sm_90a')
  }, 120_000)

  it.each([
    [
      'r1.cubin',
      'old.cubin',
      undefined,
      'r1.cubin is machine code for sm_80, which sm_90 does not execute.',
    ],
    ['r1.cubin', 'cut.cubin', undefined, /^r1\.cubin is not a usable cubin: .*damaged/],
    ['r1.cubin', 'text.cubin', undefined, /^r1\.cubin is not a usable cubin: /],
    [
      'r1.ptx',
      'text.ptx',
      undefined,
      /^Does not compile: .*r1\.ptx:1: Missing \.version directive/,
    ],
    ['r1.so', 'text.so', '', 'r1.so is not a shared library.'],
    ['r1.so', 'other.so', '', /it does not define kl_launch as extern "C"/],
    ['r1.so', 'old.so', '', 'r1.so is machine code for sm_80, which sm_90 does not execute.'],
    ['r1.so', 'own.so', '', /it has a CUDA runtime of its own, which needs a GPU/],
    [
      'r1.cubin',
      'good.cubin',
      'launch: { kernel: scael, grid: [1], block: [1], arguments: [] }',
      /^r1\.cubin has no kernel scael; it has scale(Task)?, scale(Task)?\.$/,
    ],
    [
      'r1.cubin',
      'good.cubin',
      `launch: { ${launch}, arguments: [x, y, N] }`,
      'The kernel scale takes 4 arguments, but `launch` has 3.',
    ],
    [
      'r1.ptx',
      'good.ptx',
      `launch: { ${launch}, arguments: [x, y, i64(N), f] }`,
      'Argument 3 of scale, i64(N), does not fit: the parameter has 4 bytes.',
    ],
    [
      'r1.cubin',
      'good.cubin',
      'launch: { kernel: scale, grid: [1], block: [2048], arguments: [x, y, N, f] }',
      /cudaErrorInvalidConfiguration: a block of 2048 x 1 x 1 threads/,
    ],
  ])(
    'in the file %s, copied from %s with the entry %s, fails with one error message',
    async (name, from, rest, reason) => {
      const { rungs } = await session(await ladder({ [name]: from }, entry(name, rest)))
      expect(['failed', 'unsupported']).toContain(rungs[0]!.status)
      const said = inEnglish(rungs[0]!.reason!)
      if (typeof reason === 'string') expect(said).toBe(reason)
      else expect(said).toMatch(reason)
    },
    120_000,
  )

  it.each([
    [
      entry('r1.x', ''),
      { 'r1.cubin': 'good.cubin' },
      /ladder\.yaml:16:\d+: error: r1\.cubin needs `launch`/,
    ],
    [
      '  - { id: r1, launch: { kernel: k, grid: [1], block: [1], arguments: [] } }\n',
      { 'r1.ptx': 'good.ptx' },
      /ladder\.yaml:16:\d+: error: r1\.ptx has no header\. Add an `idea`/,
    ],
    [
      entry('r1.x'),
      { 'r1.so': 'good.so' },
      /ladder\.yaml:16:\d+: error: `launch` is for a \.cubin or \.ptx file/,
    ],
    [
      entry('r1.x', 'build: { max_registers: 32 }'),
      { 'r1.so': 'good.so' },
      /ladder\.yaml:16:\d+: error: r1\.so is already compiled/,
    ],
    [
      entry('r1.x', `launch: { ${launch}, arguments: [x, y, M, f] }`),
      { 'r1.cubin': 'good.cubin' },
      /ladder\.yaml:16:\d+: error: .*arguments\[2\].*M/,
    ],
    [
      entry(
        'r1.x',
        'launch: { kernel: scale, grid: [N / 64], block: [64], arguments: [x, y, N, f] }',
      ),
      { 'r1.cubin': 'good.cubin' },
      /ladder\.yaml:16:\d+: error: .*N \/ 64 is 15\.625, but must be a whole number of at least 1/,
    ],
    [
      entry('r1.x', `launch: { ${launch}, arguments: [x, y, N / 64, f] }`),
      { 'r1.cubin': 'good.cubin' },
      /N \/ 64 is 15\.625; write f32\(N \/ 64\) or f64\(N \/ 64\)/,
    ],
    [
      entry('r1.x', 'launch: { kernel: scale, grid: [1], arguments: [] }'),
      { 'r1.cubin': 'good.cubin' },
      /ladder\.yaml:16:\d+: error: .*block/,
    ],
    [
      entry('r1.x', 'launch: { kernel: "a b", grid: [1], block: [1], arguments: [] }'),
      { 'r1.cubin': 'good.cubin' },
      /ladder\.yaml:16:\d+: error: .*name of a kernel/,
    ],
    [
      entry('r1.x'),
      { 'r1.cubin': 'good.cubin', 'r1.ptx': 'good.ptx' },
      /contains r1\.ptx and r1\.cubin, which are both the rung r1/,
    ],
  ])('is rejected, with the line of its ladder entry: %s', async (entries, files, message) => {
    const { code, stderr } = await run(await ladder(files, entries), 'emulated')
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  it('does not replace a source in the same folder', async () => {
    const own = await ladder({ 'r1.cubin': 'good.cubin' }, '  - { id: r1 }\n')
    await writeFile(
      join(own, 'r1.cu'),
      '// @rung r1\n// @idea the source\n#include "kernel_ladder.h"\nextern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t s) { return cudaMemsetAsync(p->y, 0, 4, s); }\n',
    )
    const { rungs } = await session(own)
    expect(inEnglish(rungs[0]!.reason!)).toContain('it launches no kernel of its own')
  }, 60_000)
})
