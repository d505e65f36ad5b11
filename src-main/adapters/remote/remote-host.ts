/**
 * What is done on another machine by shell scripts: look at it, send files by hash, start a job in a process group of
 * its own, follow its lines from any byte on, end it, and fetch what it made. Files are staged, checked and renamed.
 */
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { KernelLadderError, missingError } from '../../domain/errors'
import type { Statement } from '../../domain/messages/message'
import { sha256 } from '../disk/build-cache'
import { quoted, type Shell, type ShellResult } from './ssh'

export interface RemoteFacts {
  os: string
  arch: string
  /** Absolute: agents, ladders and jobs lie below it. */
  root: string
  /** Path of a Node that is new enough; null if there is none. */
  node: string | null
  freeKiB: number | null
  /** How far its clock is ahead of ours, in seconds. */
  clockAhead: number
}

export interface RemoteFile {
  /** Relative, with `/`. */
  path: string
  bytes: Uint8Array
}

const failed = (shell: Shell, what: string, { lines, stderr }: ShellResult): KernelLadderError => {
  const said = (stderr.trim().split('\n').pop() ?? '') || (lines.at(-1) ?? '')
  return /No space left|quota exceeded/i.test(stderr)
    ? missingError(
        `${shell.name} has no space left for ${what}.`,
        'Free some space in its home, or set XDG_CACHE_HOME there to a larger disk.',
      )
    : missingError(
        `${shell.name} refuses ${what}: ${said}`,
        'Check that its home can be written to, or set XDG_CACHE_HOME there to a folder that can.',
      )
}

/** Runs a script that is not followed, and returns its lines. Throws if the connection is lost or the script fails. */
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
    timeoutMs: 15 * 60_000,
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
 * The commands around a run are run around the look as well: they may say where the root is, and what they pause goes
 * on again. Throws if it is no Linux, or if its home cannot be written to.
 */
export async function lookAt(
  shell: Shell,
  { before, after }: Pick<StartJob, 'before' | 'after'>,
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

/** Sends one file unless it is there; returns its path. `place` is below the root and names the content. */
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
    'a look for the program',
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

/** The hash that names a folder's content. */
const contentHash = (files: readonly RemoteFile[]): string => {
  const hash = createHash('sha256')
  for (const { path, bytes } of [...files].sort((a, b) => (a.path < b.path ? -1 : 1)))
    hash.update(`${path}\0${bytes.length}\0`).update(bytes)
  return hash.digest('hex').slice(0, 32)
}

/** Sends a folder unless its content is there; returns its path. */
export async function sendFolder(
  shell: Shell,
  { root }: Pick<RemoteFacts, 'root'>,
  name: string,
  files: readonly RemoteFile[],
  signal?: AbortSignal,
): Promise<string> {
  // The last part is what the ladder is called in messages.
  const path = `${root}/ladders/${contentHash(files)}/${name.replaceAll(/[^\w.-]/g, '_')}`
  const there = await answer(
    shell,
    'a look for the ladder',
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

export interface JobPlace {
  /** Absolute, there. */
  folder: string
}

export interface StartJob {
  node: string
  agent: string
  /** The job's document. */
  job: string
  before: readonly string[]
  after: readonly string[]
}

/**
 * What runs a job in its folder: the commands before, the program, the commands after. A job that is started over
 * begins its lines anew on a line of their own. A task of an array has its own files, which end in its number.
 */
export const jobScript = ({ node, agent, before, after }: Omit<StartJob, 'job'>): string =>
  [
    '#!/bin/sh',
    't=${SLURM_ARRAY_TASK_ID:+.$SLURM_ARRAY_TASK_ID}; child=; told=',
    'trap \'told=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null\' INT TERM HUP',
    'echo begun; rm -rf session "done$t" "failed$t"; [ ! -f "events$t" ] || echo >> "events$t"',
    ...before.map(
      (command) =>
        `{ ${command}\n} || { echo ${quoted(`The command before the run failed: ${command}`)} > "failed$t"; exit 1; }`,
    ),
    '[ ! -f stop ] || exit 1',
    `${quoted(node)} ${quoted(agent)} __agent job.json "events$t" </dev/null >"stdout$t" 2>>"stderr$t" &`,
    'child=$!; echo "$child" > "pid.part$t" && mv "pid.part$t" "pid$t"',
    // A signal ends the first wait, and the program still has to save.
    'wait "$child"; code=$?; while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done',
    ...after.map((command) => `{ ${command}\n}`),
    // Stopped by other than its user: it may be started over.
    '[ -n "$told" ] && [ ! -f stop ] || touch "done$t"; exit "$code"',
    '',
  ].join('\n')

/** Writes the job's files into a new folder; `then` runs there. Returns the lines of `then`. */
export async function placeJob(
  shell: Shell,
  { root }: Pick<RemoteFacts, 'root'>,
  id: string,
  start: StartJob,
  then: string,
): Promise<{ place: JobPlace; lines: string[] }> {
  const folder = `${root}/jobs/${id}`
  const run = Buffer.from(jobScript(start))
  const job = Buffer.from(start.job)
  const script = [
    `d=${quoted(folder)}; umask 077; mkdir -p "$(dirname "$d")" && mkdir "$d" && cd "$d" || exit 1`,
    `head -c ${job.length} > job.json && head -c ${run.length} > run.sh || exit 1`,
    then,
  ].join('\n')
  const lines = await answer(shell, 'the job', script, Buffer.concat([job, run]))
  return { place: { folder }, lines }
}

/** How it is told there whether a job goes on, in `sh` within its folder. */
export interface Watch {
  /** Once, at the start. */
  first?: string
  /** Before each look at the job's lines; sets `a` while the job may still write some. */
  each: string
  /** Once, at the end. */
  last?: string
  /** Between two looks, in seconds. */
  pause: string
}

export interface Followed {
  /** `ended`: the job is gone, and all its lines have come. */
  outcome: 'ended' | 'lost' | 'cancelled'
  /** Where to go on after a lost connection. */
  offset: number
  /** Of an ended job: why it could not begin, and what its program said beside its lines. */
  said: string[]
}

export interface Follower {
  onLine: (line: unknown) => void
  /** The job's folder is there; its lines follow as they come. */
  onConnected?: () => void
}

/** Passes on the lines of a job's events from a byte on, until it ends or the connection is lost. */
export async function follow(
  shell: Shell,
  { folder }: JobPlace,
  offset: number,
  watch: Watch,
  { onLine, onConnected, onWatched }: Follower & { onWatched?: (line: string) => void },
  signal: AbortSignal,
): Promise<Followed> {
  let at = offset
  /** Bytes of lines that are not whole: of a cut connection, or of a job that was killed while it wrote. */
  let torn = 0
  const said: string[] = []
  const result = await shell.run({
    script: [
      `cd ${quoted(folder)} || exit 1; o=${offset}; echo "% connected"`,
      watch.first ?? '',
      'while :; do',
      `  a=; ${watch.each}`,
      '  n=0; [ ! -f events ] || n=$(wc -c < events)',
      '  if [ "$n" -gt "$o" ]; then tail -c +$((o + 1)) events | head -c $((n - o)); o=$n; fi',
      '  [ -n "$a" ] || break',
      `  sleep ${watch.pause} 2>/dev/null || sleep 1`,
      'done',
      watch.last ?? '',
      '[ -f failed ] && sed "s/^/# /" failed; tail -n 5 stderr 2>/dev/null | sed "s/^/# /"; true',
    ].join('\n'),
    onLine(line) {
      if (line.startsWith('# ')) {
        said.push(line.slice(2))
        return
      }
      if (line === '% connected') {
        onConnected?.()
        return
      }
      if (line.startsWith('% ')) {
        onWatched?.(line.slice(2))
        return
      }
      let value: unknown
      try {
        value = JSON.parse(line)
      } catch {
        torn += Buffer.byteLength(line) + 1
        return
      }
      // What was torn before a whole line was complete in the file.
      at += torn + Buffer.byteLength(line) + 1
      torn = 0
      onLine(value)
    },
    signal,
  })
  const outcome =
    result.outcome === 'done' ? (result.status === 0 ? 'ended' : 'lost') : result.outcome
  return { outcome, offset: at, said }
}

/** A job that was started, however. */
export interface StartedJob {
  place: JobPlace
  /** Its number in the queue of a scheduler; null without one. */
  number: string | null
  follow(offset: number, follower: Follower, signal: AbortSignal): Promise<Followed>
  /** Asks its program to stop and save, or ends everything that it started. */
  stop(force: boolean): Promise<unknown>
  /** Of an ended job, what a scheduler says of its end; null without one. */
  ending(): { early: boolean; said: Statement } | null
}

/**
 * Whether the job's process group is there: not after a reboot, whoever has its number now. `kill -s`, because dash
 * takes no negative number after `kill -0 --`.
 */
const groupLives =
  '[ "$(cat boot 2>/dev/null)" = "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)" ] && kill -s 0 -- "-$(cat group)" 2>/dev/null && a=1'

/** A job that was started in a process group of its own, now or by an earlier call. */
export const detachedJob = (shell: Shell, place: JobPlace): StartedJob => ({
  place,
  number: null,
  follow: (offset, follower, signal) =>
    follow(shell, place, offset, { each: groupLives, pause: '0.2' }, follower, signal),
  stop: (force) =>
    answer(
      shell,
      'stopping the job',
      force
        ? `cd ${quoted(place.folder)} && kill -s KILL -- "-$(cat group)" 2>/dev/null; true`
        : `cd ${quoted(place.folder)} && { [ -f pid ] || sleep 1; kill -TERM "$(cat pid)" 2>/dev/null; true; }`,
    ),
  ending: () => null,
})

/** Starts a job that no hang-up reaches. */
export async function startDetached(
  shell: Shell,
  facts: Pick<RemoteFacts, 'root'>,
  id: string,
  start: StartJob,
): Promise<StartedJob> {
  const then = [
    'cat /proc/sys/kernel/random/boot_id > boot 2>/dev/null',
    'setsid sh run.sh </dev/null >/dev/null 2>>stderr & echo "$!" > group',
  ].join('\n')
  const { place } = await placeJob(shell, facts, id, start, then)
  return detachedJob(shell, place)
}

/** A job's folder that is still there. */
export interface FoundJob {
  id: string
  /** `ended` with all its results; `gone` without. */
  state: 'running' | 'ended' | 'gone'
  /** What sbatch printed; null for a job that was not submitted to Slurm. */
  submission: string[] | null
  /** The job's document. */
  job: string
}

/** The jobs whose results were not brought home, the oldest first. Arrays are not among them. */
export async function findJobs(
  shell: Shell,
  { root }: Pick<RemoteFacts, 'root'>,
  signal?: AbortSignal,
): Promise<FoundJob[]> {
  const script = [
    `cd ${quoted(`${root}/jobs`)} 2>/dev/null || exit 0`,
    'for d in *; do',
    '  [ -f "$d/job.json" ] && [ ! -f "$d/queue.old" ] || continue',
    '  cd "$d"; s=gone; a=',
    '  if [ -f sbatch.out ]; then',
    `    n=$(grep -Eo '^[0-9]+(;|$)' sbatch.out | tail -n 1 | tr -d ';'); [ -z "$(squeue -h -j "$n" -o %T 2>/dev/null)" ] || s=running`,
    `  else ${groupLives}; [ -z "$a" ] || s=running; fi`,
    `  grep -q '^{"type":"end"' events 2>/dev/null && s=ended`,
    '  printf "job %s %s\n" "$d" "$s"; [ ! -f sbatch.out ] || sed "s/^/out /" sbatch.out; printf "is "; cat job.json; echo; cd ..',
    'done',
  ].join('\n')
  const found: FoundJob[] = []
  for (const line of await answer(shell, 'a look at its runs', script, undefined, signal)) {
    const [, id, state] = /^job (\S+) (running|ended|gone)$/.exec(line) ?? []
    if (id !== undefined)
      found.push({ id, state: state as FoundJob['state'], submission: null, job: '' })
    const last = found.at(-1)
    if (last && line.startsWith('out '))
      last.submission = [...(last.submission ?? []), line.slice(4)]
    if (last && line.startsWith('is ')) last.job = line.slice(3)
  }
  return found
}

/** Fetches the files below a folder but those named `leave`, the small ones first; each is checked. */
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

export const removeJob = (shell: Shell, { folder }: JobPlace): Promise<unknown> =>
  answer(shell, 'tidying up', `rm -rf ${quoted(folder)}`)
