/** Runs git to read old code. git writes nothing and runs no code from the repository. */
import { missingError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { runProcess } from '../tools/process'

const settings = [
  ...['core.hooksPath=/dev/null', 'core.fsmonitor=false'],
  // In a partial clone, git could otherwise run a configured program to fetch missing objects.
  'protocol.allow=never',
].flatMap((setting) => ['-c', setting])

/**
 * Returns settings that disable the repository's filter programs. git would otherwise run them on
 * file contents.
 */
function withoutFilters(keys: readonly string[]): Record<string, string> {
  const names = new Set(keys.flatMap((key) => /^filter\.(.+)\.[^.]+$/s.exec(key)?.[1] ?? []))
  const emptied = [...names].flatMap((name): [string, string][] => [
    ...['smudge', 'clean', 'process'].map((use): [string, string] => [`filter.${name}.${use}`, '']),
    [`filter.${name}.required`, 'false'],
  ])
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(emptied.length)],
    ...emptied.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
    ['GIT_NO_LAZY_FETCH', '1'],
  ]) as Record<string, string>
}

const timeoutMs = 120_000

interface GitAnswer {
  ok: boolean
  /** Text on stdout, without the final line break. */
  text: string
  /** Last line on stderr. */
  message: string
}

export type Git = (
  args: readonly string[],
  more?: { env?: Record<string, string>; cwd?: string },
) => Promise<GitAnswer>

/**
 * Returns a function that runs git in a folder. If git is not installed, the error message contains
 * `what`.
 */
export function gitIn(folder: string, what: string, signal: AbortSignal): Git {
  let filters: Promise<Record<string, string>> | null = null
  const call = async (args: readonly string[], cwd: string, env: Record<string, string>) => {
    const result = await runProcess({
      file: 'git',
      args: [...settings, ...args],
      ...{ cwd, env, timeoutMs, signal },
    })
    if (result.outcome === 'not-found')
      throw missingError(message('commits.noGit', { what }), message('commits.installGit'))
    return result
  }
  const findFilters = async (): Promise<Record<string, string>> => {
    const args = ['config', '-z', '--name-only', '--get-regexp', '^filter\\.']
    return withoutFilters((await call(args, folder, {})).stdout.split('\0'))
  }
  return async (args, { env = {}, cwd = folder } = {}) => {
    const result = await call(args, cwd, { ...(await (filters ??= findFilters())), ...env })
    const ok = result.outcome === 'exited' && result.exitCode === 0
    const message = result.stderr.trim().split('\n').pop() ?? ''
    return { ok, text: result.stdout.replace(/\n$/, ''), message }
  }
}
