/** The probe itself, over libraries as small as their fault. Needs nvcc, which links them. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { readSharedFiles } from '../../../src-main/adapters/kernels/kernel-library'
import { findTool, liveToolbox } from '../../../src-main/adapters/tools/live-toolbox'
import { probeLaunches, probeReference } from '../../../src-main/adapters/tools/launch-probe'
import { buildGpu } from '../../../src-main/domain/gpu/gpus'
import { caseOf, usualProblem } from '../../../src-main/domain/task/problem'
import { pythonHeaderFile } from '../../../src-main/domain/task/python-reference'
import { Task } from '../../../src-main/domain/task/task'
import { buildLaunchProbe, buildReference } from '../../../src-main/services/run/build'
import { realCompiler } from '../../kept-nvcc'
import { shippedKernels, tempDir } from '../support'

const task = Task.parse({
  id: 'ones',
  title: 'Ones',
  sizes: { N: {} },
  buffers: { y: { dtype: 'f32', shape: ['N'], access: 'out' } },
  reference: 'reference.py',
  check: { y: { exact: true } },
  work: { reads: 0, writes: '4*N' },
})
const signal = new AbortController().signal

describe.skipIf((await findTool('nvcc')) === null)('the launch probe', () => {
  let probe = ''
  beforeAll(async () => {
    const [runnerSources, probeSources] = await Promise.all(
      ['runner', 'probe'].map((name) => readSharedFiles(shippedKernels, name)),
    )
    const built = await buildLaunchProbe(await realCompiler(), {
      runnerSources: runnerSources!,
      probeSources: probeSources!,
    })
    expect(built).toHaveProperty('artefact')
    if ('artefact' in built) probe = built.artefact
  }, 120_000)

  /** No CUDA is in it, so the host's compiler is enough. */
  async function library(source: string): Promise<string> {
    const folder = await tempDir()
    const [text, built] = ['source.cpp', 'library.so'].map((name) => join(folder, name))
    await writeFile(text!, source)
    await promisify(execFile)('c++', ['-shared', '-fPIC', text!, '-o', built!])
    return built!
  }
  const referenceOf = async (source: string) =>
    probeReference(liveToolbox(null), { probe, library: await library(source), signal })
  const launchesOf = async (source: string) =>
    probeLaunches(liveToolbox(null), {
      probe,
      rung: 'a',
      library: await library(source),
      task,
      own: caseOf(usualProblem(task, { N: 8 })),
      gpu: buildGpu('h200')!,
      signal,
    })

  it.each([
    ['extern "C" void kl_reference(const void*) {}', null],
    ['extern "C" int kl_reference_device(const void*, void*) { return 0; }', null],
    ['', 'defines neither kl_reference nor kl_reference_device as extern "C"'],
    [
      'void kl_reference(const void*) {}',
      'defines neither kl_reference nor kl_reference_device as extern "C"',
    ],
    [
      'extern "C" { void kl_reference() {} void kl_reference_device() {} }',
      'defines both kl_reference and kl_reference_device',
    ],
  ])('knows whether %j can be a reference', async (source, fault) => {
    expect(await referenceOf(source)).toBe(fault)
  })

  it('names a symbol that a reference does not have', async () => {
    const source = 'void missing(); extern "C" void kl_reference(const void*) { missing(); }'
    expect(await referenceOf(source)).toMatch(/^cannot be loaded: .*missing/)
  })

  it('tells a rung that cannot be launched from one that does not support the size', async () => {
    expect(await launchesOf('int kl_launch(const void*, void*) { return 0; }')).toEqual({
      reason: 'it does not define kl_launch as extern "C"',
      fault: 'failed',
    })
    const launch = 'extern "C" int kl_launch(const void*, void*) { return 9; }\n'
    expect(await launchesOf(launch)).toEqual({
      reason: 'its launch failed with cudaErrorInvalidConfiguration',
      fault: 'failed',
    })
    const unsupported =
      'extern "C" const char* kl_unsupported(const void*, int) { return "N is below 16"; }'
    expect(await launchesOf(launch + unsupported)).toEqual({
      reason: 'N is below 16',
      fault: 'unsupported',
    })
    expect(await launchesOf(launch.replace('9', '0'))).toEqual({
      reason: 'it launches no kernel of its own',
    })
  })

  /** A rung that says in kl_unsupported what it was answered. */
  const asking = (attribute: number): string =>
    `#include <stdio.h>
    extern "C" int cudaDeviceGetAttribute(int*, int, int);
    extern "C" int kl_launch(const void*, void*) { return 0; }
    extern "C" const char* kl_unsupported(const void*, int) {
      static char text[32];
      int value = 0;
      cudaDeviceGetAttribute(&value, ${attribute}, 0);
      snprintf(text, sizeof text, "%d", value);
      return text;
    }`

  it.each([
    ['cudaDevAttrMultiProcessorCount', 16, '132'],
    ['cudaDevAttrMaxThreadsPerMultiProcessor', 39, '2048'],
    ['cudaDevAttrMaxSharedMemoryPerMultiprocessor', 81, String(228 * 1024)],
    ['cudaDevAttrMaxBlocksPerMultiprocessor', 106, '32'],
    ['cudaDevAttrMaxSharedMemoryPerBlock', 8, String(48 * 1024)],
    ['cudaDevAttrMaxRegistersPerMultiprocessor', 82, '65536'],
  ])('answers %s from the table', async (_name, number, reason) => {
    expect(await launchesOf(asking(number))).toEqual({ reason, fault: 'unsupported' })
  })

  it('names an attribute that only a GPU knows', async () => {
    expect(await launchesOf(asking(38))).toEqual({
      reason: 'it queries the device: cudaDevAttrL2CacheSize',
    })
  })

  it.each([
    ['def kl_reference(task):\n    task.y[:] = 1\n', null],
    ['def kl_reference(task:\n    pass\n', /^is not valid Python: line 1: /],
    ['def reference(task):\n    pass\n', 'does not define kl_reference(task)'],
  ])(
    'reads the script of a reference in Python: %j',
    async (script, fault) => {
      const python = await promisify(execFile)('python3', ['--version']).catch(() => null)
      const header = await readFile(join(shippedKernels, pythonHeaderFile), 'utf8')
      const inputs = { task, headers: new Map([[pythonHeaderFile, header]]) }
      const source = { file: 'ones/reference.py', text: script }
      const built = await buildReference(await realCompiler(), inputs, source, '90')
      const found = await probeReference(liveToolbox(null), { probe, library: built, signal })
      if (python === null || fault === null) expect(found).toBeNull()
      else expect(found).toMatch(fault)
    },
    60_000,
  )
})
