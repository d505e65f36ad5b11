// @ts-check
/**
 * Tests rungs with their own setup, and rungs that were compiled elsewhere, on a GPU with nvcc.
 * Runs, verifies, times, compares, and sanitizes the rungs. The faults of incorrect rungs must be
 * found. Run this script manually. Prints one line per expectation, and exits with 1 if an
 * expectation is not met.
 *
 *     node test/gpu/rungs.mjs <the one-file program>
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { told } from '../../scripts/lib/statements.mjs'

const [program] = process.argv.slice(2)
if (!program) throw new Error('Name the one-file program as the first argument.')
const folder = mkdtempSync(join(tmpdir(), 'rungs-'))
const env = {
  ...process.env,
  KERNEL_LADDER_CACHE: join(folder, 'cache'),
  KERNEL_LADDER_DATA: join(folder, 'data'),
}

/** @param {string[]} words */
const run = (...words) =>
  spawnSync(process.execPath, [resolve(program), ...words], {
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })

/** @param {string} what @param {boolean} isMet @param {unknown} found */
function expect(what, isMet, found) {
  console.log(`${isMet ? 'ok  ' : 'FAIL'} ${what}${isMet ? '' : `: ${JSON.stringify(found)}`}`)
  if (!isMet) process.exitCode = 1
}

/** @param {string} ladder @param {string[]} words */
function session(ladder, ...words) {
  const { stdout, stderr } = run('run', '--ladder', ladder, '--trust', '--json', ...words)
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

/** @param {{ status: string, reason?: unknown }} rung */
const said = ({ status, reason }) => `${status} ${reason === undefined ? '' : told(reason)}`

const head = `kernel_ladder: 1
id: scaled
title: Scaled
summary: y is f times x.
task:
  sizes: { N: 16777216 }
  scalars: { f: { dtype: f32, value: 3 } }
  buffers:
    x: { dtype: f32, shape: [N], access: in, fill: { kind: uniform, lo: 1, hi: 2 } }
    y: { dtype: f32, shape: [N], access: out }
  reference: reference.cu
  check: { y: { rtol: "1e-6", atol: 0 } }
  work: { reads: 4*N, writes: 4*N }
  sanitize: { N: 1000 }
test_at: [{ N: 1 }, { N: 777, f: 0.5 }]
rungs:
`
const reference = `#include "kl_reference.h"
extern "C" void kl_reference(const KlReference* p) {
  for (long long i = 0; i < p->N; ++i) p->y[i] = double(p->f) * p->x[i];
}
`
const kernel = `#include "kernel_ladder.h"
static __global__ void scale(const float* x, float* y, long long n, float f) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) y[i] = f * x[i];
}
static void launch(const float* x, float* y, const KlTask* p, cudaStream_t stream) {
  scale<<<unsigned((p->N + 255) / 256), 256, 0, stream>>>(x, y, p->N, p->f);
}
`
const plain =
  'extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t s) { launch(p->x, p->y, p, s); return cudaGetLastError(); }'

/**
 * The host code and the expected outcome of each rung.
 * @type {Record<string, [string, RegExp]>}
 */
const sources = {
  r0_copy: [
    `static float* copy;
extern "C" cudaError_t kl_prepare(const KlTask* p) { return copy ? cudaErrorUnknown : cudaMalloc(&copy, p->N * 4); }
extern "C" void kl_release(const KlTask*) { cudaFree(copy); copy = nullptr; }
extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t s) {
  cudaMemcpyAsync(copy, p->x, p->N * 4, cudaMemcpyDeviceToDevice, s);
  launch(copy, p->y, p, s);
  return cudaGetLastError();
}`,
    /^ok/,
  ],
  r1_ahead: [
    `static float* ahead;
extern "C" cudaError_t kl_prepare(const KlTask* p) {
  cudaMalloc(&ahead, p->N * 4);
  launch(p->x, ahead, p, 0);
  return cudaGetLastError();
}
extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t s) {
  return cudaMemcpyAsync(p->y, ahead, p->N * 4, cudaMemcpyDeviceToDevice, s);
}`,
    /^wrong/,
  ],
  r2_fails: [
    `extern "C" cudaError_t kl_prepare(const KlTask*) { void* all; return cudaMalloc(&all, 1LL << 50); }\n${plain}`,
    /^failed .*kl_prepare failed: .*out of memory/i,
  ],
  // This rung verifies that the inputs are restored after the previous rung has changed them.
  r3_plain: [plain, /^ok/],
  r4_beside: [
    `static __global__ void beside(float* p) { p[1LL << 40] = 0; }
extern "C" cudaError_t kl_prepare(const KlTask* p) { beside<<<1, 1>>>(p->y); return cudaGetLastError(); }\n${plain}`,
    /^failed .*illegal memory access/,
  ],
}

/** @param {string} id @param {string} rest */
const entry = (id, rest) => `  - { id: ${id}, idea: It was compiled elsewhere., ${rest} }\n`
const described =
  'launch: { kernel: scale4, grid: [ceil(N / 256)], block: [256], shared: 65536, arguments: [x, y, N, f] }'
const compiled = `extern "C" __global__ void scale4(const float* x, float* y, int n, float f) {
  extern __shared__ float shared[];
  const int i = blockIdx.x * 256 + threadIdx.x;
  shared[threadIdx.x + 16000] = f;
  if (i < n) y[i] = x[i] * shared[threadIdx.x + 16000];
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

try {
  // ---- The example ladder: CUB, two streams, a graph -------------------------------------------
  const example = join(folder, 'prepared')
  cpSync(join(import.meta.dirname, '../../docs/examples/prepared'), example, { recursive: true })
  const prepared = session(example, '--profile', 'none')
  for (const rung of prepared.rungs) {
    expect(
      `prepared ${rung.id} is right and timed`,
      rung.status === 'ok' && rung.timing !== null,
      said(rung),
    )
    expect(
      `prepared ${rung.id} says how long its set-up took`,
      rung.prepared?.seconds >= 0,
      rung.prepared,
    )
    console.log(`     ${rung.timing?.medianMs} ms, ${rung.prepared?.seconds} s prepared`)
  }
  const cleaned = run('sanitize', '--ladder', example, '--trust')
  expect(
    'prepared is clean under compute-sanitizer',
    [0, 3].includes(cleaned.status ?? 1),
    cleaned.stdout,
  )

  // ---- Correct and incorrect setups ------------------------------------------------------------
  const own = join(folder, 'own')
  mkdirSync(own)
  writeFileSync(
    join(own, 'ladder.yaml'),
    head +
      Object.keys(sources)
        .map((id) => `  - { id: ${id} }\n`)
        .join(''),
  )
  writeFileSync(join(own, 'reference.cu'), reference)
  for (const [id, [code]] of Object.entries(sources))
    writeFileSync(join(own, `${id}.cu`), `// @rung ${id}\n// @idea a set-up\n${kernel}${code}\n`)
  const found = session(own, '--profile', 'none')
  for (const [id, [, pattern]] of Object.entries(sources)) {
    const rung = found.rungs.find((/** @type {{ id: string }} */ one) => one.id === id)
    expect(`${id} is ${pattern}`, pattern.test(said(rung)), said(rung))
  }
  const copies = found.rungs[0].alsoVerified?.map((/** @type {any} */ { verify }) => verify?.passed)
  expect('r0_copy is right at other sizes too', String(copies) === 'true,true', copies)
  execFileSync('git', ['init', '-q'], { cwd: own })
  execFileSync('git', ['add', '-A'], { cwd: own })
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'now'], {
    cwd: own,
  })
  const regress = run(
    'regress',
    '--ladder',
    own,
    '--trust',
    '--rungs',
    'r0_copy',
    '--against',
    'HEAD',
  )
  expect('regress loads a prepared rung three times', regress.status === 0, regress.stderr)

  // ---- Rungs that were compiled elsewhere ------------------------------------------------------
  const made = join(folder, 'made')
  mkdirSync(made)
  const sm = execFileSync('nvidia-smi', ['--query-gpu=compute_cap', '--format=csv,noheader'], {
    encoding: 'utf8',
  })
    .split('\n')[0]
    .replace('.', '')
  writeFileSync(
    join(made, 'ladder.yaml'),
    head +
      entry('c0', described) +
      entry('c1', described) +
      entry('c2', 'title: A library') +
      entry('c3', described) +
      entry('c4', described),
  )
  writeFileSync(join(made, 'reference.cu'), reference)
  writeFileSync(join(folder, 'k.cu'), compiled)
  writeFileSync(join(folder, 'l.cu'), library)
  /** @param {string[]} words */
  const nvcc = (...words) => execFileSync('nvcc', words, { stdio: 'inherit' })
  nvcc(`-arch=sm_${sm}`, '-cubin', join(folder, 'k.cu'), '-o', join(made, 'c0.cubin'))
  nvcc(`-arch=sm_${sm}`, '-ptx', join(folder, 'k.cu'), '-o', join(made, 'c1.ptx'))
  nvcc(
    `-arch=sm_${sm}`,
    '-shared',
    '-Xcompiler',
    '-fPIC',
    join(folder, 'l.cu'),
    '-o',
    join(made, 'c2.so'),
  )
  nvcc('-arch=sm_75', '-cubin', join(folder, 'k.cu'), '-o', join(made, 'c3.cubin'))
  nvcc(
    `-arch=sm_${sm}${Number(sm) >= 90 ? 'a' : ''}`,
    '-cubin',
    join(folder, 'k.cu'),
    '-o',
    join(made, 'c4.cubin'),
  )
  const elsewhere = session(made, '--profile', 'deep')
  const by = Object.fromEntries(elsewhere.rungs.map((/** @type {any} */ rung) => [rung.id, rung]))
  for (const id of ['c0', 'c1', 'c2', 'c4']) {
    expect(
      `${id} is right and timed`,
      by[id].status === 'ok' && by[id].timing !== null,
      said(by[id]),
    )
    const launched = by[id].launches?.[0]
    expect(`${id} says what it launches`, launched?.grid[0] === 65536, launched)
    console.log(`     ${by[id].timing?.medianMs} ms, ${Object.keys(by[id].metrics).length} metrics`)
  }
  expect(
    'c3 is for another GPU',
    /^failed c3\.cubin is machine code for sm_75/.test(said(by.c3)),
    said(by.c3),
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
