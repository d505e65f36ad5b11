#!/usr/bin/env node
/**
 * Where the command of the npm package begins. Its code is compiled once and kept in the cache, on Node.js that can;
 * the one-file program is compiled before it could ask for that.
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
  // A user without a folder for a cache, which whatever needs one says.
}
await import('./main')
