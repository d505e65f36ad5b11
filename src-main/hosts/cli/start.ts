#!/usr/bin/env node
/**
 * The entry point of the npm package's command. If Node.js supports it, the compiled code is cached. The one-file
 * program is compiled too early for that.
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
  // The user has no cache folder; whatever needs one reports that.
}
await import('./main')
