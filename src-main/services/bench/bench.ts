/** Prepares a machine to build and run a catalog's rungs. All kinds of runs use this class. */
import { readSharedFiles, type Catalog } from '../../adapters/catalog/catalog'
import { requireSettings } from '../../adapters/tools/build-settings'
import { staticRungFlags } from '../../adapters/tools/nvcc'
import type { Expected } from '../../adapters/tools/runner'
import type { Toolbox } from '../../adapters/tools/toolbox'
import type { BuildCache } from '../../adapters/disk/build-cache'
import type { RunPlan } from '../../domain/run/plan'
import { smOf } from './architecture'
import { openCompiler, type BuildTools, type Compiler } from './compiler'
import { queryDevice } from './gpu'
import { buildActivity, buildLaunchProbe, buildProgramRecorder, buildRunner } from './own-programs'
import { buildReference } from './reference'
import { queryDriver } from './tools'
import type { Device } from '../../domain/gpu/device'

type Sources = ReadonlyMap<string, string>

/** Sources shared by all of a library's rungs, by path. */
export interface SharedSources {
  readonly include: Sources
  readonly runner: Sources
}

/** Catalog data that builds need. */
type Library = Pick<Catalog, 'root' | 'references'>

/** Returns a function that runs `work` on the first call. Later calls return the same promise. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | null = null
  return () => (answer ??= work())
}

/** Builds and runs rungs on a machine. Tools are located and programs are built on first use. */
export class Bench implements BuildTools {
  readonly toolbox: Toolbox
  readonly cache: BuildCache

  private constructor(
    { toolbox, cache }: BuildTools,
    /** The library, or null in a replay, because a replay builds nothing. */
    private readonly library: Library | null,
    readonly sources: SharedSources,
    readonly signal: AbortSignal,
  ) {
    this.toolbox = toolbox
    this.cache = cache
  }

  /** @param library null in a replay */
  static async open(
    tools: BuildTools,
    library: Library | null,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<Bench> {
    const read = (folder: string): Promise<Sources> =>
      library ? readSharedFiles(library.root, folder) : Promise.resolve(new Map())
    const [include, runner] = await Promise.all([read('include'), read('runner')])
    return new Bench(tools, library, { include, runner }, signal)
  }

  /** Locates nvcc. Throws `missing` if the machine has no nvcc. */
  readonly compiler = once(() => openCompiler(this, this.sources.include, this.signal))

  /**
   * Returns nvcc after checking that all files in the plan's `build:` settings exist. Throws
   * `missing` if a file or nvcc is missing.
   */
  async compilerFor({ ladder, rungs }: Pick<RunPlan, 'ladder' | 'rungs'>): Promise<Compiler> {
    if (!this.toolbox.replays)
      await requireSettings([ladder.build ?? {}, ...rungs.map(({ rung }) => rung.build ?? {})])
    return this.compiler()
  }

  /** Builds the runner and returns its path. Throws `missing` if the build fails. */
  readonly runner = once(async () => buildRunner(await this.compiler(), this.sources.runner))

  /**
   * Builds the launch probe. Returns the path of the built file, or the reason that the build
   * failed.
   */
  readonly launchProbe = once(async () =>
    buildLaunchProbe(await this.compiler(), await this.probeSources()),
  )

  /**
   * Builds the program that runs a main() without a GPU. Returns the path of the built file, or the
   * reason that the build failed.
   */
  readonly programRecorder = once(async () =>
    buildProgramRecorder(await this.compiler(), await this.probeSources()),
  )

  private readonly probeSources = once(async () => ({
    ...this.sources,
    probe: this.library
      ? await readSharedFiles(this.library.root, 'probe')
      : new Map<string, string>(),
  }))

  /**
   * Builds the library that times a program's launches. Returns the path of the built file, or the
   * reason that the build failed.
   */
  readonly activity = once(async () => {
    const own = this.library ? await readSharedFiles(this.library.root, 'activity') : new Map()
    return buildActivity(await this.compiler(), new Map([...this.sources.runner, ...own]))
  })

  /** Queries the driver for its GPUs. Throws `missing` if there is no driver. */
  readonly driver = once(() => queryDriver(this.toolbox, this.signal))

  /** Returns the GPU that CUDA selects. Throws `missing` if CUDA finds no GPU. */
  readonly gpu = once(async () => {
    const driver = await this.driver()
    return queryDevice(this.toolbox, await this.runner(), driver, this.signal)
  })

  /** Returns the architecture of the machine's GPU, or null if CUDA finds no GPU. */
  async ownArchitecture(): Promise<string | null> {
    // If there is no driver, skip the runner. The runner could not run, and building it takes a
    // minute.
    if ((await this.toolbox.locate('nvidia-smi')) === null) return null
    try {
      const { device } = await queryDevice(this.toolbox, await this.runner(), null, this.signal)
      return smOf(device)
    } catch {
      return null
    }
  }

  /**
   * Returns the reference source for checking a task's results. Returns null in a replay, or if a
   * trusted rung replaces the reference.
   */
  referenceOf(plan: Pick<RunPlan, 'task' | 'trusted'>) {
    return plan.trusted ? null : (this.library?.references.get(plan.task.id) ?? null)
  }

  /**
   * Builds the reference or the trusted rung for checking a plan's results. Returns null if the
   * plan has neither a reference nor a trusted rung.
   */
  async oracle(plan: RunPlan, device: Pick<Device, 'computeCapability'>): Promise<Expected | null> {
    if (plan.trusted) return { rung: plan.trusted.rung.id }
    const source = this.referenceOf(plan)
    if (!source) return null
    const library = await buildReference(await this.compiler(), plan, source, smOf(device))
    return { library, shown: source.shown ?? source.file }
  }

  /**
   * Builds the plan's reference for the launch probe. Returns null if a trusted rung replaces the
   * reference.
   */
  async probedReference(
    plan: RunPlan,
    gpu: Pick<Device, 'computeCapability'>,
  ): Promise<string | null> {
    const source = this.referenceOf(plan)
    return source
      ? buildReference(await this.compiler(), plan, source, smOf(gpu), staticRungFlags)
      : null
  }
}
