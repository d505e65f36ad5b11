/**
 * Tests Python rungs in the way that the runner uses them. The real nvcc builds the library for the
 * tested rungs. A small program loads the library and runs Python in its process. torch is a fake
 * based on numpy, and the process's memory simulates GPU memory.
 */
import { execFile } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { readCatalog, readSharedFiles } from '../../../src-main/adapters/catalog/catalog'
import { readLadderFolder } from '../../../src-main/adapters/catalog/ladder-folder'
import { diskBuildCache, copyBuilt } from '../../../src-main/adapters/disk/build-cache'
import { findTool, liveToolbox } from '../../../src-main/adapters/tools/live-toolbox'
import { staticRungFlags } from '../../../src-main/adapters/tools/nvcc'
import { runProcess } from '../../../src-main/adapters/tools/process'
import { buildRung } from '../../../src-main/services/bench/build-rung'
import { planRun } from '../../../src-main/services/run/plan'
import { root, shippedKernels, tempDir } from '../support'
import { openCompiler } from '../../../src-main/services/bench/compiler'
import { taskHeader } from '../../../src-main/domain/task/task-headers'

/**
 * A program that imitates the runner: it fills the struct, prepares the rung, launches on a stream,
 * and reports the result.
 */
const loader = `
#include "kernel_ladder.h"
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
int main(int count, char** argv) {
  for (int at = 1; at < count; ++at) {
    void* so = dlopen(argv[at], RTLD_NOW | RTLD_LOCAL);
    if (!so) return puts(dlerror()), 1;
    float x[6] = {0, 0, 0, 1, 2, 3}, y[6];
    memset(y, 255, sizeof y);
    KlTask p = {};
    p.ROWS = 2, p.COLS = 3, p.a = 0.5f, p.x = x, p.y = y;
    const auto find = [&](const char* name) { return dlsym(so, name); };
    const char* why = ((const char* (*)(const KlTask*, int))find("kl_unsupported"))(&p, 90);
    if (why) { printf("unsupported: %s\\n", why); continue; }
    why = ((const char* (*)(const KlTask*, cudaStream_t))find("kl_warm_up"))(&p, nullptr);
    if (why) { printf("load: %s\\n", why); continue; }
    printf("%s:", ((const char* (*)(const KlTask*))find("kl_about"))(&p));
    memset(y, 255, sizeof y);
    if (((cudaError_t (*)(const KlTask*, cudaStream_t))find("kl_launch"))(&p, (cudaStream_t)64) != cudaSuccess)
      printf(" failed: %s", ((const char* (*)(const KlTask*))find("kl_failure"))(&p));
    else for (const float value : y) printf(" %.4f", value);
    puts(x[0] == 0 ? "" : " (changed x)");
  }
}
`

const ladder = (rungs: readonly string[]): string => `
kernel_ladder: 1
id: rows
title: Rows
summary: Rows.
task:
  sizes: { ROWS: 2, COLS: 3 }
  scalars: { a: { dtype: f32, value: 0.5 } }
  buffers:
    x: { dtype: f32, shape: [ROWS, COLS], access: in, fill: { kind: zero } }
    y: { dtype: f32, shape: [ROWS, COLS], access: out }
  reference: { rung: ${rungs[0]} }
  check: { y: { rtol: 0.001, atol: 0 } }
  work: { reads: 1, writes: 1 }
at: [{ ROWS: 2, COLS: 3 }]
rungs:
${rungs.map((id) => `  - id: ${id}`).join('\n')}
`

const python = 'Python \\d+\\.\\d+\\.\\d+, torch 2\\.11\\.0:'
const into = 'a result is written into the buffer itself: task.y.copy_(…), or out=task.y'

/** The body of kl_launch, a line before it, and the loader's expected output. */
const rungs: Record<string, { body: string; before?: string; says: RegExp | string }> = {
  softmax: {
    body: 'torch.softmax(task.x, dim=1, out=task.y)',
    says: new RegExp(`^${python} 0\\.3333 0\\.3333 0\\.3333 0\\.0900 0\\.2447 0\\.6652$`),
  },
  numbers: {
    body: 'task.y.copy_(task.ROWS * 100 + task.COLS * 10 + task.N + task.a)',
    says: / 234\.5000 234\.5000/,
  },
  nothing: {
    body: 'torch.softmax(task.x, dim=1)',
    says: `load: kl_launch wrote nothing into task.y; ${into}`,
  },
  returns: {
    body: 'return torch.softmax(task.x, dim=1)',
    says: `load: kl_launch returned a tensor of float32 on cuda:0; ${into}`,
  },
  replaces: {
    body: 'task.y = torch.softmax(task.x, dim=1)',
    says: `load: kl_launch set task.y to a tensor of float32 on cuda:0; ${into}`,
  },
  input: { body: 'task.x.copy_(1); task.y.copy_(1)', says: / 1\.0000 \(changed x\)$/ },
  cpu: {
    body: 'task.y.copy_(torch.softmax(task.x.cpu(), dim=1))',
    says: / failed: kl_launch waits for the GPU in each launch, as \.cpu\(\), \.item\(\) and copies from the host do \(rung\.py:8\)$/,
  },
  raises: {
    body: 'torch.softmax(task.x.reshape(7, -1), dim=1, out=task.y)',
    says: /^load: ValueError: cannot reshape array of size 6 into shape .*\(rung\.py:8\)$/,
  },
  dtype: {
    body: 'torch.softmax(task.x.astype("f8"), dim=1, out=task.y)',
    says: /^load: RuntimeError: expected out tensor to have dtype float64, but got float32 instead \(rung\.py:8\)$/,
  },
  exits: { body: 'raise SystemExit(3)', says: /^load: SystemExit: 3 \(rung\.py:8\)$/ },
  syntax: { body: 'return (', says: /^load: rung\.py is not valid Python: line 8: / },
  nameless: { body: 'pass\ndel kl_launch', says: 'load: rung.py does not define kl_launch(task)' },
  imports: {
    before: 'import nosuchpackage',
    body: 'pass',
    says: /^load: ModuleNotFoundError: No module named 'nosuchpackage' \(rung\.py:6\)$/,
  },
}

const script = ({ body, before = '' }: { body: string; before?: string }): string => `# @rung rung
# @title T
# @idea a test
# @param N 4 {2,4}
import torch
${before}
def kl_launch(task):
    ${body}
`

const isThere =
  (await findTool('nvcc')) !== null &&
  (await runProcess({ file: 'python3', args: ['-c', 'import numpy'] })).exitCode === 0

describe.skipIf(!isThere)('a rung in Python', () => {
  const ids = Object.keys(rungs)
  /** The loader's output, by rung and missing part. */
  const said = new Map<string, string | undefined>()

  beforeAll(async () => {
    const dir = await tempDir()
    const folder = join(dir, 'rows')
    await mkdir(folder)
    await writeFile(join(folder, 'ladder.yaml'), ladder(['rung', 'other']))
    await writeFile(join(folder, 'rung.py'), script(rungs.softmax!))
    await writeFile(
      join(folder, 'other.py'),
      '# @rung other\n# @title T\n# @idea a test\n# @package triton\n',
    )
    const {
      catalog,
      task,
      ladder: own,
    } = await readLadderFolder(folder, await readCatalog(shippedKernels))
    expect([...catalog.faults]).toEqual([])
    const plan = planRun(catalog, { ladder: own.id, params: {}, profile: 'none' })
    const compiler = await openCompiler(
      { toolbox: liveToolbox(null), cache: diskBuildCache(join(dir, 'cache'), null) },
      await readSharedFiles(shippedKernels, 'include'),
    )
    const [artifact, other] = await Promise.all(
      plan.rungs.map(async (planned) => {
        const built = await buildRung(compiler, plan, planned, '90', staticRungFlags)
        expect(built.diagnostics, planned.rung.id).toEqual([])
        return built.artifact!
      }),
    )
    // The library finds its script in its own folder, so one build serves all rungs.
    const libraries = await Promise.all(
      ids.map(async (id) => {
        const copy = join(dir, 'built', id)
        await cp(dirname(artifact!), copy, { recursive: true })
        await writeFile(join(copy, 'src/rows/rung.py'), script(rungs[id]!))
        return join(copy, 'rung.so')
      }),
    )
    await writeFile(join(dir, 'kl_task.h'), taskHeader(task))
    await writeFile(join(dir, 'loader.cpp'), loader)
    const program = join(dir, 'loader')
    await promisify(execFile)(compiler.nvcc, [
      ...['-std=c++17', '-I', join(shippedKernels, 'include'), '-I', dir],
      ...[join(dir, 'loader.cpp'), '-o', program, '-ldl'],
    ])
    const run = async (args: readonly string[], env = {}): Promise<string[]> => {
      const { stdout } = await runProcess({
        file: program,
        args,
        env: {
          PYTHONPATH: join(root, 'test/fakes/python'),
          PYTHONDONTWRITEBYTECODE: '1',
          ...env,
        },
      })
      return stdout.split('\n').filter((line) => !line.startsWith('on the stream'))
    }
    const lines = await run(libraries)
    for (const [index, id] of ids.entries()) said.set(id, lines[index])
    said.set('a copy', (await run([await copyBuilt(artifact!, join(dir, 'built/copy'))]))[0])
    said.set('no GPU', (await run([artifact!], { FAKE_GPU: '0' }))[0])
    said.set('no torch', (await run([artifact!], { PYTHONPATH: '' }))[0])
    said.set('no triton', (await run([other!]))[0])
    said.set('no Python', (await run([artifact!], { PATH: '/nonexistent' }))[0])
  })

  it.each(ids)('gets its tensors in the script %s, or is rejected with the reason', (id) => {
    const { says } = rungs[id]!
    if (typeof says === 'string') expect(said.get(id)).toBe(says)
    else expect(said.get(id)).toMatch(says)
  })

  it('runs from a copied library, so that `regress` can time old code next to new code', () =>
    expect(said.get('a copy')).toMatch(rungs.softmax!.says))

  it.each([
    ['no GPU', 'torch 2.11.0 sees no GPU; install a build with CUDA that this driver supports'],
    ['no torch', 'torch is not installed for the python3 on PATH; pip install torch, or activate'],
    ['no triton', 'triton is not installed for the python3 on PATH; pip install torch triton, or'],
    ['no Python', 'there is no python3 on PATH; install it, or activate the environment that has'],
  ])('is rejected if there is %s', (what, why) => {
    expect(said.get(what)).toContain(`unsupported: ${why}`)
  })
})
