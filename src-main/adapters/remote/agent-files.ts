/** The program itself, as one file, and a Node for machines without one. */
import { existsSync } from 'node:fs'
import { readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { missingError } from '../../domain/errors'
import { sha256 } from '../disk/build-cache'

interface AgentFile {
  /** The first 16 digits of the content's SHA-256. */
  hash: string
  bytes: Buffer
}

const bundleName = 'kernel-ladder.mjs'

/** A file at this path, in this module's folder or in one above it. */
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

/** The one-file program: the one that runs now, or the one built in this checkout. */
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

/** By what `uname -m` prints. */
const architectures: Record<string, string> = { x86_64: 'x64', aarch64: 'arm64', arm64: 'arm64' }

/** A Node for Linux on this architecture: the one that runs this program, if it fits. Never fetched by the other side. */
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
