/** Writes a first ladder for the chosen kernel, and corrects the ladder until its trials succeed. */
import { rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Catalog } from '../../../adapters/catalog/catalog'
import { readLadderFolder } from '../../../adapters/catalog/ladder-folder'
import type { BuildGpu } from '../../../domain/gpu/gpu-table'
import type { Statement } from '../../../domain/messages/message'
import { largestOf } from '../../../domain/proposal/contents'
import {
  equalSizes,
  exchanged,
  keptEqual,
  marked,
  settled,
  unequalSizes,
} from '../../../domain/proposal/equal-sizes'
import { propose, type Proposal } from '../../../domain/proposal/proposal'
import { ladderText, referenceText, rungText, type Origin } from '../../../domain/proposal/write'
import type { Sizes } from '../../../domain/task/problem'
import type { Bench } from '../../bench/bench'
import { writeSchema } from '../init'
import type { ChosenKernel } from './choose-kernel'
import { copySources, largeFolders } from './copy-sources'
import type { Learnt } from './learn-file'
import { ownLauncher, ownReference, type OwnReference } from './own-functions'
import { fitsAt, referenceFault, tryLadder, type Tried } from './try-ladder'

/**
 * A CPU function that has the kernel's parameters but computes a different result, and the reason
 * for the mismatch.
 */
export interface RefusedReference {
  name: string
  why: Statement
}

interface Draft {
  proposal: Proposal
  origin: Origin
  reference: OwnReference | null
}

async function write(folder: string, { proposal, origin, reference }: Draft): Promise<void> {
  await writeFile(join(folder, 'ladder.yaml'), ladderText(proposal, origin))
  await writeFile(join(folder, `${origin.rung}.cu`), rungText(proposal, origin))
  if (reference)
    await writeFile(join(folder, 'reference.cu'), referenceText(proposal, origin, reference))
}

/**
 * Replaces the buffer directions guessed from types with the directions observed in the machine
 * code.
 */
function directed(proposal: Proposal, { observed }: Tried): Proposal {
  if (!observed || observed.stop) return proposal
  const seen = new Map(observed.buffers.map((buffer) => [buffer.name, buffer]))
  const buffers = proposal.buffers.map((plain): Proposal['buffers'][number] => {
    const found = seen.get(plain.name)
    if (!found || plain.access === 'in') return plain
    const buffer = { ...plain, largest: largestOf(found.after, plain.dtype) }
    const { isRead, changed, isWhole } = found
    if (!changed && isRead)
      return {
        ...buffer,
        access: 'in',
        guesses: [...buffer.guesses, 'nothing was written to it at a smaller size'],
      }
    if (!isRead && isWhole) return { ...buffer, access: 'out' }
    return isRead
      ? buffer
      : {
          ...buffer,
          guesses: [
            ...buffer.guesses,
            'only a part of it is written, so the rest must have a value',
          ],
        }
  })
  // A ladder needs at least one output.
  return buffers.every(({ access }) => access === 'in') ? proposal : { ...proposal, buffers }
}

export const sameLaunch = (tried: Tried, chosen: ChosenKernel): boolean | null => {
  const { launch } = chosen
  const found = tried.launched?.kernels.find(({ mangled }) => mangled === launch?.mangled)
  if (!launch || !tried.launched) return null
  return (
    found !== undefined &&
    found.grid.join() === launch.grid.join() &&
    found.block.join() === launch.block.join() &&
    found.dynamicSharedBytes === launch.dynamicSharedBytes
  )
}

const rungName = (base: string): string => `01_${base.replace(/[^A-Za-z0-9_]/g, '')}`.slice(0, 80)

/**
 * Runs trials to distinguish sizes that have equal values. Marks sizes that the trials cannot
 * distinguish.
 */
async function settleSizes(
  proposal: Proposal,
  fits: (proposal: Proposal, sizes: Sizes[]) => Promise<boolean | null>,
): Promise<Proposal> {
  let found = proposal
  if (proposal.fixed !== null) return proposal
  for (const group of equalSizes(proposal)) {
    let outcome: boolean | null = false
    for (const other of exchanged(found, group)) {
      outcome = await fits(other, unequalSizes(other, group))
      if (outcome !== false) {
        found = outcome ? settled(other, group) : marked(found, group)
        break
      }
    }
    if (outcome === false) found = keptEqual(found, group)
  }
  return found
}

/**
 * Replaces the beginning of a path with a matching environment variable such as CUTLASS_PATH. The
 * library's location differs between machines.
 */
function portable(directory: string): string {
  const named = Object.entries(process.env).flatMap(([name, value = '']) =>
    /_(PATH|DIR|ROOT|HOME)$/.test(name) &&
    value.length > 1 &&
    `${directory}/`.startsWith(`${value}/`)
      ? [{ name, value }]
      : [],
  )
  const [longest] = named.sort((a, b) => b.value.length - a.value.length)
  return longest ? `$${longest.name}${directory.slice(longest.value.length)}` : directory
}

/** Copies the user's file and its headers, and then writes the ladder's files. */
export async function writeFirst(
  folder: string,
  id: string,
  { settings, compiled, functions, chosen, launch }: Learnt,
): Promise<Draft> {
  const { include = [], ...others } = settings
  const kept = largeFolders(compiled.sources, include)
  const [own] = await copySources(compiled.sources, include, kept, folder)
  await writeSchema(folder)
  const proposal = propose(launch)
  const draft: Draft = {
    proposal,
    origin: {
      id,
      file: basename(compiled.file),
      included: own!.to,
      rung: rungName(chosen.signature.base),
      call: chosen.signature.call,
      requires: compiled.sm === '90' ? null : `sm_${compiled.sm}`,
      launcher: ownLauncher(functions, chosen, proposal),
      symbols: (chosen.launch?.symbols ?? []).flatMap(({ name, data }) =>
        data === null ? [] : [{ name, data }],
      ),
      wasRecorded: launch.wasRecorded,
      build: { ...others, ...(kept.length > 0 ? { include: kept.map(portable) } : {}) },
      libraries: compiled.libraries,
      reference: null,
    },
    reference: null,
  }
  await write(folder, draft)
  return draft
}

/**
 * Runs the proposed ladder. Determines the buffers' directions, whether smaller sizes work, and
 * whether the launch matches the program's launch.
 */
export async function refine(
  bench: Bench,
  folder: string,
  first: Draft,
  { chosen, launch, functions }: Learnt,
  gpu: BuildGpu,
  shipped: Catalog,
): Promise<{ draft: Draft; tried: Tried; refused: RefusedReference | null }> {
  const attempt = async (): Promise<Tried> => {
    const { catalog, ladder } = await readLadderFolder(folder, shipped)
    return tryLadder(bench, catalog, ladder.id, gpu)
  }
  let draft = first
  let tried = await attempt()
  const again = async (next: Draft): Promise<void> => {
    draft = next
    await write(folder, draft)
    tried = await attempt()
  }
  if (draft.origin.launcher && (tried.trouble !== null || sameLaunch(tried, chosen) === false))
    await again({ ...draft, origin: { ...draft.origin, launcher: null } })
  const stop = tried.observed?.stop
  const left = stop && ['illegal-address', 'trap', 'assert'].includes(stop.kind)
  if (left && draft.proposal.fixed === null)
    await again({
      ...draft,
      proposal: {
        ...draft.proposal,
        fixed: 'at smaller sizes it accessed memory outside its buffers',
      },
    })
  const proposal = await settleSizes(directed(draft.proposal, tried), async (proposed, sizes) => {
    await write(folder, { ...draft, proposal: proposed })
    const { catalog, ladder } = await readLadderFolder(folder, shipped)
    return tried.observed ? fitsAt(bench, catalog, ladder.id, gpu, sizes) : null
  })
  const types = launch.parameters.map(
    ({ kind }, index) =>
      chosen.signature.types?.[index] ?? chosen.source.parameters[index]?.type ?? kind.kind,
  )
  const names = launch.parameters.map(({ name }) => name)
  const withReference = (reference: OwnReference | null): Draft => ({
    proposal,
    origin: { ...draft.origin, reference: reference?.name ?? null },
    reference,
  })
  const reference = tried.observed ? ownReference(functions, types, names, proposal) : null
  const last = withReference(reference)
  await write(folder, last)
  if (reference === null) return { draft: last, tried, refused: null }
  const { catalog, ladder } = await readLadderFolder(folder, shipped)
  const fault = await referenceFault(bench, catalog, ladder.id, gpu)
  if (fault === null) return { draft: last, tried, refused: null }
  await rm(join(folder, 'reference.cu'))
  const trusting = withReference(null)
  await write(folder, trusting)
  return { draft: trusting, tried, refused: { name: reference.name, why: fault } }
}
