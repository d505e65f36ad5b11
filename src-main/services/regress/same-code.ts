/**
 * How far the same code seems to differ from itself on this machine, kept per GPU and driver in the cache: a change
 * below that is none. It is measured like any change, with the old build against a copy of itself.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { makeFolder } from '../../adapters/disk/disk'
import type { Folders } from '../../adapters/machine/machine'
import type { Device } from '../../domain/gpu/gpu'
import { SameCode } from '../../domain/regress/report'

/** By GPU and driver. */
const Kept = z.record(z.string(), SameCode)

const fileOf = ({ cache }: Pick<Folders, 'cache'>): string => join(cache, 'same-code.json')

const keyOf = ({ name, driver }: Pick<Device, 'name' | 'driver'>): string =>
  `${name}, driver ${driver ?? 'unknown'}`

const readKept = (folders: Pick<Folders, 'cache'>): Promise<z.infer<typeof Kept>> =>
  readFile(fileOf(folders), 'utf8')
    .then((text) => Kept.parse(JSON.parse(text)))
    // Absent or damaged: it is measured again.
    .catch(() => ({}))

export const keptSameCode = async (
  folders: Pick<Folders, 'cache'>,
  device: Pick<Device, 'name' | 'driver'>,
): Promise<SameCode | null> => (await readKept(folders))[keyOf(device)] ?? null

/** A cache that cannot be written to costs only time. */
export async function keepSameCode(
  folders: Pick<Folders, 'cache'>,
  device: Pick<Device, 'name' | 'driver'>,
  found: SameCode,
): Promise<void> {
  const all = { ...(await readKept(folders)), [keyOf(device)]: found }
  await makeFolder(folders.cache).catch(() => undefined)
  await writeFile(fileOf(folders), `${JSON.stringify(all, null, 2)}\n`).catch(() => undefined)
}
