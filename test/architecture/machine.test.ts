/** A machine is made by a host and handed down; nothing below it makes one, or looks at this one beside it. */
import { describe, expect, it } from 'vitest'
import { linesWith, sourcesIn } from './sources'

const ownWays = [
  /\b(liveToolbox|diskBuildCache|findTool|localMachine|setUp|scratchFolder)\(/,
  /(?<!toolbox\.)\bclaimGpu\(/,
  /\b(cacheDir|sharedCacheDir|userFolders|sessionsDir|draftsDir|dataDir)\(/,
  /\bhomedir\(/,
  /\bprocess\.p?pid\b/,
]

describe('the services', () => {
  it('reach tools, build results, folders and their own process through the machine', () => {
    expect(linesWith(sourcesIn('src-main/services'), ownWays)).toEqual([])
  })
})

describe('the rule', () => {
  it.each([
    'const toolbox = liveToolbox(null)',
    'const cache = diskBuildCache(root)',
    'store: sessionsDir(),',
    "join(homedir(), '.cache')",
    "'--owner-pid', String(process.pid),",
  ])('finds %j', (text) => {
    expect(linesWith([{ path: 'a.ts', text }], ownWays)).toEqual([`a.ts:1: ${text}`])
  })
})
