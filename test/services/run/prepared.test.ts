/** Tests emulated rungs that have a one-time setup or their own memory, streams, or graphs. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Session } from '../../../src-main/domain/session/session'
import { inEnglish } from '../../../src-main/domain/text/english'
import { runIn } from '../../hosts/cli/support'
import { keeping, keptNvcc } from '../../kept-nvcc'
import { root } from '../support'

const folder = await mkdtemp(join(tmpdir(), 'kl-prepared-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const env = {
  KERNEL_LADDER_CACHE: join(folder, 'cache'),
  KERNEL_LADDER_DATA: join(folder, 'data'),
}
const kept = await keptNvcc('prepared', { artifacts: true })
afterAll(() => {
  if (keeping) kept.save()
})

async function emulated(ladder: string, ...words: string[]): Promise<Session> {
  const args = ['--ladder', ladder, '--trust', '--target', 'emulated', '--json', ...words]
  const { stdout, stderr } = await runIn({ env, machine: await kept.machine() }, 'run', ...args)
  expect(stdout, stderr).not.toBe('')
  return JSON.parse(stdout) as Session
}

const ladder = (rungs: readonly string[]): string => `kernel_ladder: 1
id: doubled
title: Doubled
summary: y is twice x.
task:
  sizes: { N: 1000 }
  buffers:
    x: { dtype: f32, shape: [N], access: in, fill: { kind: uniform, lo: 1, hi: 2 } }
    y: { dtype: f32, shape: [N], access: out }
  reference: reference.cu
  check: { y: { exact: true } }
  work: { reads: 4*N, writes: 4*N }
rungs: [${rungs.map((id) => `{ id: ${id} }`).join(', ')}]
`
const reference = `#include "kl_reference.h"
extern "C" void kl_reference(const KlReference* p) {
  for (long long i = 0; i < p->N; ++i) p->y[i] = 2 * p->x[i];
}
`
const kernel = `#include "kernel_ladder.h"
static __global__ void twice(const float* x, float* y, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
static void launch(const float* x, float* y, long long n, cudaStream_t stream) {
  twice<<<unsigned((n + 255) / 256), 256, 0, stream>>>(x, y, n);
}
`
const plain = `extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  launch(p->x, p->y, p->N, stream);
  return cudaGetLastError();
}
`

/** The host code of each rung after `kernel`, and the expected outcome. */
const rungs: Record<string, { code: string; status: string; reason?: RegExp }> = {
  'pointers in memory of its own': {
    status: 'ok',
    code: `
static __global__ void through(float* const* table, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) table[1][i] = 2 * table[0][i];
}
static float** table;
extern "C" cudaError_t kl_prepare(const KlTask* p) {
  const float* both[] = {p->x, p->y};
  cudaMalloc(&table, sizeof both);
  return cudaMemcpy(table, both, sizeof both, cudaMemcpyHostToDevice);
}
extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  through<<<unsigned((p->N + 255) / 256), 256, 0, stream>>>(table, p->N);
  return cudaGetLastError();
}
extern "C" void kl_release(const KlTask*) { cudaFree(table); }`,
  },
  'memory that its first launch allocates': {
    status: 'ok',
    code: `
static float* copy;
static long long known;
extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t) {
  if (known != p->N) cudaMalloc(&copy, p->N * 4);
  known = p->N;
  cudaMemcpy(copy, p->x, p->N * 4, cudaMemcpyDeviceToDevice);
  launch(copy, p->y, p->N, 0);
  return cudaGetLastError();
}`,
  },
  'memory and streams of each launch': {
    status: 'ok',
    code: `
extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  float* copy;
  cudaStream_t own;
  cudaEvent_t copied;
  cudaStreamCreate(&own);
  cudaEventCreate(&copied);
  cudaMallocAsync(&copy, p->N * 4, own);
  cudaMemcpyAsync(copy, p->x, p->N * 4, cudaMemcpyDeviceToDevice, own);
  cudaEventRecord(copied, own);
  cudaStreamWaitEvent(stream, copied);
  launch(copy, p->y, p->N, stream);
  cudaFreeAsync(copy, stream);
  cudaStreamDestroy(own);
  cudaEventDestroy(copied);
  return cudaGetLastError();
}`,
  },
  'a graph over two streams': {
    status: 'ok',
    code: `
static cudaGraphExec_t graph;
static float* copy;
extern "C" cudaError_t kl_prepare(const KlTask* p) {
  cudaStream_t first, second;
  cudaEvent_t event;
  cudaGraph_t captured;
  cudaStreamCreate(&first), cudaStreamCreate(&second), cudaEventCreate(&event);
  cudaMalloc(&copy, p->N * 4);
  cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
  cudaMemcpyAsync(copy, p->x, p->N * 4, cudaMemcpyDeviceToDevice, first);
  cudaEventRecord(event, first);
  cudaStreamWaitEvent(second, event);
  launch(copy, p->y, p->N, second);
  cudaEventRecord(event, second);
  cudaStreamWaitEvent(first, event);
  cudaStreamEndCapture(first, &captured);
  return cudaGraphInstantiate(&graph, captured, 0);
}
extern "C" cudaError_t kl_launch(const KlTask*, cudaStream_t stream) { return cudaGraphLaunch(graph, stream); }`,
  },
  'the place of a cluster': {
    status: 'ok',
    code: `
static __global__ void __cluster_dims__(2) byCluster(const float* x, float* y, long long n) {
  unsigned cluster, rank;
  asm volatile("mov.u32 %0, %clusterid.x;" : "=r"(cluster));
  asm volatile("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  const long long i = (2 * cluster + rank) * 256LL + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  byCluster<<<unsigned((p->N + 511) / 512 * 2), 256, 0, stream>>>(p->x, p->y, p->N);
  return cudaGetLastError();
}`,
  },
  'work ahead of its launch': {
    status: 'wrong',
    reason: /^1000 elements of y differ from the reference/,
    code: `
static float* ahead;
extern "C" cudaError_t kl_prepare(const KlTask* p) {
  cudaMalloc(&ahead, p->N * 4);
  launch(p->x, ahead, p->N, 0);
  return cudaGetLastError();
}
extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  launch(ahead, p->y, 0 * p->N + 1, stream);
  return cudaMemcpyAsync(p->y, ahead, p->N * 4, cudaMemcpyDeviceToDevice, stream);
}`,
  },
  'zeros in new memory': {
    status: 'wrong',
    code: `
static __global__ void add(const float* x, const float* zeros, float* y, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + zeros[i];
}
extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  float* zeros;
  cudaMalloc(&zeros, p->N * 4);
  add<<<unsigned((p->N + 255) / 256), 256, 0, stream>>>(p->x, zeros, p->y, p->N);
  cudaFree(zeros);
  return cudaGetLastError();
}`,
  },
  'a set-up that fails': {
    status: 'failed',
    reason: /kl_prepare failed with cudaErrorMemoryAllocation$/,
    code: `extern "C" cudaError_t kl_prepare(const KlTask*) { void* all; return cudaMalloc(&all, 1LL << 40); }\n${plain}`,
  },
  'a set-up beside its memory': {
    status: 'failed',
    reason: /Invalid __global__ write of size 4 bytes \(doubled\/r08\.cu:\d+\)/,
    code: `
extern "C" cudaError_t kl_prepare(const KlTask* p) {
  float* small;
  cudaMalloc(&small, 64);
  launch(p->x, small, p->N, 0);
  return cudaGetLastError();
}
${plain}`,
  },
  'memory freed twice': {
    status: 'failed',
    reason: /its launch failed with cudaErrorInvalidValue$/,
    code: `
extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  void* memory;
  cudaMalloc(&memory, 64);
  launch(p->x, p->y, p->N, stream);
  cudaFree(memory);
  return cudaFree(memory);
}`,
  },
  'a capture of the default stream': {
    status: 'failed',
    reason: /its launch failed with cudaErrorStreamCaptureUnsupported$/,
    code: `extern "C" cudaError_t kl_launch(const KlTask*, cudaStream_t) {
  return cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal);
}`,
  },
  'a capture without an end': {
    status: 'failed',
    reason: /its launch ends while a stream is captured$/,
    code: `extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  launch(p->x, p->y, p->N, stream);
  return cudaGetLastError();
}`,
  },
  'a graph of nodes': {
    status: 'unsupported',
    reason: /it calls cudaGraphCreate, which requires a GPU/,
    code: `extern "C" cudaError_t kl_launch(const KlTask*, cudaStream_t) { cudaGraph_t g; return cudaGraphCreate(&g, 0); }`,
  },
  'a handle of cuBLAS': {
    status: 'unsupported',
    reason: /it calls cublasCreate_v2, whose library runs only on a GPU/,
    code: `extern "C" int cublasCreate_v2(void**);
extern "C" cudaError_t kl_prepare(const KlTask*) { void* handle; return cudaError_t(cublasCreate_v2(&handle)); }
${plain}`,
  },
}

describe('a rung with additional setup', async () => {
  const own = join(folder, 'doubled')
  const entries = Object.entries(rungs).map(([what, rung], index) => ({
    ...{ what, id: `r${String(index).padStart(2, '0')}` },
    ...rung,
  }))
  await mkdir(own)
  await writeFile(join(own, 'ladder.yaml'), ladder(entries.map(({ id }) => id)))
  await writeFile(join(own, 'reference.cu'), reference)
  for (const { id, what, code } of entries)
    await writeFile(join(own, `${id}.cu`), `// @rung ${id}\n// @idea ${what}\n${kernel}${code}\n`)
  const session = await emulated(own)

  it.each(entries)('that has $what is $status', ({ id, status, reason }) => {
    const found = session.rungs.find((rung) => rung.id === id)!
    const text = found.reason === undefined ? '' : inEnglish(found.reason)
    expect([found.status, text]).toEqual([status, expect.stringMatching(reason ?? /^/)])
  })
}, 120_000)

it('CUB, a second stream, and a graph compute row sums at every size in the example', async () => {
  const example = join(root, 'docs/examples/prepared')
  const session = await emulated(example, '--size', '96')
  for (const { id, status, alsoVerified } of session.rungs) {
    expect({ id, status }).toEqual({ id, status: 'ok' })
    expect(alsoVerified?.map(({ verify }) => verify?.passed)).toEqual([true, true])
  }
}, 120_000)

it('the output of nvcc is stored for every rung in this file', () => {
  if (!keeping) expect(kept.stale, 'keep it anew with KERNEL_LADDER_KEEP=1').toEqual([])
})
