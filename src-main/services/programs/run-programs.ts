/**
 * Runs a ladder of programs.
 *
 * First, each program runs once for verification. Then the programs run in alternating rounds to
 * measure wall times. Finally, each program runs once under ncu to measure its kernel times. Every
 * run's exit code and output are checked.
 */
import { join } from 'node:path'
import type { ProgramFolder } from '../../adapters/catalog/program-folder'
import { previewProgram } from '../../adapters/tools/ncu-program'
import { ncuVersion } from '../../adapters/tools/ncu'
import { checkOutput, keepExpected, markOf, unreadable } from '../../adapters/tools/program-output'
import { type ProcessResult } from '../../adapters/tools/process'
import type { Toolbox } from '../../adapters/tools/toolbox'
import type { RunEvent, RunRequest } from '../../contract'
import { toErrorShape, type ErrorShape } from '../../domain/errors'
import { message, together, type Statement } from '../../domain/messages/message'
import { sessionSchemaVersion, type Session } from '../../domain/session/session'
import { printTarget, type Target } from '../../domain/targets/targets'
import { mostTimed, toPreview, whyNothing } from './nothing'
import { programResult, stateOf, type ProgramState } from './program-rung'
import { selectRungs } from '../catalog/resolve'
import { inTurn } from '../bench/gpu-turn'
import type { Device } from '../../domain/gpu/device'
import { startable } from '../../adapters/tools/script-programs'

export interface ProgramsJob {
  folder: ProgramFolder
  request: Pick<RunRequest, 'rungs' | 'profile'>
  toolbox: Toolbox
  /** The GPU that the programs should use, if known. */
  gpu: { device: Device; pciBusId: string } | null
  waitForGpu: boolean
  identity: { id: string; createdAt: string; target: Target }
  appVersion: string
  emit: (event: RunEvent) => void
  signal: AbortSignal
}

interface ProgramsOutcome {
  session: Session
  /** The error to report if ncu or access to GPU counters is missing. */
  missing: ErrorShape | null
}

/**
 * Minimum time limit under ncu, in seconds. Each launch takes a few milliseconds longer under ncu.
 */
const leastProfileSeconds = 600

export async function runPrograms(job: ProgramsJob): Promise<ProgramsOutcome> {
  const { folder, request, toolbox, gpu, identity, emit, signal } = job
  const started = performance.now()
  const all = folder.ladder.rungs.map(stateOf)
  const ladderId = folder.ladder.id
  const chosen = selectRungs(
    all.map((state) => ({ id: state.rung.id, state })),
    request.rungs,
    message('asked.theLadder', { ladder: ladderId }),
  ).map(({ state }) => state)
  const reference = all.find(({ rung }) => rung.id === folder.ladder.reference)
  const run = new Set([...(reference ? [reference] : []), ...chosen])
  const states = all.filter((state) => run.has(state))
  const shown = { ...folder.ladder, rungs: chosen.map(({ rung }) => rung) }
  const result = (state: ProgramState) => programResult(state, reference, folder)
  const publish = (state: ProgramState): void => {
    if (chosen.includes(state)) emit({ type: 'result', result: result(state) })
  }

  emit({
    type: 'started',
    ladder: ladderId,
    target: printTarget(identity.target),
    task: null,
    problem: null,
    rungs: chosen.map(({ rung }) => ({ id: rung.id, title: rung.title })),
  })
  if (gpu) emit({ type: 'gpu', device: gpu.device, ceilings: null })
  const warnings: Statement[] = []
  const work = async (): Promise<GpuTimes | null> => {
    await measure(job, { all, states, publish })
    return request.profile === 'none' || signal.aborted
      ? null
      : gpuTimes(job, { states: chosen, publish, warnings })
  }
  const times = await (gpu
    ? inTurn(
        {
          toolbox,
          gpu: { name: gpu.device.name, pciBusId: gpu.pciBusId },
          wait: job.waitForGpu,
          signal,
          onNotice: (notice) => emit({ type: 'log', level: 'warning', message: notice }),
        },
        work,
      )
    : work())
  return {
    missing: times?.missing ?? null,
    session: {
      schema: sessionSchemaVersion,
      ...identity,
      appVersion: job.appVersion,
      ladder: shown,
      problem: null,
      device: gpu?.device ?? null,
      tools: { nvcc: null, ncu: times?.version ?? null },
      settings: {
        nvccFlags: [],
        seed: 0,
        profile: times?.version == null ? 'none' : request.profile,
        clockControl: times?.version == null ? null : 'none',
        cacheControl: times?.version == null ? null : 'none',
      },
      completion: signal.aborted ? 'cancelled' : 'complete',
      elapsedSeconds: (performance.now() - started) / 1000,
      warnings,
      rungs: chosen.map(result),
    },
  }
}

interface Measuring {
  /** All rungs in the ladder. The first rung may provide the expected output. */
  all: readonly ProgramState[]
  /** Rungs to time. */
  states: readonly ProgramState[]
  publish: (state: ProgramState) => void
}

async function measure(job: ProgramsJob, { all, states, publish }: Measuring): Promise<void> {
  const { folder, toolbox, emit, signal } = job
  const { runs, output } = folder.programs
  const total = states.length * (runs + 1)
  let done = 0
  const step = (): void => emit({ type: 'stage', stage: 'measure', done, total })
  step()
  const scratch = await toolbox.scratch()
  try {
    let expected = output?.expected === undefined ? null : join(folder.folder, output.expected)
    let unknown: Statement | null = null
    const [first] = all
    if (output && expected === null && first) {
      await runOnce(job, first, 0, null)
      if (first.trouble) unknown = together(first.trouble.reason)
      else expected = await keepExpected(join(folder.folder, output.file), scratch.path)
      // The first program is correct by definition. The other programs are compared with the first
      // program.
      if (states.includes(first)) done += 1
    }
    for (const state of states) {
      const { id } = state.rung
      if (signal.aborted) return
      emit({ type: 'rung', rung: id, stage: 'verify', state: 'running' })
      if (state.run === null && unknown === null) {
        await runOnce(job, state, 0, expected)
        done += 1
      }
      if (unknown !== null && state !== first)
        state.trouble = {
          status: 'failed',
          reason: message('programs.noExpected', { file: output?.file ?? '', why: unknown }),
        }
      if (state.trouble) publish(state)
      emit({ type: 'rung', rung: id, stage: 'verify', state: state.trouble ? 'failed' : 'done' })
      step()
    }
    for (let round = 1; round <= runs; round += 1)
      for (const state of states) {
        if (signal.aborted) break
        if (state.trouble) continue
        emit({ type: 'rung', rung: state.rung.id, stage: 'time', state: 'running' })
        const ms = await runOnce(job, state, round, expected)
        if (ms !== null && !state.trouble) state.samplesMs.push(ms)
        if (state.trouble) publish(state)
        done += 1
        emit({
          ...{ type: 'rung', rung: state.rung.id, stage: 'time' },
          state: state.trouble ? 'failed' : 'done',
        })
        step()
      }
    for (const state of states) {
      state.timed = true
      publish(state)
    }
  } finally {
    await scratch.remove()
  }
}

/** Maximum number of output bytes that are stored to explain a failure. */
const keptOutput = 64 * 1024

/**
 * Runs a program and returns its wall time in milliseconds, or null if it was stopped. Stores any
 * error in the program's state.
 */
async function runOnce(
  { folder, toolbox, signal }: ProgramsJob,
  state: ProgramState,
  round: number,
  expected: string | null,
): Promise<number | null> {
  const { exit_code: wanted, output, timeout } = folder.programs
  const path = output && join(folder.folder, output.file)
  const before = path === undefined ? null : await markOf(path)
  const [file, ...args] = state.command
  const ended = await toolbox.exec({
    tool: 'program',
    key: `program/${state.rung.id}-${round}`,
    file,
    args,
    cwd: folder.folder,
    timeoutMs: timeout * 1000,
    passOn: { to: () => undefined, keep: keptOutput },
    signal,
  })
  if (ended.outcome === 'cancelled') return null
  const { command } = state
  state.run = { command: [...command], exitCode: ended.exitCode, output: null }
  const reason = whyFailed(ended, file, wanted, timeout)
  if (reason) {
    state.trouble = { status: 'failed', reason }
    return null
  }
  if (output && path !== undefined) {
    const after = await markOf(path)
    if (after === null || after === before) {
      const why = message('programs.notWritten', { program: file, file: output.file })
      state.trouble = { status: 'failed', reason: why }
      return null
    }
    try {
      const checked = await checkOutput(path, expected, output)
      state.run.output = checked.output
      // Keep the first verification result unless a later output is wrong.
      if (round === 0 || checked.reason) state.verify = checked.verify
      if (checked.reason) state.trouble = { status: 'wrong', reason: checked.reason }
    } catch (error) {
      state.trouble = { status: 'failed', reason: unreadable(output.file, error) }
    }
  }
  return ended.seconds * 1000
}

function whyFailed(
  { outcome, exitCode, signal, stdout, stderr }: ProcessResult,
  program: string,
  expected: number,
  seconds: number,
): Statement | null {
  // If the system cannot execute the file, the process has neither an exit code nor a signal.
  if (outcome === 'not-found' || (outcome === 'exited' && exitCode === null))
    return message('programs.noSuchProgram', { program })
  if (outcome === 'timeout') return message('programs.timedOut', { program, seconds })
  if (outcome === 'signalled')
    return message('programs.signalled', { program, signal: signal ?? '' })
  if (exitCode === expected) return null
  const output = (stderr.trim() || stdout.trim()).split('\n').slice(-3).join(' ').slice(-400)
  const values = { program, exitCode: exitCode ?? '', expected }
  return output === ''
    ? message('programs.ended', values)
    : message('programs.endedSaying', { ...values, text: output })
}

interface GpuTimes {
  version: string | null
  missing: ErrorShape | null
}

/**
 * Runs each program once under ncu, which times every launch. An ncu failure does not invalidate
 * the wall times.
 */
async function gpuTimes(
  { folder, toolbox, emit, signal }: ProgramsJob,
  {
    states,
    publish,
    warnings,
  }: {
    states: readonly ProgramState[]
    publish: (state: ProgramState) => void
    warnings: Statement[]
  },
): Promise<GpuTimes> {
  const warn = (warning: Statement): void => {
    warnings.push(warning)
    emit({ type: 'log', level: 'warning', message: warning })
  }
  const lost = (shape: ErrorShape): GpuTimes => {
    warn(message('programs.noGpuTimes', { why: together(shape.message, shape.remedy) }))
    return { version: null, missing: shape.kind === 'missing' ? shape : null }
  }
  const ncu = await toolbox.locate('ncu')
  if (!ncu)
    return lost({
      kind: 'missing',
      message: message('doctor.toolMissing', { tool: 'ncu' }),
      remedy: message('programs.installNcu'),
    })
  const version = await ncuVersion(toolbox, ncu, signal)
  const open = states.filter(({ trouble, timed }) => timed && !trouble)
  let done = 0
  const step = (): void => emit({ type: 'stage', stage: 'profile', done, total: open.length })
  step()
  for (const state of open) {
    if (signal.aborted) break
    const rung = state.rung.id
    emit({ type: 'rung', rung, stage: 'profile', state: 'running' })
    const call = {
      ncu,
      key: `ncu/${rung}`,
      cwd: folder.folder,
      command: await startable(state.command, folder.folder),
      filters: { kernels: null, nvtx: null, skip: 0, count: null },
      timeoutMs: 1000 * Math.max(leastProfileSeconds, folder.programs.timeout),
      signal,
      onOutput: () => undefined,
    }
    let found = false
    try {
      const preview = await previewProgram(toolbox, call, mostTimed)
      const launches = preview.launches.flatMap(toPreview)
      // If only some of the kernels have times, their sum is not the program's time.
      found = launches.length > 0 && preview.outcome === 'exited'
      if (!found) throw await whyNothing(toolbox, call, preview)
      if (!preview.whole) warn(message('programs.firstLaunches', { count: launches.length }))
      state.launches = launches
      publish(state)
    } catch (error) {
      const shape = toErrorShape(error)
      // If a requirement for ncu is missing for one program, the other programs will fail in the
      // same way.
      if (shape.kind === 'missing') return lost(shape)
      if (shape.kind !== 'cancelled')
        warn(message('programs.noGpuTime', { program: rung, why: shape.message }))
    }
    done += 1
    emit({ type: 'rung', rung, stage: 'profile', state: found ? 'done' : 'failed' })
    step()
  }
  return { version, missing: null }
}
