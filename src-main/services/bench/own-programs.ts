/** Builds this program's own CUDA programs: the runner and the launch probe. */
import { launchProbeFlags, runnerFlags } from '../../adapters/tools/nvcc'
import { message, together, type Statement } from '../../domain/messages/message'
import { KernelLadderError } from '../../domain/errors'
import { type Compiler, compile } from './compiler'

/** Builds the runner; it is our own code, so a failure is a toolchain problem and not a result. */
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
  if (built.artefact) return built.artefact
  if (compiler.signal.aborted) throw new KernelLadderError('cancelled', message('asked.cancelled'))
  throw new KernelLadderError(
    'missing',
    together(message('tools.runnerNotBuilt'), built.reason),
    message('tools.hostCompiler'),
  )
}

/** Builds the probe that stands in for the CUDA runtime; without it, a rung's launches are unknown. */
export async function buildLaunchProbe(
  compiler: Compiler,
  { runner, probe }: Record<'runner' | 'probe', ReadonlyMap<string, string>>,
): Promise<{ artefact: string } | { reason: Statement }> {
  const built = await compile(compiler, {
    key: 'nvcc/kl-launches',
    sources: new Map([...compiler.includes, ...runner, ...probe]),
    inputs: [...probe.keys()].filter((path) => path.endsWith('.cpp')).sort(),
    flags: launchProbeFlags,
    output: 'kl-launches',
    libraries: ['-ldl'],
  })
  return built.artefact
    ? { artefact: built.artefact }
    : { reason: together(message('tools.probeNotBuilt'), built.reason) }
}
