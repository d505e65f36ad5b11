/**
 * Converts a report's launches to an ordered, named ladder. Each launch becomes a rung. NVTX ranges
 * are ignored.
 */
import type { ReportLaunch } from '../../adapters/sessions/report-file'
import { inputError } from '../../domain/errors'
import { distinctTitles, parseKernelName } from '../../domain/programs/kernel-names'

export interface ImportedRung {
  id: string
  title: string
  launches: ReportLaunch[]
}

export interface Arrangement {
  /** Ids of the rungs to keep, in order. By default, all rungs are kept. */
  order?: readonly string[]
  /** New names by rung id. */
  names?: ReadonlyMap<string, string>
}

export function launchRungs(launches: readonly ReportLaunch[]): ImportedRung[] {
  const taken = new Set<string>()
  const titles = distinctTitles(launches.map((launch) => ({ ...launch, name: launch.kernelName })))
  return launches.map((launch, index) => ({
    id: kernelId(launch.kernelName, index, launches.length, taken),
    title: clip(titles[index]!),
    launches: [launch],
  }))
}

const numberOf = (index: number, count: number): string =>
  String(index).padStart(Math.max(2, String(count - 1).length), '0')

/** Returns a rung id such as `03_tile`, formed from the kernel's position and its function name. */
export function kernelId(name: string, index: number, count: number, taken: Set<string>): string {
  const number = numberOf(index, count)
  return uniqueId(`${number}_${parseKernelName(name).base}`, number, taken)
}

export function arrange(
  rungs: readonly ImportedRung[],
  { order, names }: Arrangement,
): ImportedRung[] {
  const find = (id: string): ImportedRung => {
    const found = rungs.find((rung) => rung.id === id)
    if (found) return found
    const known = rungs.slice(0, 20).map((rung) => rung.id)
    throw inputError(
      `The file has no kernel with the imported id ${JSON.stringify(id)}.`,
      `It has: ${known.join(', ')}${rungs.length > 20 ? `, and ${rungs.length - 20} more` : ''}.`,
    )
  }
  const chosen = order?.map(find) ?? [...rungs]
  const twice = chosen.find((rung, index) => chosen.indexOf(rung) !== index)
  if (twice) throw inputError(`--order lists ${twice.id} more than once.`, 'List each rung once.')
  for (const id of names?.keys() ?? [])
    if (!chosen.includes(find(id)))
      throw inputError(`--name renames ${id}, which --order omits.`, 'Add it to --order.')

  // Keep unchanged names. If a new name collides with another name, alter the new name.
  const taken = new Set(chosen.flatMap(({ id }) => (names?.has(id) ? [] : [id.toLowerCase()])))
  return chosen.map((rung, index) => {
    const title = names?.get(rung.id)
    if (title === undefined) return rung
    return { ...rung, id: uniqueId(title, String(index), taken), title: clip(title) }
  })
}

const clip = (text: string): string => (text.length > 160 ? `${text.slice(0, 159)}…` : text)

/**
 * Returns a valid, unused identifier. Ids that differ only in case are duplicates, because ids may
 * become file names.
 */
function uniqueId(text: string, fallback: string, taken: Set<string>): string {
  const base =
    text
      .replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .replace(/[-.]+$/, '')
      .slice(0, 70) || `kernel-${fallback}`
  let id = base
  for (let n = 2; taken.has(id.toLowerCase()); n += 1) id = `${base}-${n}`
  taken.add(id.toLowerCase())
  return id
}
