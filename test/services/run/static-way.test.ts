/** Tests runs without a GPU, and the probe that records launches. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { toErrorShape } from '../../../src-main/domain/errors'
import {
  fakeMachine,
  isOneFigure,
  type Machine,
  rung,
  setEnv,
  shippedKernels,
  tempDir,
} from '../support'
import type { MachineKernel } from '../../../src-main/domain/sass/machine-code'
import { shapeFault } from '../../../src-main/services/run/emulate'
import { said, saying } from '../../support'
import { readSharedFiles } from '../../../src-main/adapters/catalog/catalog'
import { findTool, liveToolbox } from '../../../src-main/adapters/tools/live-toolbox'
import { buildGpu } from '../../../src-main/domain/gpu/gpu-table'
import { caseOf, usualProblem } from '../../../src-main/domain/task/problem'
import { Task } from '../../../src-main/domain/task/task'
import { realCompiler } from '../../kept-nvcc'
import { buildLaunchProbe } from '../../../src-main/services/bench/own-programs'
import { referenceHeader, referenceHeaderFile } from '../../../src-main/domain/task/task-headers'
import { pythonHeaderFile, pythonLibrary } from '../../../src-main/domain/task/python-reference'
import { probeLaunches, probeReference } from '../../../src-main/adapters/tools/launch-probe'

describe('a static run', () => {
  const noGpu = ['nvidia-smi', 'ncu']
  const build = (machine: Machine, target = 'static:h200') => machine.run({ target })

  describe('without a GPU', () => {
    it('takes figures from the compiler, and derives the same occupancy and waves as ncu', async () => {
      const { session: measured } = await (await fakeMachine()).run()
      const machine = await fakeMachine(noGpu)
      const { session, folder, missing } = await build(machine)
      expect(missing).toBeNull()
      expect(folder).not.toBeNull()
      expect(session).toMatchObject({
        target: { kind: 'static', name: 'h200' },
        device: null,
        settings: { profile: 'none' },
        completion: 'complete',
      })
      expect(said(session.warnings).join()).toMatch(
        /^Built for H200 .*nothing was run, verified, or timed/,
      )
      for (const own of session.rungs.filter(({ id }) => id !== '00_cublas')) {
        const ncu = rung(measured, own.id)
        expect(own).toMatchObject({ status: 'not-run', verify: null, timing: null, profile: null })
        expect(own.build).toMatchObject({
          registersPerThread: ncu.build!.registersPerThread,
          spillStoreBytes: 0,
        })
        for (const id of ['wavesPerSm', 'theoreticalOccupancy', 'registersPerThread']) {
          const figure = own.metrics[id]!
          if (isOneFigure(own.id, id)) {
            expect(figure, `${own.id} ${id}`).toMatchObject({ evidence: 'derived' })
            expect(Math.abs(figure.value! - ncu.metrics[id]!.value!)).toBeLessThan(0.006)
          } else {
            expect(figure, `${own.id} ${id}`).toMatchObject({
              value: null,
              evidence: 'unavailable',
            })
            expect(said(figure.reason)).toContain('launches 2 kernels that differ in this')
          }
        }
        expect(said(own.metrics.fmaUtilization)).toEqual({
          value: null,
          unit: '%',
          evidence: 'unavailable',
          reason: 'The rung was only built for H200, not run.',
        })
      }
      expect(machine.calls('nvidia-smi')).toEqual([])
      expect(machine.calls('runner')).toEqual([])
    })

    it('marks unknown figures of a library, or of a GPU known only by architecture', async () => {
      const { session } = await build(await fakeMachine(noGpu))
      expect(said(rung(session, '00_cublas').metrics.theoreticalOccupancy?.reason)).toBe(
        'The rung’s launches are unknown: it launches no kernel of its own',
      )
      const { session: bare } = await build(await fakeMachine(noGpu), 'static:sm_86')
      const { metrics } = rung(bare, '01_naive')
      // A block has 1024 threads. An SM of this architecture holds 1536 threads.
      expect(metrics.theoreticalOccupancy?.value).toBeCloseTo(66.67, 2)
      expect(said(metrics.wavesPerSm)).toMatchObject({
        value: null,
        reason: 'The SM count of the GPU is unknown.',
      })
    })

    it("limits the effect of a compile error or host crash to that rung's figures", async () => {
      const machine = await fakeMachine(noGpu)
      await machine.addFault('02_coalesced', 'compile-error')
      const { session } = await build(machine)
      expect(rung(session, '02_coalesced')).toMatchObject({ status: 'failed', build: null })
      expect(rung(session, '01_naive').status).toBe('not-run')
      setEnv({ FAKE_PROBE: 'crash' })
      const { session: crashed } = await build(await fakeMachine(noGpu))
      const { build: built, metrics } = rung(crashed, '01_naive')
      expect(built?.registersPerThread).toBe(32)
      expect(said(metrics.theoreticalOccupancy?.reason)).toMatch(
        /its host code crashed with SIGSEGV/,
      )
      expect(said(rung(crashed, '01_naive'))).toMatchObject({
        status: 'failed',
        reason: expect.stringContaining(
          'The rung cannot be launched: its host code crashed',
        ) as unknown,
      })
    })

    it('reports a rung whose launch would also fail on a GPU', async () => {
      const machine = await fakeMachine(noGpu)
      await machine.addFault('01_naive', 'probe-failed')
      await machine.addFault('02_coalesced', 'probe-unsupported')
      const { session } = await build(machine)
      const [naive, coalesced] = ['01_naive', '02_coalesced'].map((id) => rung(session, id))
      expect(said(naive)).toMatchObject({
        status: 'failed',
        reason: 'The rung cannot be launched: the reason',
      })
      expect(said(coalesced)).toMatchObject({ status: 'unsupported', reason: 'the reason' })
      expect(said(coalesced?.metrics.wavesPerSm)).toMatchObject({
        value: null,
        reason: 'The rung is unsupported at this size: the reason',
      })
    })

    it('ends if its reference cannot be used', async () => {
      const machine = await fakeMachine(noGpu)
      setEnv({ FAKE_PROBE: 'reference' })
      expect(said(await build(machine).catch(toErrorShape))).toMatchObject({
        kind: 'failed',
        message: 'The reference gemm/reference.cu defines neither.',
        remedy: 'See gemm/reference.cu.',
      })
    })

    it('reports a missing compiler', async () => {
      const machine = await fakeMachine(['nvcc', ...noGpu])
      await expect(build(machine)).rejects.toMatchObject({
        kind: 'missing',
        message: expect.stringContaining('nvcc') as string,
      })
    })

    it('rejects a GPU that is not in the table, and lists the known GPUs', async () => {
      await expect(build(await fakeMachine(noGpu), 'static:gtx-1050')).rejects.toMatchObject({
        kind: 'input',
        message: expect.stringContaining('"gtx-1050"') as string,
        remedy: saying(/h200.*sm_90/),
      })
    })
  })
})

it('a static run rejects a launch whose shape differs from the shape that its kernel was compiled for', () => {
  const launch = (
    block: [number, number, number],
    kernel: Record<string, unknown>,
    grid: [number, number, number] = [3, 1, 1],
  ) =>
    said(shapeFault({ name: 'k', grid, block, kernel: kernel as unknown as MachineKernel }, 0)) ??
    null
  const plain = { maxThreads: null, requiredThreads: null, clusterBlocks: null }
  expect(launch([1024, 1, 1], plain)).toBeNull()
  expect(launch([64, 2, 1], { ...plain, maxThreads: [128, 1, 1] })).toBeNull()
  expect(launch([129, 1, 1], { ...plain, maxThreads: [128, 1, 1] })).toBe(
    'The __launch_bounds__ of k allow 128 threads per block; this launch has 129.',
  )
  expect(launch([64, 2, 1], { ...plain, requiredThreads: [128, 1, 1] })).toBe(
    'k requires blocks of 128 × 1 × 1 threads (__block_size__); this launch has 64 × 2 × 1.',
  )
  expect(launch([32, 1, 1], { ...plain, clusterBlocks: [2, 1, 1] })).toBe(
    'The grid has 3 blocks along x, but k requires a multiple of its cluster size, 2.',
  )
})

describe('the launch probe', async () => {
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

  const nvcc = await findTool('nvcc')
  const shippedHeaders = join(shippedKernels, 'include')
  describe.skipIf(nvcc === null)('with a real nvcc', () => {
    let probe = ''
    beforeAll(async () => {
      const [runner, probeSources] = await Promise.all(
        ['runner', 'probe'].map((name) => readSharedFiles(shippedKernels, name)),
      )
      const built = await buildLaunchProbe(await realCompiler(), {
        runner: runner!,
        probe: probeSources!,
      })
      expect(built).toHaveProperty('artifact')
      if ('artifact' in built) probe = built.artifact
    })

    /**
     * Builds a library from C++ source without CUDA code. nvcc passes the source to the host
     * compiler with nvcc's own headers.
     */
    async function library(
      source: string,
      headers: ReadonlyMap<string, string> = new Map(),
      own?: string,
    ): Promise<string> {
      const folder = own ?? (await tempDir())
      const [text, built] = ['source.cpp', 'library.so'].map((name) => join(folder, name))
      for (const [path, header] of headers) await writeFile(join(folder, basename(path)), header)
      await writeFile(text!, source)
      const [compiler, flags] =
        headers.size === 0
          ? ['c++', ['-fPIC']]
          : [nvcc!, ['-Xcompiler', '-fPIC', '-cudart', 'none', '-I', shippedHeaders]]
      await promisify(execFile)(compiler, ['-shared', ...flags, text!, '-o', built!])
      return built!
    }
    const referenceOf = async (source: string) =>
      probeReference(liveToolbox(null), {
        ...{ probe, stage: 'kl_reference', library: await library(source), signal },
      })
    const launchesOf = async (source: string) => launchesIn(await library(source))
    const launchesIn = (built: string) =>
      probeLaunches(liveToolbox(null), {
        probe,
        rung: 'a',
        library: built,
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
    ])('determines whether %j can be a reference', async (source, fault) => {
      expect(await referenceOf(source)).toBe(fault)
    })

    it('reports a symbol that a reference lacks', async () => {
      const source = 'void missing(); extern "C" void kl_reference(const void*) { missing(); }'
      expect(await referenceOf(source)).toMatch(/^cannot be loaded: .*missing/)
    })

    it('distinguishes a rung that cannot be launched from a rung that does not support the size', async () => {
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

    it('treats a crash or an exit in host code as a failure', async () => {
      const dies = (how: string) =>
        launchesOf(`#include <csignal>
    #include <cstdio>
    #include <cstdlib>
    extern "C" int kl_launch(const void*, void*) { ${how}; return 0; }`)
      expect(said(await dies('raise(SIGSEGV)'))).toMatchObject({
        reason: 'its host code crashed with SIGSEGV',
        fault: 'failed',
      })
      expect(said(await dies('exit(0)'))).toMatchObject({
        reason: 'its host code exited with code 0 before it returned',
        fault: 'failed',
      })
      expect(said(await dies('fputs("CUDA error", stderr); exit(3)'))).toMatchObject({
        reason: 'its host code exited with code 3 before it returned: CUDA error',
        fault: 'failed',
      })
    })

    it('denies a submission the same access that the judge denies', async () => {
      const submitted = async (source: string) => {
        const built = await library(source)
        const field = ['--field', '0:i64:8', '--field', '8:buffer:y']
        const args = ['--struct', '16', ...field, '--sm', '90', '--untrusted', built]
        return (await promisify(execFile)(probe, args)).stdout
      }
      const launch =
        'extern "C" int cudaMalloc(void**, long); extern "C" int kl_launch(const void*, void*)'
      expect(await submitted(`${launch} { void* own; return cudaMalloc(&own, 4); }`)).toContain(
        'it allocates memory, and a submission has its workspace alone',
      )
      const prepare = 'extern "C" int kl_prepare(const void*) { return 0; }'
      expect(await submitted(`${launch} { return 0; } ${prepare}`)).toContain(
        'it defines kl_prepare, and nothing of a submission runs before its launches',
      )
    })

    /**
     * A program that launches a kernel in the same way as nvcc's code and prints the return value.
     * $KL_LAUNCH configures the launch.
     */
    const launching = `#include <cstddef>
    #include <cstdio>
    #include <cstdlib>
    struct Extent { unsigned x, y, z; };
    extern "C" int cudaLaunchKernel(const void*, Extent, Extent, void**, size_t, void*);
    extern "C" int cudaFuncSetAttribute(const void*, int, int);
    extern "C" void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
    static char stub;
    extern "C" int kl_launch(const void*, void*) {
      Extent grid, block;
      int shared, attribute, returned;
      sscanf(getenv("KL_LAUNCH"), "%u,%u,%u %u,%u,%u %d %d %d", &grid.x, &grid.y, &grid.z,
             &block.x, &block.y, &block.z, &shared, &attribute, &returned);
      __cudaRegisterFunction(nullptr, &stub, nullptr, "kernel", 0, nullptr, nullptr, nullptr, nullptr, nullptr);
      if (attribute) if (const int error = cudaFuncSetAttribute(&stub, 8, attribute)) return error;
      const int error = cudaLaunchKernel(&stub, grid, block, nullptr, shared, nullptr);
      return returned ? error : 0;
    }`
    const launched = async (
      grid: string,
      block: string,
      { shared = 0, attribute = 0, returned = true } = {},
    ) => {
      setEnv({ KL_LAUNCH: `${grid} ${block} ${shared} ${attribute} ${Number(returned)}` })
      return launchesIn(launcher)
    }

    // The expected results are from an H200 (`launches` in test/gpu/instructions/counters.cu). The
    // maximum grid and block extents are from CUDA's documentation.
    it.each([
      ['1,1,1', '32,1,1', 48 * 1024, 0, null],
      ['1,1,1', '32,1,1', 48 * 1024 + 4, 0, 'cudaErrorInvalidValue: 49156 bytes of dynamic'],
      ['1,1,1', '32,1,1', 64 * 1024, 64 * 1024, null],
      ['1,1,1', '32,1,1', 65 * 1024, 64 * 1024, 'cudaErrorInvalidValue: 66560 bytes'],
      ['1,1,1', '32,1,1', 227 * 1024, 227 * 1024, null],
      ['1,1,1', '32,1,1', 0, 228 * 1024, 'cudaErrorInvalidValue: cudaFuncSetAttribute asks'],
      ['1,1,1', '1025,1,1', 0, 0, 'cudaErrorInvalidConfiguration: a block of 1025 x 1 x 1'],
      ['1,1,1', '1,1,65', 0, 0, 'cudaErrorInvalidConfiguration: a block of 1 x 1 x 65'],
      ['1,1,1', '65536,65536,1', 0, 0, 'cudaErrorInvalidConfiguration: a block'],
      ['0,1,1', '32,1,1', 0, 0, 'cudaErrorInvalidConfiguration: a grid of 0 x 1 x 1'],
      ['1,65536,1', '32,1,1', 0, 0, 'cudaErrorInvalidConfiguration: a grid of 1 x 65536'],
      ['1,65535,1', '32,1,1', 0, 0, null],
    ])(
      "returns CUDA's result for a launch of %s blocks of %s threads with %d bytes of shared memory and %d allowed",
      async (grid, block, shared, attribute, why) => {
        const found = await launched(grid, block, { shared, attribute })
        if (why === null) expect(found).not.toHaveProperty('reason')
        else
          expect(found).toMatchObject({
            reason: expect.stringContaining(`its launch failed with ${why}`) as unknown,
            fault: 'failed',
          })
      },
    )

    it('detects a failed launch whose error the rung does not return', async () => {
      expect(await launched('0,1,1', '32,1,1', { returned: false })).toMatchObject({
        fault: 'failed',
      })
    })

    /** The source of a rung that reports the value of $KL_ATTRIBUTE in kl_unsupported. */
    const asking = `#include <stdio.h>
    #include <stdlib.h>
    extern "C" int cudaDeviceGetAttribute(int*, int, int);
    extern "C" int kl_launch(const void*, void*) { return 0; }
    extern "C" const char* kl_unsupported(const void*, int) {
      static char text[32];
      int value = 0;
      cudaDeviceGetAttribute(&value, atoi(getenv("KL_ATTRIBUTE")), 0);
      snprintf(text, sizeof text, "%d", value);
      return text;
    }`
    const asked = async (attribute: number) => {
      setEnv({ KL_ATTRIBUTE: String(attribute) })
      return launchesIn(asker)
    }
    let launcher = ''
    let asker = ''
    beforeAll(async () => {
      const builtOnce = async (source: string): Promise<string> =>
        library(source, new Map(), await mkdtemp(join(tmpdir(), 'kl-probed-')))
      launcher = await builtOnce(launching)
      asker = await builtOnce(asking)
    })

    it.each([
      ['cudaDevAttrMultiProcessorCount', 16, '132'],
      ['cudaDevAttrMaxThreadsPerMultiProcessor', 39, '2048'],
      ['cudaDevAttrMaxSharedMemoryPerMultiprocessor', 81, String(228 * 1024)],
      ['cudaDevAttrMaxBlocksPerMultiprocessor', 106, '32'],
      ['cudaDevAttrMaxSharedMemoryPerBlock', 8, String(48 * 1024)],
      ['cudaDevAttrMaxRegistersPerMultiprocessor', 82, '65536'],
    ])('answers %s from the table', async (_name, number, reason) => {
      expect(await asked(number)).toEqual({ reason, fault: 'unsupported' })
    })

    it('reports an attribute that only a GPU can provide', async () => {
      expect(await asked(38)).toEqual({
        reason: 'it queries the device: cudaDevAttrL2CacheSize',
      })
    })

    it.each([
      ['def kl_reference(task):\n    task.y[:] = 1\n', null],
      ['def kl_reference(task:\n    pass\n', /^is not valid Python: line 1: /],
      ['def reference(task):\n    pass\n', 'does not define kl_reference(task)'],
    ])('checks the script of a Python reference: %j', async (script, fault) => {
      const python = await promisify(execFile)('python3', ['--version']).catch(() => null)
      const headers = new Map([
        [pythonHeaderFile, await readFile(join(shippedKernels, pythonHeaderFile), 'utf8')],
        [referenceHeaderFile, referenceHeader(task)],
      ])
      // This test compiles the library as host C++. ladder-folder.test.ts verifies that nvcc can
      // also compile it.
      const built = await library(pythonLibrary(task, script), headers)
      const found = await probeReference(liveToolbox(null), {
        ...{ probe, stage: 'kl_reference', library: built, signal },
      })
      if (python === null || fault === null) expect(found).toBeNull()
      else expect(found).toMatch(fault)
    })
  })
})
