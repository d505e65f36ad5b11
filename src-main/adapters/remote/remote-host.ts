/**
 * Manages a remote machine through shell scripts. Probes the machine, sends files by hash, and
 * fetches a job's results. Files are written under temporary names, verified, and then renamed.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { inputError, KernelLadderError, missingError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { fillFiles } from '../../domain/task/task'
import { sha256 } from '../disk/build-cache'
import type { LadderFolder } from '../catalog/ladder-folder'
import { quoted, type Shell, type ShellResult } from './ssh'

export interface RemoteFacts {
  os: string
  arch: string
  /** Absolute path of the folder that stores agents, ladders, and jobs. */
  root: string
  /** Path of a recent Node executable, or null if the machine has none. */
  node: string | null
  freeKiB: number | null
  /** Number of seconds by which the remote clock is ahead of the local clock. */
  clockAhead: number
}

export interface RemoteFile {
  /** Relative path, with `/` as the separator. */
  path: string
  bytes: Uint8Array
}

/** Shell commands that the user configured to run before and after a run. */
export interface Around {
  before: readonly string[]
  after: readonly string[]
}

const failed = (shell: Shell, what: string, { lines, stderr }: ShellResult): KernelLadderError => {
  const lastLine = (stderr.trim().split('\n').pop() ?? '') || (lines.at(-1) ?? '')
  return /No space left|quota exceeded/i.test(stderr)
    ? missingError(
        `${shell.name} has no space left for ${what}.`,
        'Free some space in its home, or set XDG_CACHE_HOME there to a larger disk.',
      )
    : missingError(
        `${shell.name} refuses ${what}: ${lastLine}`,
        'Check that its home folder is writable, or set XDG_CACHE_HOME there to a writable folder.',
      )
}

/** Time and size limits for responses, which are lists and short messages. */
const answerLimits = { timeoutMs: 15 * 60_000, outputLimit: 32 * 2 ** 20 }
/**
 * Maximum time in milliseconds for which a script may print nothing. A script that receives data
 * over a slow connection may be silent for minutes. All other scripts respond within seconds.
 */
const silenceMs = 60_000

/**
 * Runs a script to completion and returns its output lines. Throws an error if the connection is
 * lost or the script fails.
 */
export async function answer(
  shell: Shell,
  what: string,
  script: string,
  data?: Uint8Array,
  signal?: AbortSignal,
): Promise<string[]> {
  const result = await shell.run({
    script,
    ...(data ? { data } : {}),
    ...(signal ? { signal } : {}),
    ...answerLimits,
    ...(data ? {} : { idleMs: silenceMs }),
  })
  if (result.outcome === 'cancelled') throw new KernelLadderError('cancelled', 'Cancelled.')
  if (result.outcome === 'lost')
    throw missingError(`The connection to ${shell.name} was lost during ${what}.`, 'Try it again.')
  if (result.status !== 0) throw failed(shell, what, result)
  return result.lines
}

const leastNode = [20, 19] as const

const isNewEnough = (version: string): boolean => {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  return major > leastNode[0] || (major === leastNode[0] && minor >= leastNode[1])
}

/**
 * Probes a machine. The user's commands before and after a run also run before and after the probe.
 * The commands before a run may set the root folder, and the commands after a run may resume paused
 * services.
 *
 * Throws an error if the machine does not run Linux or if its home folder is not writable.
 */
export async function lookAt(
  shell: Shell,
  { before, after }: Around,
  signal?: AbortSignal,
): Promise<RemoteFacts> {
  const lines = await answer(
    shell,
    'a first look',
    [
      ...before.map((command) => `{ ${command}\n} >/dev/null 2>&1`),
      'root="${XDG_CACHE_HOME:-$HOME/.cache}/kernel-ladder"',
      'echo "os=$(uname -s)"; echo "arch=$(uname -m)"; echo "root=$root"; echo "now=$(date +%s)"',
      'if n=$(command -v node) && v=$("$n" --version 2>/dev/null); then echo "node=$v $n"; fi',
      'umask 077; mkdir -p "$root" && touch "$root/.writable" && rm -f "$root/.writable" || exit 1',
      `echo "free=$(df -Pk "$root" | awk 'NR==2{print $4}')"`,
      ...after.map((command) => `{ ${command}\n} >/dev/null 2>&1`),
      'true',
    ].join('\n'),
    undefined,
    signal,
  )
  const of = (key: string): string | null =>
    lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1) ?? null
  const os = of('os') ?? 'unknown'
  const arch = of('arch') ?? 'unknown'
  if (os !== 'Linux') throw missingError(`${shell.name} runs ${os}: rungs need Linux with CUDA.`)
  const [, version = '', path] = /^(\S+) (\S+)$/.exec(of('node') ?? '') ?? []
  const now = Number(of('now'))
  return {
    os,
    arch,
    root: of('root')!,
    node: path !== undefined && isNewEnough(version) ? path : null,
    freeKiB: Number(of('free')) || null,
    clockAhead: Number.isFinite(now) ? Math.round(now - Date.now() / 1000) : 0,
  }
}

/**
 * Sends a file unless the machine already has it, and returns the remote path. `place` is relative
 * to the root folder and unique to the content.
 */
export async function sendFile(
  shell: Shell,
  { root }: Pick<RemoteFacts, 'root'>,
  place: string,
  bytes: Uint8Array,
  signal?: AbortSignal,
): Promise<string> {
  const path = `${root}/${place}`
  const there = await answer(
    shell,
    'the search for the program',
    `[ -x ${quoted(path)} ] && echo yes || echo no`,
  )
  if (there.includes('yes')) return path
  const script = [
    `p=${quoted(path)}; d=$(dirname "$p"); umask 077; mkdir -p "$d" || exit 1`,
    't="$p.$$"; trap \'rm -f "$t"\' EXIT',
    'gzip -dc > "$t" || exit 1',
    `[ "$(sha256sum < "$t" | cut -d' ' -f1)" = ${sha256(bytes)} ] || { echo "the file arrived damaged" >&2; exit 1; }`,
    'chmod 700 "$t" && mv -f "$t" "$p"',
  ].join('\n')
  await answer(shell, 'the program', script, gzipSync(bytes, { level: 1 }), signal)
  return path
}

/** Returns a hash that identifies a folder's content. */
const contentHash = (files: readonly RemoteFile[]): string => {
  const hash = createHash('sha256')
  for (const { path, bytes } of [...files].sort((a, b) => (a.path < b.path ? -1 : 1)))
    hash.update(`${path}\0${bytes.length}\0`).update(bytes)
  return hash.digest('hex').slice(0, 32)
}

/** Sends a folder unless the machine already has its content, and returns the remote path. */
export async function sendFolder(
  shell: Shell,
  { root }: Pick<RemoteFacts, 'root'>,
  name: string,
  files: readonly RemoteFile[],
  signal?: AbortSignal,
): Promise<string> {
  // The last part of the path is the ladder's name in error messages.
  const path = `${root}/ladders/${contentHash(files)}/${name.replaceAll(/[^\w.-]/g, '_')}`
  const there = await answer(
    shell,
    'the search for the ladder',
    `[ -d ${quoted(path)} ] && echo yes || echo no`,
  )
  if (there.includes('yes')) return path
  const script = [
    `p=${quoted(path)}; umask 077; mkdir -p "$(dirname "$p")" || exit 1`,
    't="$p.$$"; trap \'rm -rf "$t"\' EXIT; mkdir "$t" || exit 1; cd "$t" || exit 1',
    ...files.map(({ path: file, bytes }) => {
      const folder = file.includes('/') ? file.slice(0, file.lastIndexOf('/')) : '.'
      return `mkdir -p ${quoted(folder)} && head -c ${bytes.length} > ${quoted(file)} || exit 1`
    }),
    'cd / && { mv "$t" "$p" 2>/dev/null || [ -d "$p" ]; }',
  ].join('\n')
  await answer(shell, 'the ladder', script, Buffer.concat(files.map(({ bytes }) => bytes)), signal)
  return path
}

/**
 * Sends the ladder's current files unless the machine already has them. Returns the remote folder's
 * path.
 */
export async function sendLadder(
  shell: Shell,
  facts: RemoteFacts,
  { folder, files, task }: LadderFolder,
  signal: AbortSignal,
): Promise<string> {
  const all = [...new Set([...files, ...fillFiles(task).map(({ path }) => path)])]
  const read = all.map(async (path) => ({ path, bytes: await readFile(join(folder, path)) }))
  return sendFolder(shell, facts, basename(folder), await Promise.all(read), signal)
}

const mostBytes = 256 * 2 ** 20

/**
 * Sends all files in a folder and its subfolders, except links. Throws an error if the files are
 * too large.
 */
export async function sendTree(
  shell: Shell,
  facts: RemoteFacts,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const root = resolve(folder)
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size))
  if (sizes.reduce((all, size) => all + size, 0) > mostBytes)
    throw inputError(message('machines.tooLarge', { folder: root, most: mostBytes / 2 ** 20 }))
  const files = await Promise.all(
    paths.map(async (path) => ({ path: relative(root, path), bytes: await readFile(path) })),
  )
  return sendFolder(shell, facts, basename(root), files, signal)
}

/**
 * Fetches all files in a folder and its subfolders, except the file at the path `leave`. Small
 * files come first, and every file is verified.
 */
export async function fetchFolder(
  shell: Shell,
  folder: string,
  leave: string,
  onFile: (file: RemoteFile) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const script = [
    `cd ${quoted(folder)} || exit 1`,
    `find . -type f ! -path ${quoted(`./${leave}`)} -size -524288k | while IFS= read -r f; do printf "%s %s\\n" "$(wc -c < "$f")" "$f"; done | sort -n | while IFS=" " read -r s f; do`,
    '  printf "file %s %s\\n" "$(sha256sum < "$f" | cut -d" " -f1)" "$f"; base64 "$f" || exit 1; echo .',
    'done',
  ].join('\n')
  let current: { path: string; hash: string; parts: string[] } | null = null
  let work = Promise.resolve()
  const result = await shell.run({
    script,
    onLine(line) {
      const [, hash, path] = /^file ([0-9a-f]{64}) \.\/(.+)$/.exec(line) ?? []
      if (hash !== undefined && path !== undefined) current = { path, hash, parts: [] }
      else if (line === '.' && current) {
        const { path: done, hash: wanted, parts } = current
        current = null
        const bytes = Buffer.from(parts.join(''), 'base64')
        work = work.then(() => {
          if (sha256(bytes) !== wanted)
            throw new KernelLadderError('failed', `${done} arrived damaged from ${shell.name}.`)
          return onFile({ path: done, bytes })
        })
        work.catch(() => undefined)
      } else current?.parts.push(line)
    },
    ...(signal ? { signal } : {}),
  })
  await work
  if (result.outcome !== 'done' || result.status !== 0)
    throw missingError(
      `The session could not be fetched from ${shell.name}; it is kept there in ${folder}.`,
    )
}
