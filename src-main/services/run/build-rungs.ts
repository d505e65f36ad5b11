/** Compiles a plan's rungs. Each rung goes to the next stage as soon as it is built. */
import { isPythonFile } from '../../domain/ladder/rung'
import { message } from '../../domain/messages/message'
import type { PlannedRung, RunPlan } from '../../domain/run/plan'
import { architectureFor } from '../bench/architecture'
import { buildRung } from '../bench/build-rung'
import type { Compiler } from '../bench/compiler'
import { startInParallel } from '../bench/in-parallel'
import { refuseImpossible } from '../catalog/parameters'
import type { RungBuild } from './finding'
import type { Progress } from './progress'
import type { Device } from '../../domain/gpu/device'

/**
 * The rungs to build, and the GPU for which to build them. The rungs and the GPU depend on the kind
 * of run.
 */
export interface BuildWay {
  /** GPU for which the rungs are built. */
  readonly gpu: Pick<Device, 'name' | 'computeCapability'>
  /** GPU on which the rungs run, or null if nothing runs on a GPU. */
  readonly device: Device | null
  /** Returns nvcc's flags for an architecture such as `90a`, written without the prefix `sm_`. */
  readonly flags: (sm: string) => readonly string[]
  /** The plan's rungs, and additional rungs that are built with them. */
  readonly rungs: readonly PlannedRung[]
}

export interface Builds {
  /** Build results by rung id, in compile order. */
  readonly each: ReadonlyMap<string, Promise<RungBuild>>
  /**
   * Returns all build results in the order of `BuildWay.rungs`. Throws an input error if the
   * requested parameters are impossible for every rung.
   */
  all(): Promise<ReadonlyMap<string, RungBuild>>
}

export function buildRungs(
  compiler: Compiler,
  plan: RunPlan,
  way: BuildWay,
  progress: Progress,
): Builds {
  const step = progress.stage('build', way.rungs.length)
  // Compile long sources first, because they usually take longest and would otherwise delay the
  // last build.
  const longestFirst = [...way.rungs].sort((one, other) => other.source.length - one.source.length)
  const builds = startInParallel(longestFirst, async (planned) => {
    if (compiler.signal.aborted) return { planned, outcome: null, unsupported: null }
    const build = await buildOne(compiler, plan, planned, way, progress)
    if (!compiler.signal.aborted) {
      progress.built(build)
      step()
    }
    return build
  })
  const each = new Map(longestFirst.map(({ rung }, index) => [rung.id, builds[index]!]))
  // Callers that await a build receive its failure. If no caller awaits the build, this handler
  // prevents an unhandled rejection.
  for (const one of builds) one.catch(() => undefined)
  return {
    each,
    async all() {
      await Promise.all(builds)
      const built = new Map<string, RungBuild>()
      for (const { rung } of way.rungs) built.set(rung.id, await each.get(rung.id)!)
      const diagnostics = [...built].map(
        ([id, { outcome }]) => [id, outcome?.diagnostics ?? []] as const,
      )
      refuseImpossible(plan, new Map(diagnostics))
      return built
    },
  }
}

async function buildOne(
  compiler: Compiler,
  plan: RunPlan,
  planned: PlannedRung,
  { gpu, device, flags }: BuildWay,
  progress: Progress,
): Promise<RungBuild> {
  const { rung } = planned
  const architecture =
    device === null && isPythonFile(rung.file)
      ? { unsupported: message('records.compiledWhereRun') }
      : architectureFor(rung.header.requires, gpu)
  if ('unsupported' in architecture)
    return { planned, outcome: null, unsupported: architecture.unsupported }
  progress.rung(rung.id, 'build', 'running')
  const outcome = await buildRung(compiler, plan, planned, architecture.sm, flags)
  return { planned, outcome, unsupported: null }
}
