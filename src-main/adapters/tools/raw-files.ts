/**
 * The raw output of a session's tools on disk: for a call with key `nvcc/01_naive`, the files
 * `raw/nvcc/01_naive.json` (argv, outcome, exit code), `.stdout.txt` and `.stderr.txt`. A stream of
 * more than 256 KiB (a page of a full report has megabytes) is kept gzipped, as `.stdout.txt.gz`.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { z } from 'zod'
import { inputError } from '../../domain/errors'
import { errorCode, pathExists, readPlainBytes, readPlainFile } from '../disk/disk'
import { outputLimitBytes } from './process'
import { toolNames, type RawCall, type RawRecorder } from './toolbox'

const RawCallFile = z.object({
  key: z.string(),
  tool: z.enum(toolNames),
  argv: z.array(z.string()),
  outcome: z.enum(['exited', 'signalled', 'not-found', 'idle', 'timeout', 'flooded', 'cancelled']),
  exitCode: z.number().nullable(),
  signal: z.string().nullable(),
  seconds: z.number(),
  startedAt: z.string(),
  reused: z.boolean().optional(),
})

const damagedRemedy = 'Use another recording, or fetch this one again.'

const keyPattern = /^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/

function rawPath(rawDir: string, key: string): string {
  if (!keyPattern.test(key) || key.includes('..'))
    throw inputError(`${JSON.stringify(key)} cannot name a raw output.`)
  return join(rawDir, key)
}

/** A folder on this machine and the word that stands for it in what is kept. */
export interface PathAlias {
  path: string
  alias: string
}

/** Replaces folders of this machine by words, so that what is kept names no home and no user. */
export function aliasPaths(text: string, aliases: readonly PathAlias[]): string {
  return aliases.reduce((result, { path, alias }) => result.replaceAll(path, alias), text)
}

const plainLimit = 256 * 1024
const zip = promisify(gzip)
const unzip = promisify(gunzip)

async function writeStream(path: string, text: string): Promise<void> {
  if (text.length <= plainLimit) await writeFile(path, text)
  else await writeFile(`${path}.gz`, await zip(text))
}

/** Absent is empty; one that cannot be unpacked, or unfolds to more than a tool may print, is refused. */
async function readStream(path: string): Promise<string> {
  const plain = await readPlainFile(path).catch(() => null)
  if (plain !== null) return plain
  const packed = await readPlainBytes(`${path}.gz`).catch(() => null)
  if (packed === null) return ''
  try {
    return (await unzip(packed, { maxOutputLength: outputLimitBytes })).toString('utf8')
  } catch {
    throw inputError(`${path}.gz is damaged: it cannot be unpacked.`, damagedRemedy)
  }
}

/** Calls of which a session keeps no raw output. */
export interface LostOutput {
  keys: string[]
  why: string
}

export interface DiskRecorder extends RawRecorder {
  /** What was recorded and is not in `rawDir`; null where nothing is missing. */
  lostFrom(rawDir: string): Promise<LostOutput | null>
}

const whyLost = (error: unknown): string => {
  const code = errorCode(error)
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? 'The disk was full.'
    : `It could not be written (${code ?? String(error)}).`
}

/**
 * Writes calls below `rawDir`. Longer paths must come first in `aliases`. Raw output backs what was
 * measured and is no condition of it: what the disk refuses is told by `lostFrom`, and never thrown.
 */
export function rawRecorder(rawDir: string, aliases: readonly PathAlias[]): DiskRecorder {
  const keys = new Set<string>()
  let why = 'It was deleted while the run was under way.'
  return {
    async record(call: RawCall, stdout: string, stderr: string) {
      const base = rawPath(rawDir, call.key)
      const kept = { ...call, argv: call.argv.map((word) => aliasPaths(word, aliases)) }
      keys.add(call.key)
      try {
        await mkdir(dirname(base), { recursive: true })
        await writeStream(`${base}.stdout.txt`, aliasPaths(stdout, aliases))
        await writeStream(`${base}.stderr.txt`, aliasPaths(stderr, aliases))
        // Last, because a call is there when this file is.
        await writeFile(`${base}.json`, `${JSON.stringify(kept, null, 2)}\n`)
      } catch (error) {
        why = whyLost(error)
        const files = [
          '.json',
          ...['stdout', 'stderr'].flatMap((s) => [`.${s}.txt`, `.${s}.txt.gz`]),
        ]
        for (const file of files) await rm(`${base}${file}`, { force: true }).catch(() => undefined)
      }
    },
    async lostFrom(folder) {
      const lost: string[] = []
      for (const key of keys)
        if (!(await pathExists(`${rawPath(folder, key)}.json`))) lost.push(key)
      return lost.length > 0 ? { keys: lost, why } : null
    },
  }
}

export interface RawOutput {
  call: RawCall
  stdout: string
  stderr: string
}

/** The kept output of a call, or null when the session has none under that key. */
export async function readRaw(rawDir: string, key: string): Promise<RawOutput | null> {
  const base = rawPath(rawDir, key)
  const json = await readPlainFile(`${base}.json`).catch(() => null)
  if (json === null) return null
  const parsed = RawCallFile.safeParse(parseJson(json))
  if (!parsed.success)
    throw inputError(`${base}.json is damaged: ${z.prettifyError(parsed.error)}`, damagedRemedy)
  const { reused, ...call } = parsed.data
  const [stdout, stderr] = await Promise.all(
    ['stdout', 'stderr'].map((stream) => readStream(`${base}.${stream}.txt`)),
  )
  return {
    call: { ...call, ...(reused === undefined ? {} : { reused }) },
    stdout: stdout ?? '',
    stderr: stderr ?? '',
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
