/**
 * Creates a machine with fake tools. The machine has its own PATH, cache, store, and copy of the
 * kernels, which are removed after each test.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { cpSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { type HostMachine, type Setup } from '../../src-main/adapters/machine/machine'
import { readCatalog } from '../../src-main/adapters/catalog/catalog'
import { liveToolbox } from '../../src-main/adapters/tools/live-toolbox'
import { readRaw } from '../../src-main/adapters/tools/raw-files'
import type { RunEvent, RunRequest } from '../../src-main/contract/index'
import type { RungResult, Session } from '../../src-main/domain/session/session'
import { parseNcuRawCsv } from '../../src-main/parsers/ncu/ncu-csv'
import { toMetrics } from '../../src-main/parsers/ncu/ncu-metrics'
import { startRun } from '../../src-main/services/targets/start-run'
import type { StartRunOptions, FinishedRun } from '../../src-main/services/targets/saved-run'
import { afterTest } from '../support'
import { runFake } from '../fakes/in-process'
import { putFakes } from '../fakes/program.mjs'
import type { RunPlan } from '../../src-main/domain/run/plan'
import { localMachine } from '../../src-main/adapters/machine/local-machine'
import { trustFolder } from '../../src-main/services/folders/folder-trust'
import { runLive } from '../../src-main/services/targets/run-local'

export const root = join(import.meta.dirname, '..', '..')
export const recordingsDir = join(root, 'resources', 'recordings')
export const templatesDir = join(root, 'resources', 'templates')
export const shippedKernels = join(root, 'cuda-kernels')

/** Rungs of the ladder that most tests use, in the order of the ladder file. */
export const ladderRungs = (
  JSON.parse(
    readFileSync(join(root, 'cuda-kernels', 'gemm', 'ladders', 'gemm-fp32.json'), 'utf8'),
  ) as {
    rungs: { id: string; as?: string }[]
  }
).rungs.map(({ id, as }) => as ?? id)

export interface Machine {
  dir: string
  /** The machine's own copy of the kernels, for tests that edit them. */
  readonly kernelsDir: string
  store: string
  /** The setup that a host would pass to services. */
  setup: Setup
  /** Returns every call to a fake tool. The first word of each call is the tool's name. */
  calls(tool?: string): string[][]
  /** Adds a line at the top of a rung's source. */
  addFault(rung: string, fault: string): Promise<void>
  editRung(rung: string, edit: (text: string) => string): Promise<void>
  run(request?: Partial<RunRequest>, options?: Partial<StartRunOptions>): Promise<FinishedRun>
  /** Runs a plan that cannot be requested through the contract. */
  runPlan(plan: RunPlan): Promise<FinishedRun>
}

/** Sets environment variables until the test ends. */
export function setEnv(values: Record<string, string>): void {
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, process.env[name]]))
  Object.assign(process.env, values)
  afterTest(() => {
    for (const [name, value] of Object.entries(before))
      if (value === undefined) Reflect.deleteProperty(process.env, name)
      else process.env[name] = value
  })
}

export async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'kl-test-'))
  // Work that a test has canceled may still be writing to the folder.
  afterTest(() => rm(dir, { recursive: true, force: true, maxRetries: 10 }))
  return dir
}

/** Returns this machine with in-process fake tools. */
export const machineOfFakes = (): HostMachine => ({
  ...localMachine(),
  toolbox: (recorder) => liveToolbox(recorder, runFake),
})

/**
 * Creates a machine with fake tools. `without` omits tools. With `processes`, the fakes are real
 * programs, for tests about processes.
 */
export async function fakeMachine(
  without: readonly string[] = [],
  { processes = false } = {},
): Promise<Machine> {
  const dir = await tempDir()
  const store = join(dir, 'sessions')
  const bin = putFakes(join(dir, 'fakes', 'bin'), without)
  const log = join(dir, 'calls.log')
  setEnv({
    PATH: [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
    KERNEL_LADDER_PATH_ONLY: '1',
    KERNEL_LADDER_CACHE: join(dir, 'cache'),
    KERNEL_LADDER_DATA: dir,
    KERNEL_LADDER_CONFIG: join(dir, 'config'),
    FAKE_LOG: log,
    FAKE_NCU: '',
    FAKE_NCU_UNKNOWN: '',
    FAKE_RUNNER: '',
    FAKE_GPU_PROGRAMS: '',
    FAKE_GPUS: '',
    FAKE_GONE_AT: '',
    FAKE_FAULTS: '',
  })
  const assets = {
    kernelsDir: shippedKernels,
    recordingsDir,
    templatesDir,
    gpusDir: join(root, 'resources', 'gpus'),
    buildsDir: '',
    rendererDir: '',
    reportTemplate: '',
    desktopMain: '',
    appArmorProfile: '',
  }
  const setup = { assets, machine: processes ? localMachine() : machineOfFakes() }
  /** Copies the kernels when a test needs an editable copy for the first time. */
  const ownKernels = (): string => {
    if (assets.kernelsDir === shippedKernels) {
      assets.kernelsDir = join(dir, 'cuda-kernels')
      cpSync(shippedKernels, assets.kernelsDir, { recursive: true })
    }
    return assets.kernelsDir
  }
  const editRung = async (rung: string, edit: (text: string) => string): Promise<void> => {
    const path = join(ownKernels(), 'gemm', `${rung}.cu`)
    await writeFile(path, edit(await readFile(path, 'utf8')))
  }
  const usual: StartRunOptions = {
    ...setup,
    appVersion: '0.0.0-test',
    emit: () => undefined,
    signal: new AbortController().signal,
    // Real processes get a long time limit, because a busy machine may start a program slowly.
    settings: { idleSeconds: processes ? 600 : 2 },
  }
  return {
    dir,
    get kernelsDir() {
      return ownKernels()
    },
    store,
    setup,
    calls: (tool) => {
      let text = ''
      try {
        text = readFileSync(log, 'utf8')
      } catch {
        return []
      }
      const all = text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as string[])
      return tool === undefined ? all : all.filter(([name]) => name === tool)
    },
    editRung,
    addFault: (rung, fault) => editRung(rung, (text) => `${text}\n// fault: ${fault}\n`),
    run: (request = {}, options = {}) =>
      startRun(
        {
          ladder: 'gemm-fp32',
          // The fake tools replay a recording of this size.
          size: 1024,
          params: {},
          target: 'local',
          profile: 'card',
          ...request,
        },
        { ...usual, ...options },
      ),
    runPlan: async (plan) => runLive(await readCatalog(assets.kernelsDir), plan, usual),
  }
}

/** Returns a setup with the built-in recordings and with stores below a folder. */
export const setupIn = (dir: string, over: Partial<Setup['assets']> = {}): Setup => {
  const machine = localMachine()
  const folders = {
    ...{ home: dir, cache: join(dir, 'cache'), sessions: join(dir, 'sessions') },
    ...{ drafts: join(dir, 'drafts'), labs: join(dir, 'labs') },
    ladders: join(dir, 'ladders'),
    tunes: join(dir, 'tunes'),
    config: join(dir, 'config'),
  }
  return {
    assets: {
      kernelsDir: '',
      recordingsDir,
      templatesDir,
      gpusDir: join(root, 'resources', 'gpus'),
      buildsDir: '',
      rendererDir: '',
      reportTemplate: '',
      desktopMain: '',
      appArmorProfile: '',
      ...over,
    },
    machine: { ...machine, folders },
  }
}

export const statuses = (session: Session): Record<string, string> =>
  Object.fromEntries(session.rungs.map(({ id, status }) => [id, status]))

/** The launches, with ncu's counts, in the recording that the fake tools replay. */
const { launches: replayed } = parseNcuRawCsv(
  (await readRaw(join(recordingsDir, 'gemm-fp32-h200-1024'), 'ncu/profile'))!.stdout,
)

/**
 * Returns whether ncu reports the same value of a metric for all kernels of a rung. If the values
 * differ, no single value can be derived without ncu.
 */
export const isOneFigure = (rung: string, metric: string): boolean =>
  new Set(
    replayed
      .filter((launch) => launch.rung === rung)
      .map((launch) => toMetrics([launch], 'card')[metric]!.value),
  ).size === 1

export const rung = (session: Session, id: string): RungResult => {
  const found = session.rungs.find((candidate) => candidate.id === id)
  if (!found) throw new Error(`no rung ${id}`)
  return found
}

/** Collects events and lets a test react to each event. */
export function eventLog(onEvent: (event: RunEvent) => void = () => undefined): {
  events: RunEvent[]
  emit: (event: RunEvent) => void
} {
  const events: RunEvent[] = []
  return {
    events,
    emit: (event) => {
      events.push(event)
      onEvent(event)
    },
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A zombie process still has a pid but no longer runs.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

// Functions for a ladder folder that is not a template. The folder's rungs sum a vector. The fake
// tools recognize each rung by the recorded rung that it replays.

export const rungText = (id: string, more = '', like = '02_coalesced'): string =>
  `// @rung ${id}\n// @title ${id}\n// @idea a test\n// like: ${like}\n${more}\n#include "parts.cuh"\n`

export const sumsYaml = `kernel_ladder: 1
id: sums
title: Sums
summary: Of rows.
task:
  sizes: { N: 64 }
  scalars: { scale: { dtype: f32, value: 1 } }
  buffers:
    x: { dtype: f32, shape: [N], access: in, fill: { kind: iota } }
    c: { dtype: f32, shape: [N], access: out }
  reference: reference.cu
  check: { c: { rtol: 1e-5, atol: 0 } }
  work: { flops: N, reads: 4*N, writes: 4*N }
at: [{ N: 64 }, { N: 128 }]
reference_rung: a
rungs: [{ id: a }, { id: b }, { id: c }]
`

export const sumsFiles = (yaml = sumsYaml): Record<string, string> => ({
  'ladder.yaml': yaml,
  'a.cu': rungText('a'),
  'b.cu': rungText('b'),
  'c.cu': rungText('c'),
  'reference.cu': '',
  'parts.cuh': '',
})

export interface SumsOptions {
  trusted?: boolean
  yaml?: string
}

/** Creates a folder with three rungs. The first rung is the reference. */
export async function sumsFolder(
  { dir, setup }: Machine,
  { trusted = true, yaml = sumsYaml }: SumsOptions = {},
): Promise<string> {
  const folder = join(dir, 'own')
  await mkdir(folder)
  for (const [name, text] of Object.entries(sumsFiles(yaml)))
    await writeFile(join(folder, name), text)
  if (trusted) await trustFolder(setup.machine.folders, folder)
  return folder
}
