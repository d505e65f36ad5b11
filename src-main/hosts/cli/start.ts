#!/usr/bin/env node
/**
 * The entry point of the npm package's command. The entry point caches compiled code if Node.js
 * supports a compile cache. The one-file program is compiled before its code could enable the
 * cache.
 */
import * as nodeModule from 'node:module'
import { join } from 'node:path'
import { cacheDir } from '../../adapters/disk/paths'

try {
  const { enableCompileCache } = nodeModule as {
    enableCompileCache?: (folder: string) => unknown
  }
  enableCompileCache?.(join(cacheDir(), 'compiled'))
} catch {
  // Continue without a cache folder. Commands that need the folder report the error.
}
await import('./main')
