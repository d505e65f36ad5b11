/**
 * How far identical code differs from itself on this machine, cached per GPU and driver.
 *
 * A change below that is none. It is measured like any change, with the old build against a copy of itself.
 */
import { join } from 'node:path'
import { readFile, writeFile } from 'node:fs/promises'
import { z } from 'zod'
import type { Folders } from '../../adapters/machine/machine'
import { SameCode } from '../../domain/regress/report'
import { makeFolder } from '../../adapters/disk/disk'
import type { Device } from '../../domain/gpu/device'

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
