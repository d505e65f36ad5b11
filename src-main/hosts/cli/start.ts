#!/usr/bin/env node
/**
 * The entry point of the command in the npm package. The entry point enables Node.js's compile
 * cache if this Node.js version has one. The single-file program cannot use the cache, because
 * Node.js compiles the file before any of its code runs.
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
  // Continue without the compile cache if there is no cache folder. Commands that need the folder
  // report the error.
}
await import('./main')
