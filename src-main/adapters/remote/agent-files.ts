/** Provides the one-file program, and Node for machines without Node. */
import { existsSync } from 'node:fs'
import { readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { missingError } from '../../domain/errors'
import { sha256 } from '../disk/build-cache'

interface AgentFile {
  /** First 16 digits of the content's SHA-256 hash. */
  hash: string
  bytes: Buffer
}

const bundleName = 'kernel-ladder.mjs'

/**
 * Returns the path of a file in this module's folder or in the nearest folder above it. Returns
 * null if no file exists.
 */
function above(path: string): string | null {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    if (existsSync(join(folder, path))) return join(folder, path)
    if (folder === dirname(folder)) return null
  }
}

async function fileOf(path: string): Promise<AgentFile> {
  const bytes = await readFile(path)
  return { hash: sha256(bytes).slice(0, 16), bytes }
}

/**
 * Returns the one-file program, which is the running program or the file built in this checkout.
 */
export async function agentProgram(): Promise<AgentFile> {
  const running =
    process.argv[1] === undefined ? '' : await realpath(process.argv[1]).catch(() => '')
  const path = basename(running) === bundleName ? running : above(join('dist', 'cli', bundleName))
  if (path === null)
    throw missingError(
      `There is no ${bundleName} to send to another machine.`,
      'Build it with `npm run build`, or use the one-file program.',
    )
  return fileOf(path)
}

/** Maps the output of `uname -m` to Node's architecture name. */
const architectures: Record<string, string> = { x86_64: 'x64', aarch64: 'arm64', arm64: 'arm64' }

/**
 * Returns Node for Linux on the given architecture. Uses the running Node if its architecture
 * matches. The remote machine never downloads Node itself.
 */
export async function nodeFor(name: string, machine: string): Promise<AgentFile> {
  const fits =
    process.platform === 'linux' &&
    process.arch === architectures[machine] &&
    !process.versions.electron
  if (!fits)
    throw missingError(
      `${name} has no Node.js 20.19 or newer, and there is none for Linux on ${machine} here to send.`,
      'Install Node.js there, so that `node` is on the PATH of its ssh commands.',
    )
  return fileOf(process.execPath)
}
