/**
 * Removes all data that identifies a machine or a person from reports. Sessions store no serial
 * numbers. This module removes paths, host names, user names, and identifiers that tools wrote into
 * their messages. When in doubt, the module removes the text.
 */
import { isMessageKey, type Statement } from '../../domain/messages/message'
import { can } from '../../domain/targets/targets'
import type { Session } from '../../domain/session/session'
import { units } from '../../domain/metrics/units'
import type { Privates } from '../../adapters/machine/machine-identity'

/** Names that are never removed, because they are common words. */
const commonNames = new Set(
  'root user users admin node runner ubuntu debian nvidia cuda test home host localhost local'.split(
    ' ',
  ),
)

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/**
 * Folders that contain personal or machine-specific files. A path in one of them is recognized even
 * if it has only one more component.
 */
const privateRoots =
  'home|Users|root|tmp|var|private|mnt|media|scratch|data|gpfs|lustre|nfs|work|workspace|srv|opt|run|proc'
const topDomains =
  'local|lan|internal|intranet|corp|cluster|home|edu|org|com|net|gov|mil|io|dev|cloud|ai'

type Pattern = readonly [RegExp, string]

/**
 * Patterns in the order in which they are applied. Each pattern matches one kind of identifier.
 * Repetition is bounded, so that even malicious text takes only linear time.
 */
const patterns: readonly Pattern[] = [
  [/\bfile:\/\/[^\s"'<>)]*/gi, '<path>'],
  [/\b(?:GPU|MIG|UUID)-[0-9a-f-]{8,}/gi, '<uuid>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b/gi, '<address>'],
  [/\bserial\s*(?:number|no\.?|#)\s*[:=#]?\s*[\w-]{4,}/gi, 'serial <serial>'],
  [/\b\d{13}\b/g, '<serial>'],
  [/\b(?:10\.\d{1,3}|192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d{1,3}){2}\b(?!\.\d)/g, '<address>'],
  // A quoted path may contain spaces.
  [/(["'`])(?:\/[\w.]|[A-Za-z]:[\\/]|\\\\)[^"'`\n]*\1/g, '$1<path>$1'],
  [/(?<![A-Za-z0-9])[A-Za-z]:[\\/](?![\\/])[^\s"'<>|]+/g, '<path>'],
  [/\\\\[\w.$-]+\\[^\s"'<>|]+/g, '<path>'],
  [new RegExp(`(?<![\\w.~>)\\]/-])/(?:${privateRoots})/[^\\s"'<>|,;:()\\]]+`, 'g'), '<path>'],
  [/(?<=(?:^|[\s"'=,])-[A-Za-z]{1,8})\/[\w.+@%~-]+[^\s"'<>|,;:()\]]*/g, '<path>'],
  [/(?<![\w.~>)\]/*])\/[\w.+@%~-]+\/[^\s"'<>|,;:()\]]+/g, '<path>'],
  [/~[A-Za-z_][\w.-]*(?=\/)/g, '~'],
  [/\b[\w.+-]{1,64}@[A-Za-z0-9][\w.-]*/g, '<user>@<host>'],
]

/**
 * Patterns for identifiers that only a preceding word or a suffix identifies. They are not applied
 * to sources, because they would match code.
 */
const inSentences: readonly Pattern[] = [
  [/\bserial\s*[:=#]?\s*(?=[\w-]*\d)[\w-]{4,}/gi, 'serial <serial>'],
  [/\b(host(?:\s?name)?|node(?:\s?name)?|user(?:\s?name)?)\s*[:=]\s*[\w.-]+/gi, '$1: <$1>'],
  [new RegExp(`\\b(?:[a-z0-9][a-z0-9-]{0,62}\\.){1,8}(?:${topDomains})\\b`, 'gi'), '<host>'],
]

/**
 * Text that is never removed. Web addresses are kept, because they are citations. System and CUDA
 * folders are the same on every machine.
 */
const kept =
  /\bhttps?:\/\/[^\s"'<>)\]]+|(?<![\w.~-])\/usr\/(?:lib|lib64|bin|include|local\/cuda[\w.-]*)(?:\/(?!\.\.)[\w.+-]+)*\/?/gi

const replace = (text: string, all: readonly Pattern[]): string =>
  all.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), text)

export interface Scrubber {
  /** Scrubs text written by a tool or a person. */
  sentence: (text: string) => string
  /** Scrubs a rung's source, where text such as `host = x` is code. */
  source: (text: string) => string
}

/** Returns functions that remove private information from text. */
export function scrubber({ folders, words }: Privates): Scrubber {
  const ownFolders = folders
    .filter((folder) => folder.length > 1)
    .sort((a, b) => b.length - a.length)
    .map((folder): Pattern => {
      const below = `${escaped(folder)}(?:[\\\\/][^\\s"'<>|,;:()\\]]*)?`
      return [new RegExp(below, 'g'), '<path>']
    })
  const ownWords = words
    .filter((word) => word.length > 2 && !commonNames.has(word.toLowerCase()))
    .map((word): Pattern => {
      const whole = `(?<![\\w-])${escaped(word)}(?![\\w-])`
      return [new RegExp(whole, 'gi'), '<private>']
    })
  // Scrub words last. A path would no longer be recognized if its user name had been removed first.
  const scrub = (text: string, all: readonly Pattern[]): string => {
    let result = ''
    let at = 0
    for (const { 0: same, index } of text.matchAll(kept)) {
      result += replace(text.slice(at, index), all) + replace(same, ownWords)
      at = index + same.length
    }
    return result + replace(text.slice(at), all)
  }
  const always = [...ownFolders, ...patterns]
  return {
    sentence: (text) => scrub(text, [...always, ...inSentences, ...ownWords]),
    source: (text) => scrub(text, [...always, ...ownWords]),
  }
}

/** Fields with a fixed format, in which scrubbing could only break references. */
const identifierKeys = new Set(['after', 'reference', 'createdAt', 'evidence', 'status'])

/**
 * A task's prose fields. The task's other strings are names and expressions that refer to each
 * other.
 */
const taskProse = new Set(['title', 'summary', 'formula', 'result', 'name'])

function scrubTask(value: unknown, key: string, scrub: (text: string) => string): unknown {
  if (typeof value === 'string') return taskProse.has(key) ? scrub(value) : value
  if (Array.isArray(value)) return value.map((item) => scrubTask(item, key, scrub))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, scrubTask(item, name, scrub)]),
  )
}

function scrubValue(value: unknown, key: string, scrub: (text: string) => string): unknown {
  if (typeof value === 'string') {
    const isFixed =
      identifierKeys.has(key) || (key === 'unit' && units.some((unit) => unit === value))
    return isFixed ? value : scrub(value)
  }
  if (Array.isArray(value)) return value.map((item) => scrubValue(item, key, scrub))
  if (value === null || typeof value !== 'object') return value
  if (key === 'task') return scrubTask(value, key, scrub)
  // Don't scrub message keys and metric ids, because they contain no user data.
  if ('metric' in value && Object.keys(value).length === 1) return value
  if ('values' in value && 'key' in value && isMessageKey(value.key))
    return { key: value.key, values: scrubValue(value.values, '', scrub) }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      scrub(name),
      // Ids of ladders, rungs, and headers are public names. The session's own id can be any
      // string.
      name === 'id' && typeof item === 'string' ? item : scrubValue(item, name, scrub),
    ]),
  )
}

export const scrubStatement = (statement: Statement, scrub: (text: string) => string): Statement =>
  scrubValue(statement, '', scrub) as Statement

/** Returns only the folder's name, because readers run the command from the folder's parent. */
const scrubFolder = (folder: string, scrub: (text: string) => string): string =>
  `./${scrub(folder.split(/[\\/]/).findLast((name) => name !== '') ?? '')}`

/** Scrubs a session. The result still matches the schema. */
export function scrubSession(session: Session, scrub: (text: string) => string): Session {
  const scrubbed = scrubValue(session, '', scrub) as Session
  const { published, folder } = session.ladder
  const { host: _ofItsNetwork, ...rest } = scrubbed
  return {
    ...rest,
    // The name that the user gave to a machine is private.
    ...(can(session.target).elsewhere ? { target: { ...session.target, name: 'MACHINE' } } : {}),
    id: scrub(session.id),
    ladder: {
      ...scrubbed.ladder,
      ...(folder === undefined ? {} : { folder: scrubFolder(folder, scrub) }),
      // The keys are rung ids, which are public.
      ...(published && scrubbed.ladder.published
        ? {
            published: {
              ...scrubbed.ladder.published,
              gflops: published.gflops,
              ...(published.threadsPerBlock && { threadsPerBlock: published.threadsPerBlock }),
              metrics: published.metrics,
              ...(published.url !== undefined && !/^https?:/.test(published.url)
                ? { url: undefined }
                : {}),
            },
          }
        : {}),
    },
  }
}
