/** Represents the machine on which this program runs. */
import { readFile } from 'node:fs/promises'
import { diskBuildCache } from '../disk/build-cache'
import { assets } from '../catalog/assets'
import { pathExists } from '../disk/disk'
import { userFolders } from '../disk/paths'
import { liveToolbox } from '../tools/live-toolbox'
import type { HostMachine, SetUp } from './machine'

export function localMachine(): HostMachine {
  const folders = userFolders()
  return {
    name: 'local',
    toolbox: liveToolbox,
    cache: diskBuildCache(folders.cache),
    aliases: [
      { path: folders.cache, alias: '<cache>' },
      { path: folders.home, alias: '~' },
    ],
    readText: (path) => readFile(path, 'utf8').catch(() => null),
    exists: pathExists,
    variable: (name) => process.env[name] ?? null,
    folders,
  }
}

/** Returns the setup that all hosts use. */
export const setUp: SetUp = async () => {
  const own = await assets()
  const machine = localMachine()
  return {
    assets: own,
    machine: { ...machine, cache: { ...machine.cache, shippedFolder: own.buildsDir } },
  }
}
