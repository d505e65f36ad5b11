/**
 * Builds the code that `regress` times. For each rung, the builds are the current code, the old
 * code, and a copy of the old build.
 */
import { join } from 'node:path'
import { copyBuilt } from '../../adapters/disk/build-cache'
import { builtRung, type BuiltRung } from '../../adapters/tools/runner'
import { inputError, KernelLadderError } from '../../domain/errors'
import { currentId } from '../../domain/ladder/former-ids'
import { message, type Statement } from '../../domain/messages/message'
import type { RegressVerdict } from '../../domain/regress/verdict'
import { flagTitle } from '../../domain/task/task'
import { inEnglish } from '../../domain/text/english'
import { buildRung } from '../bench/build-rung'
import type { OldRungs } from './old-code'
import { copyId, oldId, type BuiltPair } from './rounds'
import type { PlannedRung, RunPlan } from '../../domain/run/plan'
import { architectureFor, smOf } from '../bench/architecture'
import type { BuildOutcome, Compiler } from '../bench/compiler'
import { inParallel } from '../bench/in-parallel'
import type { Device } from '../../domain/gpu/device'

/** A rung and the state of its two builds. */
export interface Row {
  planned: PlannedRung
  old: PlannedRung | undefined
  /** The verdict, if it can be determined without timing. */
  settled?: { verdict: RegressVerdict; reason: Statement | null }
  pair?: BuiltPair
  sameBuild: boolean
}

export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new KernelLadderError('cancelled', message('asked.cancelled'))
}

interface BothBuilds {
  compiler: Compiler
  plan: RunPlan
  old: OldRungs
  device: Device
  scratch: string
  /** The old code's origin, for messages. */
  against: string
}

/**
 * Builds the old and the new code. Throws an error if an old rung does not compile, because there
 * would be nothing to compare. The error is reported before the GPU is used.
 */
export async function buildBoth({
  compiler,
  plan,
  old,
  device,
  scratch,
  against,
}: BothBuilds): Promise<{
  rows: Row[]
  trusted: BuiltRung | null
}> {
  const rows = plan.rungs.map((planned): Row => {
    const { rung } = planned
    const before = old.rungs.get(currentId(rung.id))
    return { planned, old: before, sameBuild: false, ...settledBefore(plan, planned, before) }
  })
  const oldCompiler = { ...compiler, includes: old.includes }
  const oldInputs = { task: old.task, headers: old.headers }
  const unbuilt: string[] = []
  await inParallel(
    rows.filter(({ settled }) => !settled),
    async (row) => {
      const [now, before] = [row.planned, row.old!]
      const to = [now, before].map(({ rung }) => architectureFor(rung.header.requires, device))
      const [here, there] = to
      if (!here || !there) return
      if ('unsupported' in here || 'unsupported' in there) {
        const reason = 'unsupported' in here ? here.unsupported : (there as never)
        const both = to.every((one) => 'unsupported' in one)
        row.settled = { verdict: both ? 'skipped' : 'unresolved', reason }
        return
      }
      const [fresh, kept] = [
        await buildRung(compiler, plan, now, here.sm),
        await buildRung(oldCompiler, oldInputs, before, there.sm),
      ]
      if (compiler.signal.aborted) return
      if (!kept.artifact) unbuilt.push(`${now.rung.id}: ${whyNot(kept)}`)
      else if (!fresh.artifact)
        row.settled = { verdict: 'broken', reason: fresh.reason ?? message('checks.notCompiled') }
      else {
        row.sameBuild = fresh.artifact === kept.artifact
        const old = builtRung(before.rung, kept.artifact)
        const id = now.rung.id
        row.pair = {
          now: builtRung(now.rung, fresh.artifact),
          before: await copied(old, oldId(id), scratch),
          copy: await copied(old, copyId(id), scratch),
        }
      }
    },
  )
  throwIfAborted(compiler.signal)
  if (unbuilt.length > 0)
    throw inputError(
      `${against} does not build: ${unbuilt.sort().join(' ')}`,
      'Use another session or revision, or leave these rungs out with --rungs.',
    )
  if (!plan.trusted) return { rows, trusted: null }
  const known = rows.find(({ planned }) => planned.rung.id === plan.trusted!.rung.id)?.pair?.now
  if (known) return { rows, trusted: known }
  const { rung } = plan.trusted
  const built = await buildRung(compiler, plan, plan.trusted, smOf(device))
  if (!built.artifact) throw new KernelLadderError('failed', `${rung.id}: ${whyNot(built)}`)
  return { rows, trusted: builtRung(rung, built.artifact) }
}

const whyNot = ({ reason }: BuildOutcome): string =>
  inEnglish(reason ?? message('checks.notCompiled'))

/**
 * Copies a build to a file with a different name, so that the linker loads identical code as a
 * separate library.
 */
const copied = async (built: BuiltRung, id: string, scratch: string): Promise<BuiltRung> => ({
  ...built,
  id,
  artifact: await copyBuilt(built.artifact, join(scratch, id)),
})

function settledBefore(
  { task }: RunPlan,
  { rung }: PlannedRung,
  before: PlannedRung | undefined,
): Pick<Row, 'settled'> {
  if (!before) return { settled: { verdict: 'new', reason: null } }
  const [now, then] = [rung, before.rung].map(({ header }) => header.flags)
  if (now!.join() === then!.join()) return {}
  const words = (flags: readonly string[]): string =>
    flags.length === 0 ? 'nothing further' : flags.map((flag) => flagTitle(task, flag)).join(', ')
  const reason = `It computes ${words(now!)} now, and ${words(then!)} before.`
  return { settled: { verdict: 'unresolved', reason } }
}
