/** git, as far as old code needs it: it only reads, and runs nothing that a repository may bring along. */
import { missingError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { runProcess } from '../tools/process'

const settings = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false']

const timeoutMs = 120_000

export interface GitAnswer {
  ok: boolean
  /** Without its last line break. */
  text: string
  /** The last line of what it said. */
  said: string
}

export type Git = (
  args: readonly string[],
  more?: { env?: Record<string, string>; cwd?: string },
) => Promise<GitAnswer>

/** git in a folder; `what` could not be read where there is no git. */
export const gitIn =
  (folder: string, what: string, signal: AbortSignal): Git =>
  async (args, { env = {}, cwd = folder } = {}) => {
    const result = await runProcess({
      file: 'git',
      args: [...settings, ...args],
      cwd,
      env,
      timeoutMs,
      signal,
    })
    if (result.outcome === 'not-found')
      throw missingError(message('commits.noGit', { what }), message('commits.installGit'))
    const ok = result.outcome === 'exited' && result.exitCode === 0
    const said = result.stderr.trim().split('\n').pop() ?? ''
    return { ok, text: result.stdout.replace(/\n$/, ''), said }
  }
