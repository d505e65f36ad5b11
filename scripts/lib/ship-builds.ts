/**
 * Generates resources/builds. With the shipped builds, a machine without nvcc can emulate rungs and
 * lab starters.
 */
import { mkdir, readFile } from 'node:fs/promises'
import { readCatalog, readSharedFiles } from '../../src-main/adapters/catalog/catalog'
import {
  packBuilds,
  writeShippedBuilds,
  type ShippedBuild,
} from '../../src-main/adapters/disk/shipped-builds'
import { buildKey, diskBuildCache, type BuildCache } from '../../src-main/adapters/disk/build-cache'
import { readShippedLabs } from '../../src-main/adapters/labs/lab-folders'
import { liveToolbox } from '../../src-main/adapters/tools/live-toolbox'
import { staticRungFlags } from '../../src-main/adapters/tools/nvcc'
import { isPythonFile } from '../../src-main/domain/ladder/rung'
import type { RunPlan } from '../../src-main/domain/run/plan'
import { architectureFor, smOf } from '../../src-main/services/bench/architecture'
import { buildRung } from '../../src-main/services/bench/build-rung'
import {
  openCompiler,
  type BuildOutcome,
  type Compiler,
} from '../../src-main/services/bench/compiler'
import { buildLaunchProbe } from '../../src-main/services/bench/own-programs'
import { compileReference } from '../../src-main/services/bench/reference'
import { planLab } from '../../src-main/services/labs/plan-lab'
import { emulatedGpu } from '../../src-main/services/run/emulated-gpu'
import { inParallel } from '../../src-main/services/bench/in-parallel'
import { planRun } from '../../src-main/services/run/plan'

interface ShippedUnit {
  what: string
  build(compiler: Compiler): Promise<BuildOutcome>
}

/** Returns everything to build for shipping, for the default emulated GPU. */
export async function shippedUnits(kernels: string): Promise<ShippedUnit[]> {
  const catalog = await readCatalog(kernels)
  const { gpu } = emulatedGpu(null)
  const sources = {
    runner: await readSharedFiles(kernels, 'runner'),
    probe: await readSharedFiles(kernels, 'probe'),
  }
  const unitsOf = (whole: string, plan: RunPlan): ShippedUnit[] => {
    const source = plan.trusted ? undefined : catalog.references.get(plan.task.id)
    const rungs = [...new Set([...plan.rungs, ...(plan.trusted ? [plan.trusted] : [])])]
    return [
      ...(source
        ? [
            {
              what: `the reference of ${plan.task.id}`,
              build: (compiler: Compiler) =>
                compileReference(compiler, plan, source, smOf(gpu), staticRungFlags),
            },
          ]
        : []),
      ...rungs.flatMap((planned): ShippedUnit[] => {
        const { rung } = planned
        const architecture = architectureFor(rung.header.requires, gpu)
        if (isPythonFile(rung.file) || 'unsupported' in architecture) return []
        return [
          {
            what: `${rung.id} of ${whole}`,
            build: (compiler) =>
              buildRung(compiler, plan, planned, architecture.sm, staticRungFlags),
          },
        ]
      }),
    ]
  }
  const { labs } = await readShippedLabs(catalog)
  return [
    {
      what: 'the launch probe',
      async build(compiler) {
        const built = await buildLaunchProbe(compiler, sources)
        return 'artifact' in built
          ? { artifact: built.artifact, build: null, diagnostics: [] }
          : { artifact: null, build: null, diagnostics: [], reason: built.reason }
      },
    },
    ...catalog.ladders.flatMap(({ id }) =>
      unitsOf(id, planRun(catalog, { ladder: id, params: {}, profile: 'none' })),
    ),
    ...labs.flatMap((folder) => unitsOf(folder.id, planLab(folder, folder.starter).plan)),
  ]
}

/** Wraps the cache. The wrapper records each requested build in `found`. */
const collecting = (cache: BuildCache, found: Map<string, ShippedBuild>): BuildCache => ({
  ...cache,
  async slot(inputs) {
    const slot = await cache.slot(inputs)
    const note = async (kept: NonNullable<typeof slot.kept>): Promise<void> => {
      // Omit this machine's folders, because they do not exist on other machines.
      const argv = ['nvcc', ...inputs.flags, '-o', inputs.output]
      const artifact = await readFile(slot.artifact)
      found.set(buildKey(inputs), { kept: { ...kept, argv }, artifact })
    }
    if (slot.kept) await note(slot.kept)
    return {
      ...slot,
      async keep(build) {
        await slot.keep(build)
        await note(build)
      },
    }
  },
})

/**
 * Builds everything with this machine's nvcc and replaces the contents of `folder`. Returns the
 * failed builds, the number of builds, and their packed size.
 */
export async function shipBuilds(
  kernels: string,
  folder: string,
  cache: string,
): Promise<{ failed: string[]; builds: number; bytes: number }> {
  const byKey = new Map<string, ShippedBuild>()
  const builds = collecting(diskBuildCache(cache, null), byKey)
  const includes = await readSharedFiles(kernels, 'include')
  const compiler = await openCompiler({ toolbox: liveToolbox(null), cache: builds }, includes)
  const failed: string[] = []
  await inParallel(await shippedUnits(kernels), async ({ what, build }) => {
    if ((await build(compiler)).artifact === null) failed.push(what)
  })
  await mkdir(folder, { recursive: true })
  const packed = packBuilds({ compiler: compiler.version, byKey })
  await writeShippedBuilds(folder, packed)
  return { failed, builds: byKey.size, bytes: packed.length }
}
