/** Tests the built-in recordings. */
import { existsSync } from 'node:fs'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { openRaw, readRaw } from '../../../src-main/adapters/tools/raw-files'
import {
  readSession,
  readSessionText,
  shareSession,
} from '../../../src-main/adapters/sessions/session-store'
import { LadderFile } from '../../../src-main/domain/ladder/ladder'
import { LadderDocument } from '../../../src-main/domain/ladder/ladder-document'
import { cardMetricIds } from '../../../src-main/domain/metrics/metrics'
import { type Session } from '../../../src-main/domain/session/session'
import { flops, problemLabel } from '../../../src-main/domain/task/problem'
import {
  listRecordings,
  readRecordings,
  recordingIndex,
} from '../../../src-main/services/sessions/recordings'
import { metricsAsked, withAsked, saying } from '../../support'
import { eventLog, fakeMachine, recordingsDir, root, rung, tempDir } from '../support'
import { instructionKinds, lanes } from '../../../src-main/domain/metrics/instruction-mix-metrics'
import { planProfile } from '../../../src-main/domain/analysis/pass-plan'
import { roofline } from '../../../src-main/domain/analysis/roofline'
import { sharedSessions } from '../../../src-main/adapters/disk/shared-sessions'
import { recordedRaw } from '../../../src-main/adapters/tools/recorded-raw'

const ofCommits = ({ ladder }: Session): boolean => ladder.id.endsWith('-commits')

/** Returns the rungs that ran, without the rungs excluded by `--profile-skip`. */
const profiledRungs = ({ rungs, settings }: Session): Session['rungs'] =>
  rungs.filter(({ id, status }) => status !== 'failed' && !settings.profileSkipped?.includes(id))

describe('the session service', async () => {
  const recordings = await readRecordings(recordingsDir)
  type Recording = (typeof recordings)[number]

  /** The first recording for each task, or for each ladder without a task. */
  const usual = [
    ...new Map(
      recordings
        .toReversed()
        .map((one) => [one.session.ladder.task?.id ?? one.session.ladder.id, one]),
    ).values(),
  ]
  const others = recordings.filter((one) => !usual.includes(one))

  /**
   * Returns whether ncu printed `inf` waves. For a kernel with 48 KiB of dynamic and some static
   * shared memory, ncu assumes that no block fits.
   */
  const ncuGaveInfinity = ({ rungs, settings }: Session, rungId: string, id: string): boolean => {
    const { dynamicSharedBytes, staticSharedBytes } =
      rungs.find((rung) => rung.id === rungId)?.launches?.[0]?.resources ?? {}
    const isOlder = settings.profile === 'card'
    return isOlder && id === 'wavesPerSm' && dynamicSharedBytes === 49152 && staticSharedBytes !== 0
  }

  describe('the shipped recordings', () => {
    it('cover every ladder at its intended sizes', () => {
      const found = recordings.map(
        ({ session }) =>
          `${session.ladder.id} ${problemLabel(session.problem!)} ${session.settings.profile}`,
      )
      expect(found.sort()).toEqual(
        [
          'gemm-int8 4096³ standard',
          'gemm-int8 4096³ standard',
          'gemm-half-result 4096³ standard',
          'gemm-half-result 4096³ standard',
          'gemm-fp32 4096³ standard',
          'gemm-fp32 4096³ deep',
          'gemm-fp32 1024³ card',
          'gemm-fp32 2048³ card',
          'gemm-fp32 8192³ card',
          'gemm-tensor 4096³ standard',
          'gemm-tensor 4096³ deep',
          'gemm-tensor 8192³ card',
          'gemm-3xtf32 4096³ standard',
          'gemm-3xtf32 8192³ card',
          'seed-cutlass 4096³ standard',
          'seed-cutlass 128×128×4096 standard',
          'seed-cutlass 128×128×4096 standard',
          'seed-cutlass 4096×4096×256 standard',
          'seed-cutlass 256×256×16384 standard',
          'seed-gtx1050 4096³ standard',
          'seed-gtx1050 2048³ card',
          'seed-gtx1050 1024³ card',
          'seed-rtx3060 4096³ standard',
          'seed-rtx3090 1024³ standard',
          'seed-t4 16384×4096×4096 card',
          'reduction N = 67108864 standard',
          'reduction N = 67108864 deep',
          'reduction N = 4194304 card',
          'reduction N = 1073741824 card',
          'layer-norm 8192×4096 standard',
          'stencil-3d 512³ standard',
          'joint-histogram N = 268435456 standard',
          'softmax-lab 4096² standard',
          'sum-history-commits N = 67108864 standard',
          'transpose 8192² standard',
          'transpose 8192² deep',
          'transpose 8191×4097 standard',
          'transpose 8191×4097 deep',
          'scan N = 268435456 standard',
          'scan N = 268435456 deep',
          'scan N = 4194304 card',
          'scan N = 1073741824 card',
          'softmax 8192² standard',
          'softmax 8192² standard',
          'softmax 4096² standard',
          'softmax 8192² deep',
          'softmax 4096² standard',
          'softmax 4096×32768 standard',
          'softmax 4096×32768 standard',
          'attention 4096×16×128 standard',
          'attention 4096×16×128 standard',
          'attention 4096×16×128 deep',
          'attention 16384×16×128 standard',
          'attention 16384×16×128 standard',
          'gemm-bf16 4096³ standard',
          'gemm-bf16 4096³ deep',
          'gemm-bf16 8192³ standard',
          'gemm-fp8 4096³ standard',
          'gemm-fp8 4096³ deep',
          'gemm-fp8 8192³ standard',
          // The recordings below are from an H100.
          'attention 4096×16×128 standard',
          'gemm-bf16 4096³ standard',
          'gemm-fp8 4096³ standard',
          'gemm-fp32 4096³ standard',
          'gemm-fp32 1024³ card',
          'reduction N = 67108864 standard',
          'scan N = 268435456 standard',
          'softmax 8192² standard',
          'transpose 8192² standard',
          'seed-cutlass 128×128×4096 standard',
          'seed-cutlass 128×128×4096 standard',
        ].sort(),
      )
    })

    const replays = async ({ name, session }: Recording): Promise<void> => {
      const machine = await fakeMachine()
      const replayed = await machine.run({
        ladder: session.ladder.id,
        target: `recorded:${name}`,
        size: undefined,
      })
      expect(withAsked(replayed.session, session)).toEqual({
        ...withAsked(session, session),
        target: { kind: 'recorded', name },
      })
      expect(machine.calls()).toEqual([])
    }
    it.each(usual)('$name replays to the session that was originally saved', replays)
    it.each(others)(
      '$name replays to the session that was originally saved',
      { tags: ['thorough'] },
      replays,
    )

    it.each(recordings)(
      '$name has every rung with status ok and seven measured card metrics',
      ({ session }) => {
        // In a ladder of commits, one commit does not compile.
        const failed = ofCommits(session) ? ['failed'] : []
        expect(new Set(session.rungs.map(({ status }) => status))).toEqual(
          new Set(['ok', ...failed]),
        )
        for (const { id: rungId, metrics } of profiledRungs(session))
          for (const id of cardMetricIds)
            if (!ncuGaveInfinity(session, rungId, id))
              expect(metrics[id]).toMatchObject({
                evidence: 'measured',
                value: expect.any(Number) as number,
              })
            else expect(metrics[id]).toMatchObject({ reason: { key: 'records.noFigure' } })
      },
    )

    const isAnonymous = async ({ folder }: Recording): Promise<void> => {
      const named = /GPU-[0-9a-f]{8}-|<serial>\d|\/home\/|\/root\/|\/tmp\/|\/site-packages\//
      expect((await readSessionText(folder))!.text).not.toMatch(named)
      const raw = await openRaw(folder)
      for (const key of raw.keys) {
        const { stdout, stderr } = (await raw.get(key))!
        expect(stdout, key).not.toMatch(named)
        expect(stderr, key).not.toMatch(named)
      }
    }
    it.each(usual)('$name contains no serial number, user, or folder from its machine', isAnonymous)
    it.each(others)(
      '$name contains no serial number, user, or folder from its machine',
      { tags: ['thorough'] },
      isAnonymous,
    )

    /**
     * Returns whether a recording has only some of its ladder's rungs. A deep recording has the
     * reference and the chain of rungs that leads to the best rung. For the ladder's other rungs,
     * ncu's replay would take minutes.
     */
    const isOfSome = ({ settings, ladder, problem }: Session): boolean =>
      (settings.profile === 'deep' && !['gemm-fp32', 'gemm-bf16'].includes(ladder.id)) ||
      // This recording compares two ways to split K in one rung.
      (ladder.id === 'seed-cutlass' && problem?.sizes.n === 128)
    const has = (session: Session, id: string): boolean =>
      session.rungs.some((candidate) => candidate.id === id)

    /** The minimum ratio to cuBLAS's throughput, by ladder, size, and rung. */
    const bars: Record<string, Record<string, Record<string, number>>> = {
      'gemm-fp32': {
        4096: {
          '02_coalesced': 0.12,
          '03_shared_tile': 0.18,
          '04_thread_tile_1d': 0.34,
          '05_thread_tile_2d': 0.52,
          '06_float4': 0.64,
          '08_warp_tile': 0.8,
          '08_half_block': 0.9,
          '10_cp_async': 0.92,
          '11_block_128x256': 1,
          '14_shape_dispatch': 1,
        },
        1024: { '14_shape_dispatch': 0.85 },
        2048: { '14_shape_dispatch': 0.95 },
        8192: { '14_shape_dispatch': 1 },
      },
      'gemm-tensor': {
        4096: {
          '53_wmma_staged': 0.35,
          '54_mma_sync': 0.55,
          '55_mma_sync_persistent': 0.68,
          '56_wgmma_tma': 0.48,
          '57_warp_specialized': 0.82,
          '58_persistent': 0.99,
          '58_overlapped_epilogue': 1.01,
        },
        8192: {
          '53_wmma_staged': 0.35,
          '55_mma_sync_persistent': 0.65,
          '57_warp_specialized': 0.82,
          '58_persistent': 1,
          '58_overlapped_epilogue': 1.03,
        },
      },
      'gemm-3xtf32': { 4096: { '62_tf32x3_wgmma': 1.5 }, 8192: { '62_tf32x3_wgmma': 1.5 } },
      'gemm-bf16': {
        4096: {
          '72_mma_sync_nt': 0.55,
          '77_tma_store_nt': 0.99,
          '80_overlapped_epilogue_nt': 1.005,
        },
        8192: {
          '72_mma_sync_nt': 0.55,
          '77_tma_store_nt': 1.01,
          '80_overlapped_epilogue_nt': 1.03,
        },
      },
      'gemm-fp8': {
        4096: { '79_serpentine_nt': 0.99, '80_overlapped_epilogue_nt': 1.01 },
        8192: { '79_serpentine_nt': 0.99, '80_overlapped_epilogue_nt': 1.01 },
      },
    }

    it.each(recordings.filter(({ session }) => session.ladder.id in bars))(
      '$name reaches its minimum ratios to cuBLAS',
      ({ session }) => {
        const all = bars[session.ladder.id]![session.problem!.sizes.m!]!
        const here = Object.entries(all).filter(([id]) => !isOfSome(session) || has(session, id))
        expect(here).not.toEqual([])
        for (const [id, bar] of here)
          expect(rung(session, id).timing?.ratioToReference, id).toBeGreaterThanOrEqual(bar)
      },
    )

    it.each([4096, 256])(
      'in seed-cutlass at K = %d, a fused epilogue takes less time than a second kernel',
      (k) => {
        const { session } = recordings.find(
          ({ session: { ladder, problem } }) =>
            ladder.id === 'seed-cutlass' && problem?.sizes.m === 4096 && problem.sizes.k === k,
        )!
        const time = (id: string): number => rung(session, id).timing!.medianMs
        expect(time('23_fused_epilogue')).toBeLessThan(time('22_unfused_epilogue'))
        expect(time('23_fused_direct')).toBeLessThan(time('22_unfused_epilogue'))
      },
    )

    it.each(recordings)('$name has every rung of its current ladder', async ({ session }) => {
      // test/services/commits.test.ts compares recordings of commits with their repository.
      if (ofCommits(session)) return
      const { id, task } = session.ladder
      const shipped = join(root, 'cuda-kernels', task!.id, 'ladders', `${id}.json`)
      // A template gets its ladder name from the folder that is created from the template.
      const folder = id === 'softmax-lab' ? 'templates/softmax' : `examples/${id}`
      const own = join(root, 'resources', folder, 'ladder.yaml')
      const { rungs } = existsSync(shipped)
        ? LadderFile.parse(JSON.parse(await readFile(shipped, 'utf8')))
        : LadderDocument.parse(parse(await readFile(own, 'utf8')))
      if (isOfSome(session)) {
        expect(rungs.map((rung) => rung.as ?? rung.id)).toEqual(
          expect.arrayContaining(session.rungs.map((rung) => rung.id)),
        )
        expect(session.rungs[0]!.id).toBe(session.ladder.reference)
        return
      }
      // The ladder's Python rungs were added after this recording was made.
      const isOlder = id === 'softmax' && session.settings.profile === 'card'
      const kept = rungs.filter((rung) => !isOlder || !/^(00|2.)_/.test(rung.id))
      expect(kept.length).toBe(rungs.length - (isOlder ? 3 : 0))
      expect(session.rungs.map((rung) => rung.id)).toEqual(kept.map((rung) => rung.as ?? rung.id))
    })
  })

  describe('the list of recordings', () => {
    const [name, other] = ['seed-t4-h200', 'gemm-fp32-h200-1024'] as const
    const indexFile = join(recordingsDir, 'index.json')

    /**
     * Returns a folder with two recordings. The recordings in `indexed` have an entry in the index
     * but no readable session.
     */
    async function some(indexed: readonly string[]): Promise<string> {
      const dir = await tempDir()
      const { recordings: all } = await recordingIndex(recordingsDir)
      for (const one of [name, other]) {
        const { text } = (await readSessionText(join(recordingsDir, one)))!
        await shareSession(indexed.includes(one) ? '{"schema":0}' : text, join(dir, one))
      }
      const recordings = Object.fromEntries(indexed.map((one) => [one, all[one]]))
      await writeFile(join(dir, 'index.json'), JSON.stringify({ schema: 1, recordings }))
      return dir
    }

    it('matches the sessions (if not, run `npm run recordings`)', async () => {
      const text = await readFile(indexFile, 'utf8')
      expect(`${JSON.stringify(await recordingIndex(recordingsDir), null, 2)}\n`).toBe(text)
      expect(Object.keys((JSON.parse(text) as { recordings: object }).recordings)).toHaveLength(73)
    })

    it('is created without reading indexed sessions', async () => {
      const listed = await listRecordings(await some([name, other]))
      expect(listed.map((one) => one.name).sort()).toEqual([other, name])
    })

    it('includes recordings that are not in the index, and reads each one once per process', async () => {
      const dir = await some([other])
      const first = await listRecordings(dir)
      await rm(join(dir, sharedSessions))
      expect(await listRecordings(dir)).toEqual(first)
      const whole = await listRecordings(recordingsDir)
      for (const { name: listed, summary } of first)
        expect(summary).toEqual(whole.find((one) => one.name === listed)!.summary)
      expect(first).toHaveLength(2)
    })

    it('is created from the sessions if the index is damaged', async () => {
      const dir = await some([])
      await writeFile(join(dir, 'index.json'), '{"schema":')
      expect((await listRecordings(dir)).map((one) => one.name).sort()).toEqual([other, name])
    })
  })

  describe('replaying', () => {
    it('uses the 4096 recording if no name is given', async () => {
      const machine = await fakeMachine()
      const { session } = await machine.run({ target: 'recorded', size: undefined })
      expect(session.target.name).toBe('gemm-fp32-h200-4096')
    })

    it('uses the deep recording only if the deep level is requested', async () => {
      const machine = await fakeMachine()
      const deep = await machine.run({ target: 'recorded', size: undefined, profile: 'deep' })
      expect(deep.session.target.name).toBe('gemm-fp32-h200-4096-deep')
      const standard = await machine.run({
        target: 'recorded',
        size: undefined,
        profile: 'standard',
      })
      expect(standard.session.target.name).toBe('gemm-fp32-h200-4096')
    })

    it('uses the recording with the requested size', async () => {
      const machine = await fakeMachine()
      const { session } = await machine.run({ target: 'recorded' })
      expect(session.target.name).toBe('gemm-fp32-h200-1024')
    })

    it('returns the recorded figures of the requested rungs', async () => {
      const machine = await fakeMachine()
      const all = await machine.run({ target: 'recorded' })
      const some = await machine.run({ target: 'recorded', rungs: ['03_shared_tile', '01_naive'] })
      expect(some.session.rungs).toEqual(
        all.session.rungs.filter(({ id }) => ['01_naive', '03_shared_tile'].includes(id)),
      )
    })

    it('reports progress like a live run', async () => {
      const machine = await fakeMachine()
      const log = eventLog()
      await machine.run({ target: 'recorded' }, { emit: log.emit })
      const stages = new Set(
        log.events.flatMap((event) => (event.type === 'stage' ? [event.stage] : [])),
      )
      expect(stages).toEqual(new Set(['prepare', 'build', 'measure', 'profile']))
    })

    it('reports only the requested rungs', async () => {
      const machine = await fakeMachine()
      const log = eventLog()
      await machine.run({ target: 'recorded', rungs: ['01_naive'] }, { emit: log.emit })
      const named = log.events.flatMap((event) => {
        if (event.type === 'rung') return [event.rung]
        if (event.type === 'result') return [event.result.id]
        return event.type === 'started' ? event.rungs.map(({ id }) => id) : []
      })
      expect(new Set(named)).toEqual(new Set(['01_naive']))
    })

    it('creates a session that can be saved', async () => {
      const machine = await fakeMachine()
      const out = join(machine.dir, 'copy')
      const { session } = await machine.run({ target: 'recorded' }, { out })
      expect(await readSession(out)).toEqual(session)
      expect(await readdir(out)).toEqual(
        expect.arrayContaining(['raw.jsonl', 'sources', 'session.json']),
      )
    })

    it.each([
      [{ target: 'recorded:nope' }, /no recording named "nope"/],
      [{ target: 'recorded', size: 5 }, /was not recorded at 5³/],
      [{ target: 'recorded', ladder: 'nope' }, /of the ladder "nope"/],
      [{ target: 'recorded', params: { TM: 4 } }, /was recorded with TM=8, not 4/],
      [{ target: 'recorded', params: { ZZ: 4 } }, /has a parameter named "ZZ"/],
      [{ target: 'recorded', at: { alpha: 2 } }, /was recorded with alpha = 1, not 2/],
      [
        { target: 'recorded', rungs: ['99'] },
        /^recorded:gemm-fp32-h200-1024 has no rung named "99"/,
      ],
    ])('rejects requests that were not recorded: %j', async (request, message) => {
      const machine = await fakeMachine()
      await expect(machine.run(request)).rejects.toMatchObject({
        kind: 'input',
        message: expect.stringMatching(message) as string,
        remedy: saying(/./),
      })
    })

    it('a recording with fewer rungs than its ladder replays its rungs and reports a missing one', async () => {
      const machine = await fakeMachine()
      const dir = await tempDir()
      const shipped = join(recordingsDir, 'gemm-fp32-h200-1024')
      const whole = await readSession(shipped)
      await cp(recordedRaw(shipped), recordedRaw(join(dir, 'early')))
      const early = <T extends { id: string }>(rungs: T[]): T[] => rungs.slice(0, 7)
      const ladder = { ...whole.ladder, rungs: early(whole.ladder.rungs) }
      const fewer = { ...whole, ladder, rungs: early(whole.rungs) }
      await shareSession(JSON.stringify(fewer), join(dir, 'early'))
      const assets = { ...machine.setup.assets, recordingsDir: dir }
      const { session } = await machine.run({ target: 'recorded' }, { assets })
      expect(session.rungs).toEqual(early(whole.rungs))
      await expect(
        machine.run({ target: 'recorded', rungs: ['14_shape_dispatch'] }, { assets }),
      ).rejects.toMatchObject({
        kind: 'input',
        message: 'recorded:early has no rung named "14_shape_dispatch".',
        remedy: saying('06_float4'),
      })
    })

    it('a live session becomes a recording when copied to the recordings folder', async () => {
      const machine = await fakeMachine()
      const live = await machine.run()
      const dir = await tempDir()
      await cp(live.folder!, join(dir, 'mine'), { recursive: true })
      const assets = { ...machine.setup.assets, recordingsDir: dir }
      // Repeat with a cached build, because a run must also store the compiler output that it
      // reuses.
      const again = await machine.run()
      await cp(again.folder!, join(dir, 'again'), { recursive: true })
      for (const [name, made] of [
        ['mine', live],
        ['again', again],
      ] as const) {
        const { session } = await machine.run({ target: `recorded:${name}` }, { assets })
        expect(session.rungs.map(({ timing, metrics }) => [timing, metrics])).toEqual(
          made.session.rungs.map(({ timing, metrics }) => [timing, metrics]),
        )
      }
    })
  })
})

describe('the standard level', async () => {
  const recordings = (await readRecordings(recordingsDir)).filter(
    ({ session }) => session.settings.profile === 'standard',
  )
  const named = (name: string): Session =>
    recordings.find((recording) => recording.name === name)!.session
  const value = (session: Session, id: string, metric: string): number =>
    rung(session, id).metrics[metric]!.value!

  describe.each(recordings)('$name', ({ name, session, folder }) => {
    it('has every metric that the level requests for every rung', async () => {
      const { call } = (await readRaw(folder, 'ncu/profile'))!
      const asked = metricsAsked('standard', call.argv)
      expect(asked.length).toBeGreaterThan(40)
      for (const { id, metrics } of profiledRungs(session))
        for (const definition of asked)
          expect(metrics[definition.id]?.value, `${id} ${definition.id}`).toBeTypeOf('number')
    })

    // In this recording, rungs of 39 to 669 ms take up to 250 times as long under ncu. In other
    // recordings, ncu slows rungs down a tenth as much.
    const isFar = name.startsWith('attention-h200-16384')
    it.skipIf(isFar)(
      'took at most eight passes per kernel, as estimated, in about the estimated time',
      async () => {
        const plan = planProfile({
          level: 'standard',
          computeCapability: session.device!.computeCapability,
          rungs: profiledRungs(session).map(({ id, timing, launches, prepared }) => ({
            ...{ id, medianMs: timing!.medianMs, kernels: launches?.length, prepared },
          })),
        })
        expect(plan.passes).toBeLessThanOrEqual(8)
        expect(new Set(profiledRungs(session).map(({ profile }) => profile!.passes))).toEqual(
          new Set([plan.passes]),
        )
        const { call } = (await readRaw(folder, 'ncu/profile'))!
        // Three factors raise the cost of profiling above the estimate. The library of gemm-nt also
        // searches for its kernel under ncu. Another GPU was profiled at the same time. With
        // Python, ncu saves more memory per pass.
        const isPython = session.rungs.some(({ file }) => file.endsWith('.py'))
        const least = session.ladder.task?.id === 'gemm-nt' || isPython ? 0.5 : 0.7
        expect(plan.seconds / call.seconds).toBeGreaterThan(least)
        expect(plan.seconds / call.seconds).toBeLessThan(1.25)
      },
    )

    it("has a roofline with at least the product's operations, from the counter or from 2·m·n·k", () => {
      // Other tasks count operations that are not exactly one FP32 instruction, such as a
      // comparison or an exponential.
      if (session.ladder.task?.id !== 'gemm') return
      const product = flops(session.ladder.task, session.problem!)!
      const { paths, missing } = roofline(session)
      for (const { level } of missing) expect(level).toBe('l1')
      for (const { rung: id, basis, operations } of paths.dram) {
        // If FP32 instructions account for the whole product, a busy tensor pipe did other work.
        const all = value(session, id, 'fp32Operations') >= product
        const tensor = !all && value(session, id, 'tensorUtilization') >= 1
        expect(basis, id).toBe(tensor ? 'tensor' : 'counted')
        expect(operations, id).toBeGreaterThanOrEqual(product)
        // For a matrix with 128 columns, a 128 × 256 block computes twice as many elements as
        // required.
        const wasted = session.problem!.sizes.n! < 256 ? 2 : 1
        expect(operations, id).toBeLessThan(1.01 * wasted * product)
      }
    })
  })

  describe('tensor instructions', () => {
    /**
     * Returns the number of HMMA instructions per warp that a product needs. ncu counts one HMMA
     * per 2·m·n·k operations of its shape.
     */
    const needed = (session: Session, shape: number, products: number): number =>
      (products * flops(session.ladder.task, session.problem!)!) / (2 * shape)

    it.each([
      ['gemm-tensor-h200-4096', '54_mma_sync', 16 * 8 * 16, 1],
      ['gemm-3xtf32-h200-4096', '60_tf32x3', 16 * 8 * 8, 3],
    ])('of %s, rung %s, belong to no instruction category', (name, id, shape, products) => {
      const session = named(name)
      const instructions = value(session, id, 'instructions')
      const kinds = instructionKinds.reduce((sum, kind) => sum + value(session, id, kind), 0)
      const share = needed(session, shape, products) / instructions
      const rest = 1 - kinds / (lanes * instructions)
      expect(share).toBeGreaterThan(0.2)
      expect(rest).toBeGreaterThanOrEqual(share - 1e-3)
      expect(rest).toBeLessThan(share + 0.05)
      expect(value(session, id, 'fp32Operations')).toBeLessThan(
        0.05 * flops(session.ladder.task, session.problem!)!,
      )
    })
  })
})
