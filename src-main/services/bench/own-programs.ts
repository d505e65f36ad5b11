/**
 * Builds this program's own CUDA code: the runner, the launch probe, the rung that replays a launch
 * description, and the library that times launches.
 */
import {
  activityFlags,
  calibrationFlags,
  launchProbeFlags,
  replayFlags,
  runnerFlags,
} from '../../adapters/tools/nvcc'
import { message, together, type Statement } from '../../domain/messages/message'
import { KernelLadderError } from '../../domain/errors'
import { type BuildOutcome, type Compiler, compile } from './compiler'

/** Builds the runner. Throws a `missing` error if the build fails. */
export async function buildRunner(
  compiler: Compiler,
  runnerSources: ReadonlyMap<string, string>,
): Promise<string> {
  const inputs = [...runnerSources.keys()].filter((path) => /\.(cu|cpp)$/.test(path)).sort()
  const built = await compile(compiler, {
    key: 'nvcc/kl-runner',
    sources: new Map([...compiler.includes, ...runnerSources]),
    inputs,
    flags: runnerFlags,
    output: 'kl-runner',
    libraries: ['-ldl', '-lpthread'],
  })
  return built.artifact ?? ourFault(compiler, built)
}

type ProbeSources = Record<'runner' | 'probe', ReadonlyMap<string, string>>

/** Builds a program that contains a replacement for the CUDA runtime. */
async function buildStandIn(
  compiler: Compiler,
  { runner, probe }: ProbeSources,
  { source, name }: { source: string; name: string },
): Promise<{ artifact: string } | { reason: Statement }> {
  const headers = [...probe].filter(([path]) => !path.endsWith('.cpp') || path === source)
  const built = await compile(compiler, {
    key: `nvcc/${name}`,
    sources: new Map([...compiler.includes, ...runner, ...headers]),
    inputs: [source],
    flags: launchProbeFlags,
    output: name,
    libraries: ['-ldl'],
  })
  return built.artifact
    ? { artifact: built.artifact }
    : { reason: together(message('tools.probeNotBuilt'), built.reason) }
}

/**
 * Builds the probe that replaces the CUDA runtime. Only the probe can determine a rung's launches.
 */
export const buildLaunchProbe = (compiler: Compiler, sources: ProbeSources) =>
  buildStandIn(compiler, sources, { source: 'probe/launches.cpp', name: 'kl-launches' })

/** Builds the program that runs a file's main() with a replacement for the CUDA runtime. */
export const buildProgramRecorder = (compiler: Compiler, sources: ProbeSources) =>
  buildStandIn(compiler, sources, { source: 'probe/program.cpp', name: 'kl-program' })

/**
 * Builds the rung that replays a launch description. The rung's sources come from the judge and the
 * runner. Throws a `missing` error if the build fails.
 */
export async function buildReplay(
  compiler: Compiler,
  sources: ReadonlyMap<string, string>,
): Promise<string> {
  const built = await compile(compiler, {
    key: 'nvcc/kl-replay',
    sources: new Map([...compiler.includes, ...sources]),
    inputs: ['judge/replay.cpp'],
    flags: replayFlags,
    output: 'replay.so',
    libraries: ['-ldl'],
  })
  return built.artifact ?? ourFault(compiler, built)
}

/**
 * Builds the library that times a program's launches through CUPTI. Returns the path of the built
 * file, or the reason that the build failed.
 */
export async function buildActivity(
  compiler: Compiler,
  sources: ReadonlyMap<string, string>,
): Promise<{ artifact: string } | { reason: Statement }> {
  const built = await compile(compiler, {
    key: 'nvcc/kl-activity',
    sources,
    inputs: ['activity/activity.cpp'],
    flags: activityFlags,
    output: 'kl-activity.so',
    libraries: ['-ldl'],
  })
  return built.artifact
    ? { artifact: built.artifact }
    : { reason: built.reason ?? message('asked.cancelled') }
}

/** Builds the microbenchmarks for an architecture. Throws a `missing` error if the build fails. */
export async function buildCalibration(
  compiler: Compiler,
  sources: ReadonlyMap<string, string>,
  sm: string,
): Promise<string> {
  const built = await compile(compiler, {
    key: 'nvcc/kl-calibrate',
    sources: new Map([...compiler.includes, ...sources]),
    inputs: ['calibrate/main.cu'],
    flags: calibrationFlags(sm),
    output: 'kl-calibrate',
    libraries: [],
  })
  return built.artifact ?? ourFault(compiler, built, message('calibration.notBuilt'))
}

/**
 * Returns the error for a failed build of this program's own code. The cause is the toolchain, not
 * the user's code.
 */
function ourFault(
  { signal }: Compiler,
  { reason }: BuildOutcome,
  what: Statement = message('tools.runnerNotBuilt'),
): never {
  if (signal.aborted) throw new KernelLadderError('cancelled', message('asked.cancelled'))
  throw new KernelLadderError('missing', together(what, reason), message('tools.hostCompiler'))
}
