/** Builds the rungs in an opened ladder folder and emulates an edited rung to get its counters. */
import type { Setup } from '../../adapters/machine/machine'
import { readLadderFolder } from '../../adapters/catalog/ladder-folder'
import { readCatalog } from '../../adapters/catalog/catalog'
import type { BuiltSource, FolderBuild } from '../../contract/folders'
import { inputError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { rungFileId } from '../../domain/ladder/rung'
import type { Diagnostic } from '../../domain/session/session'
import { referenceFile } from '../../domain/task/task'
import { inEnglish } from '../../domain/text/english'
import { buildRung } from '../bench/build-rung'
import { gpuLike } from '../run/emulated-gpu'
import { type createCounting } from '../run/live-counters'
import { planRun } from '../run/plan'
import { builtArchitecture, recordedArchitecture } from '../bench/architecture'
import { Bench } from '../bench/bench'
import type { BuildOutcome } from '../bench/compiler'
import { compileReference } from '../bench/reference'
import { inParallel } from '../bench/in-parallel'
import type { RungCounters } from '../../contract/rung-builds'
import { requireTrustedFolder } from './folder-trust'
import { placedFaults } from './placed-faults'
import { requireOpened } from './folders'

/**
 * Returns diagnostics with paths relative to the ladder folder. The compiler's paths are relative
 * to the rung library, in which the folder has the task's name.
 */
const inFolder = (task: string, diagnostics: readonly Diagnostic[]): Diagnostic[] =>
  diagnostics.map(({ file, ...rest }) => ({
    ...rest,
    file: file?.startsWith(`${task}/`) ? file.slice(task.length + 1) : file,
  }))

const builtSource = (
  task: string,
  file: string,
  rung: string | null,
  { artifact, build, diagnostics, reason }: BuildOutcome,
): BuiltSource => ({
  file,
  rung,
  built: artifact !== null,
  reason: reason ?? null,
  diagnostics: inFolder(task, diagnostics),
  build,
})

export async function buildFolder(
  setup: Setup,
  { path, file }: { path: string; file: string },
): Promise<FolderBuild> {
  const { assets, machine } = setup
  await requireOpened(setup, path)
  const { catalog, ladder, task } = await readLadderFolder(
    path,
    await readCatalog(assets.kernelsDir),
  )
  await requireTrustedFolder(machine.folders, { folder: path })
  const broken = catalog.faults.get(rungFileId(file) ?? file)
  if (broken !== undefined) {
    const [fault] = placedFaults(broken, path)
    const { line, message: reason } = fault!
    const diagnostics: Diagnostic[] = [
      { severity: 'error', file, line, message: inEnglish(reason) },
    ]
    const none = { artifact: null, build: null, diagnostics, reason }
    return {
      architecture: `sm_${recordedArchitecture}`,
      ownGpu: false,
      sources: [builtSource(task.id, file, rungFileId(file) ?? file, none)],
    }
  }
  const tools = { toolbox: machine.toolbox(null), cache: machine.cache }
  const bench = await Bench.open(tools, catalog)
  const compiler = await bench.compiler()
  const own = await bench.ownArchitecture()
  const usable = ladder.rungs.filter(({ id }) => !catalog.faults.has(id))
  const wantedRungs = usable.filter(
    ({ id }) => rungFileId(file) === id && referenceFile(task) !== file,
  )
  const reference = catalog.references.get(task.id)
  const ofReference = reference !== undefined && referenceFile(task) === file
  // A change to a header or the ladder file can affect every rung.
  const entries = wantedRungs.length > 0 || ofReference ? wantedRungs : usable
  const sources: BuiltSource[] = []
  if (reference && (ofReference || wantedRungs.length === 0)) {
    const inputs = { task, headers: catalog.headers.get(task.id) ?? new Map<string, string>() }
    const sm = builtArchitecture(null, own)
    const outcome = await compileReference(compiler, inputs, reference, sm)
    sources.push(builtSource(task.id, referenceFile(task)!, null, outcome))
  }
  if (entries.length > 0) {
    const plan = planRun(catalog, {
      ladder: ladder.id,
      rungs: entries.map(({ as, id }) => as ?? id),
      params: {},
      profile: 'none',
    })
    const built = new Map<string, BuiltSource>()
    await inParallel(plan.rungs, async (planned) => {
      const { id, file: source, header } = planned.rung
      const outcome = await buildRung(
        compiler,
        plan,
        planned,
        builtArchitecture(header.requires, own),
      )
      built.set(id, builtSource(task.id, source.slice(task.id.length + 1), id, outcome))
    })
    sources.push(...plan.rungs.map(({ rung }) => built.get(rung.id)!))
  }
  return {
    architecture: `sm_${builtArchitecture(null, own)}`,
    ownGpu: own !== null,
    sources,
  }
}

/**
 * Emulates a rung while the user edits it and returns its counters. `text` replaces the file's
 * content.
 */
export async function countersIn(
  setup: Setup,
  count: ReturnType<ReturnType<typeof createCounting>>,
  { path, file, text }: { path: string; file: string; text: string },
): Promise<RungCounters> {
  await requireOpened(setup, path)
  const { catalog, ladder } = await readLadderFolder(
    path,
    await readCatalog(setup.assets.kernelsDir),
  )
  await requireTrustedFolder(setup.machine.folders, { folder: path })
  const id = rungFileId(file)
  const entry = ladder.rungs.find((one) => one.id === id && !catalog.faults.has(one.id))
  if (!entry) throw inputError(message('folders.notCounted', { file }))
  const original = planRun(catalog, {
    ladder: ladder.id,
    rungs: [entry.as ?? entry.id],
    params: {},
    profile: 'none',
  })
  const plan = {
    ...original,
    rungs: original.rungs.map((planned) => ({ ...planned, source: text })),
  }
  const counters = await count({ catalog, gpu: gpuLike(null), plan, original })
  return { ...counters, diagnostics: inFolder(plan.task.id, counters.diagnostics) }
}
