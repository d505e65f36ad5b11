/**
 * Measures the timing spread of identical code on this machine and caches it per GPU and driver.
 *
 * Changes smaller than the spread are noise. The spread is measured by comparing the old build with
 * a copy of itself.
 */
import { join } from 'node:path'
import { z } from 'zod'
import type { Folders } from '../../adapters/machine/machine'
import { SameCode } from '../../domain/regress/report'
import { jsonFile, type JsonFile } from '../../adapters/disk/json-file'
import type { Device } from '../../domain/gpu/device'

/** Timing spreads, keyed by GPU and driver. */
const Kept = z.record(z.string(), SameCode)

const keyOf = ({ name, driver }: Pick<Device, 'name' | 'driver'>): string =>
  `${name}, driver ${driver ?? 'unknown'}`

const cacheFile = ({ cache }: Pick<Folders, 'cache'>): JsonFile<z.infer<typeof Kept>> =>
  jsonFile(join(cache, 'same-code.json'), Kept, {}, 'cache')

export const readSameCode = async (
  folders: Pick<Folders, 'cache'>,
  device: Pick<Device, 'name' | 'driver'>,
): Promise<SameCode | null> => (await cacheFile(folders).read())[keyOf(device)] ?? null

/**
 * Writes the cache. Ignores write errors, because their only cost is measuring the spread again.
 */
export async function keepSameCode(
  folders: Pick<Folders, 'cache'>,
  device: Pick<Device, 'name' | 'driver'>,
  found: SameCode,
): Promise<void> {
  await cacheFile(folders)
    .change((all) => ({ ...all, [keyOf(device)]: found }))
    .catch(() => undefined)
}
