/** Tests builds with output from the real compiler. */
import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  eventLog,
  fakeMachine,
  ladderRungs,
  type Machine,
  rung,
  shippedKernels,
  statuses,
  tempDir,
} from '../support'
import { said, saying, gemmProblem } from '../../support'
import { diskBuildCache } from '../../../src-main/adapters/disk/build-cache'
import { readCatalog, readSharedFiles } from '../../../src-main/adapters/catalog/catalog'
import { findTool } from '../../../src-main/adapters/tools/live-toolbox'
import { buildRung } from '../../../src-main/services/bench/build-rung'
import { isPythonFile } from '../../../src-main/domain/ladder/rung'
import { planRun } from '../../../src-main/services/run/plan'
import { measureArgs, profileArgs, sanitizeArgs } from '../../../src-main/adapters/tools/runner'
import { runProcess } from '../../../src-main/adapters/tools/process'
import { keeping, keptNvcc, keptRunsHere, orSkip, realCompiler } from '../../kept-nvcc'
import { inEnglish } from '../../../src-main/domain/text/english'
import { staticRungFlags } from '../../../src-main/adapters/tools/nvcc'
import { buildGpu } from '../../../src-main/domain/gpu/gpu-table'
import { caseOf } from '../../../src-main/domain/task/problem'
import { openCompiler } from '../../../src-main/services/bench/compiler'
import { buildReference } from '../../../src-main/services/bench/reference'
import { buildLaunchProbe, buildRunner } from '../../../src-main/services/bench/own-programs'
import { inParallel } from '../../../src-main/services/bench/in-parallel'
import { probeLaunches } from '../../../src-main/adapters/tools/launch-probe'

/** Stored nvcc outputs, including the built programs, because these tests run the programs. */
const keptBuilt = await keptNvcc('built', { artifacts: true })
afterAll(() => {
  if (keeping) keptBuilt.save()
})

it('a build starts no further parallel work after a failure', async () => {
  const begun: number[] = []
  const all = inParallel(
    [1, 2, 3, 4, 5, 6, 7, 8].flatMap((one) => Array(64).fill(one)),
    async (one: number) => {
      begun.push(one)
      await Promise.resolve()
      throw new Error(`number ${one}`)
    },
  )
  await expect(all).rejects.toThrow('number 1')
  expect(begun.length).toBeLessThan(512)
  expect(new Set(begun)).toEqual(new Set([1]))
})

describe('compilation', () => {
  /** Number of builds: the runner, the task's reference, and one library per rung. */
  const builds = 2 + ladderRungs.length

  describe('building a ladder', () => {
    it('compiles the runner and each rung once, and recompiles nothing if nothing changed', async () => {
      const machine = await fakeMachine()
      const first = await machine.run()
      expect(machine.calls('nvcc').filter((call) => !call.includes('--version'))).toHaveLength(
        builds,
      )
      expect(first.session.rungs.map(({ build }) => build?.cached)).toEqual(
        ladderRungs.map(() => false),
      )

      const before = machine.calls('nvcc').length
      const second = await machine.run()
      expect(machine.calls('nvcc')).toHaveLength(before)
      expect(second.session.rungs.map(({ build }) => build?.cached)).toEqual(
        ladderRungs.map(() => true),
      )
    })

    it('compiles the longest source first, because it would otherwise finish last', async () => {
      const machine = await fakeMachine()
      await machine.editRung('03_shared_tile', (text) => `${text}\n// ${'long '.repeat(10_000)}\n`)
      const log = eventLog()
      await machine.run({}, { emit: log.emit })
      const begun = log.events.flatMap((event) =>
        event.type === 'rung' && event.stage === 'build' && event.state === 'running'
          ? [event.rung]
          : [],
      )
      expect(begun[0]).toBe('03_shared_tile')
    })

    it('recompiles only the edited rung', async () => {
      const machine = await fakeMachine()
      await machine.run()
      const before = machine.calls('nvcc').length
      await machine.editRung('04_thread_tile_1d', (text) => `${text}\n// touched\n`)
      await machine.run()
      const later = machine.calls('nvcc').slice(before)
      expect(later).toHaveLength(1)
      expect(later[0]).toContain('gemm/04_thread_tile_1d.cu')
    })

    it('recompiles a rung for another parameter value and keeps both builds in the cache', async () => {
      const machine = await fakeMachine()
      const only = { rungs: ['03_shared_tile'] }
      await machine.run(only)
      const before = machine.calls('nvcc').length
      await machine.run({ ...only, params: { TILE: 16 } })
      const later = machine.calls('nvcc').slice(before)
      expect(later).toHaveLength(1)
      expect(later[0]).toContain('-DTILE=16')
      await machine.run(only)
      expect(machine.calls('nvcc')).toHaveLength(before + 1)
    })

    it('recompiles everything when a shared header changes', async () => {
      const machine = await fakeMachine()
      await machine.run()
      const before = machine.calls('nvcc').length
      await appendFile(`${machine.kernelsDir}/include/kernel_ladder.h`, '\n// touched\n')
      await machine.run()
      expect(machine.calls('nvcc').length - before).toBe(builds)
    })

    it("recompiles only the task's rungs when a task's header changes", async () => {
      const machine = await fakeMachine()
      await machine.run()
      const before = machine.calls('nvcc').length
      await appendFile(`${machine.kernelsDir}/gemm/tensor_common.cuh`, '\n// touched\n')
      await machine.run()
      const later = machine.calls('nvcc').slice(before)
      expect(later.filter((call) => call.some((word) => word.startsWith('runner/')))).toEqual([])
      // nvcc recompiles the reference and the rungs. Each source finds the header, regardless of
      // the source's folder.
      expect(later).toHaveLength(1 + ladderRungs.length)
      for (const call of later) expect(call.slice(call.lastIndexOf('-I'))[1]).toBe('gemm')
    })

    it('compiles for the architecture that the runner found, with parameters as macros', async () => {
      const machine = await fakeMachine()
      await machine.run({ rungs: ['05_thread_tile_2d'] })
      const call = machine
        .calls('nvcc')
        .find((words) => words.includes('gemm/05_thread_tile_2d.cu'))
      expect(call).toContain('arch=compute_90,code=sm_90')
      expect(call).toEqual(expect.arrayContaining(['-DBM=128', '-DTM=8', '-lineinfo', '-shared']))
    })

    it('shows a compile error at its file and line, and continues with the other rungs', async () => {
      const machine = await fakeMachine()
      await machine.addFault('03_shared_tile', 'compile-error')
      const { session } = await machine.run()
      const failed = rung(session, '03_shared_tile')
      expect(failed.status).toBe('failed')
      const error = failed.diagnostics.find(({ severity }) => severity === 'error')
      expect(error?.line).toBeGreaterThan(0)
      expect(error?.message).toContain('undefined')
      expect(said(failed.reason)).toContain(`:${error?.line}:`)
      expect(statuses(session)).toEqual({
        ...Object.fromEntries(ladderRungs.map((id) => [id, 'ok'])),
        '03_shared_tile': 'failed',
      })
    })

    it('reads registers, shared memory, and spills from ptxas output', async () => {
      const machine = await fakeMachine()
      const { session } = await machine.run({ rungs: ['03_shared_tile'] })
      const { build } = rung(session, '03_shared_tile')
      expect(build?.registersPerThread).toBeGreaterThan(0)
      // The kernel has two tiles of 32 × 64 floats.
      expect(build?.staticSharedBytes).toBe(2 * 32 * 64 * 4)
      expect(build?.spillStoreBytes).toBe(0)
    })

    it('reports each rung as it is built', async () => {
      const machine = await fakeMachine()
      const log = eventLog()
      await machine.run({}, { emit: log.emit })
      const built = log.events.flatMap((event) =>
        event.type === 'rung' && event.stage === 'build' && event.state === 'done'
          ? [event.rung]
          : [],
      )
      expect(new Set(built)).toEqual(new Set(ladderRungs))
    })
  })

  describe('parameters that are allowed only separately', () => {
    const request = { rungs: ['11_block_128x256'], params: { BK: 32, STAGES: 4 } }

    it.each(['local', 'static:h200'])(
      'end the run before any launch if no other rung was requested (%s)',
      async (target) => {
        const machine = await fakeMachine()
        await machine.addFault('11_block_128x256', 'refused')
        await expect(machine.run({ ...request, target })).rejects.toMatchObject({
          kind: 'input',
          message:
            '11_block_128x256 does not support BK=32, STAGES=4: BM must be a multiple of TM.',
          remedy: saying('Nothing was launched'),
        })
        expect(machine.calls('runner').filter(([, command]) => command === 'measure')).toEqual([])
      },
    )

    it('affect only the rungs that cannot use them', async () => {
      const machine = await fakeMachine()
      await machine.addFault('11_block_128x256', 'refused')
      const rungs = ['10_cp_async', '11_block_128x256']
      const { session } = await machine.run({ ...request, rungs })
      expect(statuses(session)).toEqual({ '10_cp_async': 'ok', '11_block_128x256': 'failed' })
      expect(said(rung(session, '11_block_128x256').reason)).toContain(
        'BM must be a multiple of TM',
      )
    })

    it('are not blamed if a rung also fails to compile without them', async () => {
      const machine = await fakeMachine()
      await machine.addFault('11_block_128x256', 'refused')
      const { session } = await machine.run({ rungs: request.rungs })
      expect(statuses(session)).toEqual({ '11_block_128x256': 'failed' })
    })
  })
})

describe('nvcc', async () => {
  const nvcc = await findTool('nvcc')
  const catalog = await readCatalog(shippedKernels)
  const plan = planRun(catalog, { ladder: 'gemm-fp32', params: {}, profile: 'none' })

  const kept = await keptNvcc('rungs')
  afterAll(() => {
    if (keeping) kept.save()
  })

  describe('stored output for the shipped kernels', () => {
    it('shows that every rung of every ladder compiles with its parameters', async (test) => {
      const compiler = await kept.compiler()
      const planned = new Map(
        catalog.ladders
          .filter(({ id }) => id !== plan.ladder.id)
          .flatMap(({ id }) => {
            const own = planRun(catalog, { ladder: id, params: {}, profile: 'none' })
            // nvcc builds no kernel for a Python rung. python-rung.test.ts covers Python rungs.
            return own.rungs
              .filter((entry) => !isPythonFile(entry.rung.file))
              .map((entry) => ({ own, entry }))
          })
          .map((one) => [`${one.entry.rung.file} ${JSON.stringify(one.entry.rung.params)}`, one]),
      )
      const work = inParallel([...planned], async ([what, { own, entry }]) => {
        const sm = entry.rung.header.requires === 'sm_90a' ? '90a' : '90'
        const { build, reason } = await buildRung(compiler, own, entry, sm)
        expect(said(reason), what).toBeUndefined()
        // With rows of 128 KiB, a block of 1024 threads uses all 64 registers per thread and spills
        // a few bytes. On Hopper, FP8 fragments are converted to FP16. The conversion needs
        // registers in addition to the registers for the sums.
        const most = what.startsWith('softmax/') ? 924 : what.startsWith('gemm-nt/72') ? 4 : 0
        expect(build?.spillStoreBytes ?? 0, what).toBeLessThanOrEqual(most)
      })
      await orSkip(test, work)
    }, 300_000)

    it("shows no spills in gemm-fp32 for each rung's oldest architecture and the newest recorded one", async (test) => {
      const compiler = await kept.compiler()
      const work = inParallel(
        plan.rungs.flatMap((planned) => {
          const { requires } = planned.rung.header
          return [requires?.slice('sm_'.length) ?? '75', '90'].map((sm) => ({ planned, sm }))
        }),
        async ({ planned, sm }) => {
          const { build, diagnostics, reason } = await buildRung(compiler, plan, planned, sm)
          expect(said(reason), planned.rung.id).toBeUndefined()
          expect(diagnostics, planned.rung.id).toEqual([])
          if (planned.rung.id === '00_cublas') expect(build?.registersPerThread).toBeNull()
          else expect(build).toMatchObject({ spillStoreBytes: 0, cached: false })
        },
      )
      await orSkip(test, work)
    }, 180_000)

    it("shows that every task's reference compiles with its generated header", async (test) => {
      const compiler = await kept.compiler()
      const work = inParallel([...catalog.tasks], async ([id, task]) => {
        const headers = catalog.headers.get(id)!
        const reference = catalog.references.get(id)!
        expect(await buildReference(compiler, { task, headers }, reference, '90')).toMatch(
          /reference\.so$/,
        )
      })
      await orSkip(test, work)
    })

    it.skipIf(keeping)('matches the current kernels', () => {
      expect(kept.stale, 'see test/kept-nvcc.ts').toEqual([])
    })

    it('has line information that points to the source in the cache', async (test) => {
      const compiler = await kept.compiler()
      const planned = plan.rungs.find(({ rung }) => rung.id === '01_naive')!
      const work = buildRung(compiler, plan, planned, '90').then(async ({ artifact }) => {
        const source = await readFile(join(artifact!, '..', 'src', planned.rung.file), 'utf8')
        expect(source).toBe(planned.source)
      })
      await orSkip(test, work)
    })
  })

  // The stored build is a Linux x64 program. On other platforms, nvcc builds the runner.
  describe.skipIf(nvcc === null && !keptRunsHere)('the runner', () => {
    const builtRunner = async (): Promise<string> => {
      const compiler = await (keptRunsHere ? keptBuilt.compiler() : realCompiler())
      return buildRunner(compiler, await readSharedFiles(shippedKernels, 'runner'))
    }

    it('compiles and reports the GPU, or its absence, as JSON', async (test) => {
      const runner = await orSkip(test, builtRunner())
      const { stdout, exitCode } = await runProcess({ file: runner, args: ['device'] })
      const event = JSON.parse(stdout.split('\n')[0]!) as { event: string; kind?: string }
      if (exitCode === 0) expect(event.event).toBe('device')
      else expect(event).toMatchObject({ event: 'error', kind: 'no-device' })
    })

    it('accepts the arguments for every case: with flags, with an input buffer, and with a different type', async (test) => {
      const runner = await orSkip(test, builtRunner())
      const rungs = [
        { id: 'a', artifact: '/none.so', flags: [] },
        { id: 'b', artifact: '/none.so', flags: ['bias', 'relu'] },
        { id: 'c', artifact: '/none.so', flags: [], options: { dtype: 'f16' } },
      ]
      for (const beta of [0, 0.5]) {
        const problem = gemmProblem(64, 48, 32, { alpha: 1.5, beta, dtype: 'bf16' })
        const own = { problem, taskFolder: null, ownerPid: process.pid }
        const expected = { library: '/none.so', shown: 'reference.cu' }
        const call = { task: plan.task, ...own, seed: 1, rungs, expected }
        const measured = { ...call, reference: 'a' }
        for (const args of [
          measureArgs({ ...measured, cacheState: 'warm', ceilings: true, maxSeconds: 0.5 }),
          profileArgs(call),
          sanitizeArgs(call),
        ]) {
          // The runner parses its arguments before it searches for a GPU.
          const { stdout } = await runProcess({ file: runner, args })
          expect(stdout).toContain('"event":')
          expect(stdout).not.toContain('bad-argument')
          const refused = await runProcess({ file: runner, args: [...args, '--field', '4:i64:1'] })
          expect(refused.stdout).toContain('bad-argument')
        }
      }
    })
  })

  describe.skipIf(nvcc === null)('with a real nvcc', () => {
    it('an error is reported at its file and line, and is not stored as a result', async () => {
      const real = await realCompiler(diskBuildCache(await tempDir()))
      const good = plan.rungs.find(({ rung }) => rung.id === '02_coalesced')!
      const lines = good.source.split('\n')
      const line = lines.findIndex((text) => text.includes('float sum = 0.0f;'))
      const bad = { ...good, source: lines.with(line, '  float sum = nothing;').join('\n') }
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const { artifact, reason, diagnostics } = await buildRung(real, plan, bad, '90')
        expect(artifact).toBeNull()
        expect(said(reason)).toBe(
          `Does not compile: gemm/02_coalesced.cu:${line + 1}: identifier "nothing" is undefined`,
        )
        expect(diagnostics[0]).toMatchObject({ severity: 'error', line: line + 1 })
      }
      const { artifact, build } = await buildRung(real, plan, good, '90')
      expect(artifact).not.toBeNull()
      // A build of correct code returns the same result as the stored nvcc output.
      const { build: told } = await buildRung(await kept.compiler(), plan, good, '90')
      expect({ ...build, seconds: 0 }).toEqual({ ...told, seconds: 0 })
    })

    it('a broken parameter rule is reported with the message of its static_assert', async () => {
      const real = await realCompiler(diskBuildCache(await tempDir()))
      const planned = plan.rungs.find(({ rung }) => rung.id === '05_thread_tile_2d')!
      const rung = { ...planned.rung, params: { ...planned.rung.params, TM: 3 } }
      const { reason } = await buildRung(real, plan, { ...planned, rung }, '90')
      expect(said(reason)).toContain('BM must be a multiple of TM')
    })
  })
})

describe("a task's flags", async () => {
  const after = (words: readonly string[], option: string): (string | undefined)[] =>
    words.flatMap((word, index) => (word === option ? [words[index + 1]] : []))

  async function machineWithEpilogue(without: readonly string[] = []): Promise<Machine> {
    const machine = await fakeMachine(without)
    await machine.editRung('02_coalesced', (text) =>
      text.replace('// @dtype', '// @epilogue relu, bias\n// @dtype'),
    )
    return machine
  }

  describe('turned on by a header', () => {
    it("are stored in the session and passed to the runner as the rung's case", async () => {
      const machine = await machineWithEpilogue()
      const { session } = await machine.run({ rungs: ['01_naive', '02_coalesced'] })
      const calls = machine.calls('runner').filter(([, command]) => command === 'measure')
      expect(calls.length).toBeGreaterThan(0)
      for (const call of calls) {
        expect(after(call, '--case')).toEqual(['f32', 'f32+bias+relu'])
        expect(after(call, '--rung-case')).toEqual(['02_coalesced=f32+bias+relu'])
        expect(after(call, '--buffer').filter((word) => word?.startsWith('bias:'))).toEqual([
          'bias:f32:in:1024:uniform,-1,1',
        ])
        expect(after(call, '--reference-field')).toContain('36:i32:1')
      }
      const profiled = machine.calls('ncu').filter((call) => call.includes('profile'))
      expect(profiled.length).toBeGreaterThan(0)
      for (const call of profiled)
        expect(after(call, '--rung-case')).toEqual(['02_coalesced=f32+bias+relu'])
      expect(rung(session, '02_coalesced').flags).toEqual(['bias', 'relu'])
      expect(rung(session, '01_naive').flags).toEqual([])
    })

    it('are passed to the launch probe in a run without a GPU', async () => {
      const machine = await machineWithEpilogue(['nvidia-smi', 'ncu'])
      await machine.run({ target: 'static:h200', rungs: ['01_naive', '02_coalesced'] })
      const flagged = machine
        .calls('launches')
        .map((call) => after(call, '--field').filter((word) => /^(80|88):/.test(word ?? '')))
      // The probe also checks the reference, but does not launch it.
      expect(flagged.sort()).toEqual([[], [], ['80:buffer:bias', '88:i32:1']])
    })
  })

  describe('stored nvcc output', () => {
    it('shows a separate elementwise kernel only for the unfused rung', async (test) => {
      await orSkip(test, launchesOfEpilogues())
    }, 180_000)

    it.skipIf(keeping)('matches the current kernels', () => {
      expect(keptBuilt.stale, 'see test/kept-nvcc.ts').toEqual([])
    })

    async function launchesOfEpilogues(): Promise<void> {
      const { toolbox, cache } = await keptBuilt.machine()
      const compiler = await openCompiler(
        { toolbox: toolbox(null), cache },
        await readSharedFiles(shippedKernels, 'include'),
      )
      const catalog = await readCatalog(shippedKernels)
      const plan = planRun(catalog, {
        ladder: 'seed-cutlass',
        rungs: ['22_unfused_epilogue', '23_fused_direct', '23_fused_epilogue'],
        params: {},
        profile: 'none',
      })
      const { rungs, task } = plan
      const probe = await buildLaunchProbe(compiler, {
        runner: await readSharedFiles(shippedKernels, 'runner'),
        probe: await readSharedFiles(shippedKernels, 'probe'),
      })
      if (!('artifact' in probe)) throw new Error(inEnglish(probe.reason))
      const launched: Record<string, unknown> = {}
      for (const planned of rungs) {
        const { artifact, build } = await buildRung(compiler, plan, planned, '90', staticRungFlags)
        expect(build).toMatchObject({ spillStoreBytes: 0, spillLoadBytes: 0 })
        for (const flags of [planned.rung.header.flags, []]) {
          const answer = await probeLaunches(compiler.toolbox, {
            probe: probe.artifact,
            rung: planned.rung.id,
            library: artifact!,
            // Neither m nor n is a multiple of the tile size. However, the size of a row of n
            // elements is a multiple of 16 bytes.
            task,
            own: caseOf(gemmProblem(1000, 1004, 256), { flags }),
            gpu: buildGpu('h200')!,
            signal: compiler.signal,
          })
          if (!('kernels' in answer)) throw new Error(inEnglish(answer.reason))
          launched[`${planned.rung.id} ${flags.length > 0 ? 'with' : 'without'}`] =
            answer.kernels.map(({ name, grid }) => [/\w+(?=<)/.exec(name)?.[0], grid[0]])
        }
      }
      // The first kernel has 8 × 4 blocks of 128 × 256 elements. The second kernel has 8 × 32
      // blocks of 128 columns by 32 rows.
      expect(launched).toEqual({
        '22_unfused_epilogue with': [
          ['gemm', 32],
          ['addBiasActivate', 256],
        ],
        '22_unfused_epilogue without': [['gemm', 32]],
        '23_fused_direct with': [['gemm', 32]],
        '23_fused_direct without': [['gemm', 32]],
        '23_fused_epilogue with': [['gemm', 32]],
        '23_fused_epilogue without': [['gemm', 32]],
      })
    }
  })
})
