/**
 * Runs shell scripts on a remote machine through the system's ssh. Uses the user's configuration,
 * keys, agent, and jump hosts. ssh never prompts for input. If ssh needs input, the call fails with
 * an error message.
 *
 * The remote login shell parses the command again and can print anything before the script runs.
 * Therefore, the command is a constant that every shell interprets in the same way. The script and
 * its data are sent through stdin. Two lines that begin with a random word mark the start and end
 * of the script's output.
 */
import { randomBytes } from 'node:crypto'
import { KernelLadderError, missingError } from '../../domain/errors'
import { message } from '../../domain/messages/message'
import { runProcess, type ProcessCall, type ProcessResult } from '../tools/process'

/** Runs shell scripts on one machine, remote or local. */
export interface Shell {
  /** The machine's name in messages, such as `titan (ssh titan.lab)`. */
  readonly name: string
  run(call: ShellCall): Promise<ShellResult>
}

interface ShellCall {
  /** POSIX shell code. */
  script: string
  /** Data that the script reads from stdin. */
  data?: Uint8Array
  /** Called with each line of the script's output as it arrives. */
  onLine?: (line: string) => void
  signal?: AbortSignal
  timeoutMs?: number
  /** If no byte arrives for this many milliseconds, the connection is considered lost. */
  idleMs?: number
  /**
   * Maximum number of output characters. If the output is longer, the connection is considered
   * lost.
   */
  outputLimit?: number
}

export interface ShellResult {
  /** How the call ended. `lost` means that the connection ended before the script did. */
  outcome: 'done' | 'lost' | 'cancelled'
  /** The script's exit status, or null unless the outcome is `done`. */
  status: number | null
  /** The script's output lines, without the output of shell startup files. */
  lines: string[]
  stderr: string
}

/**
 * Reads and runs the script. The first input line contains the script's length in bytes, and the
 * input after the script is its stdin.
 */
const bootstrap = `sh -c 'IFS= read -r n && s=$(head -c "$n") && eval "$s"'`

export const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

const options = (extra: readonly string[]): string[] => [
  '-T',
  ...[
    'BatchMode=yes',
    'ConnectTimeout=15',
    'ServerAliveInterval=15',
    'ServerAliveCountMax=3',
  ].flatMap((option) => ['-o', option]),
  ...extra,
]

/** ssh's error messages, each with the key of this program's message and remedy. */
const refusals = [
  [/REMOTE HOST IDENTIFICATION HAS CHANGED/, 'hostChanged'],
  [/Host key verification failed|No \S+ host key is known/, 'hostUnknown'],
  [/Could not resolve hostname|Name or service not known/, 'noHost'],
  [/Permission denied|Too many authentication failures/, 'hostDenies'],
  [/Connection refused/, 'hostRefuses'],
  [/timed out|No route to host|Network is unreachable/, 'hostSilent'],
] as const

/**
 * Returns the reason for a failed connection. Returns null if the script had already started or the
 * reason is unknown.
 */
export function refusalOf(host: string, stderr: string): KernelLadderError | null {
  const found = refusals.find(([pattern]) => pattern.test(stderr))
  if (!found) return null
  const [, key] = found
  return missingError(
    message(`machines.${key}`, { host }),
    message(`machines.${key}Remedy`, { host }),
  )
}

type Run = (call: ProcessCall) => Promise<ProcessResult>

/**
 * Runs a script between the start mark and the end mark. The carrier program is ssh or a local
 * shell.
 */
async function framed(
  { script, data, onLine, ...call }: ShellCall,
  carrier: { file: string; args: readonly string[] },
  run: Run,
): Promise<ShellResult & { begun: boolean; notFound: boolean }> {
  const mark = `kl-${randomBytes(8).toString('hex')}`
  const body = `printf '\\n${mark} begin\\n'\n(\n${script}\n)\nprintf '\\n${mark} end %s\\n' "$?"`
  const bytes = Buffer.from(body)
  const lines: string[] = []
  let [begun, status]: [boolean, number | null] = [false, null]
  /** An empty line directly before the end mark belongs to the mark, not to the output. */
  let pendingLine: string | null = null
  const take = (line: string): void => {
    if (onLine) onLine(line)
    else lines.push(line)
  }
  const result = await run({
    file: carrier.file,
    args: carrier.args,
    input: Buffer.concat([Buffer.from(`${bytes.length}\n`), bytes, data ?? new Uint8Array()]),
    ...call,
    onStdoutLine(line) {
      if (!begun) {
        begun = line === `${mark} begin`
        return
      }
      if (status !== null) return
      const end = line.startsWith(`${mark} end `) ? line.slice(mark.length + 5) : null
      if (end !== null) {
        status = Number(end)
        return
      }
      if (pendingLine !== null) take(pendingLine)
      pendingLine = null
      if (line === '') pendingLine = line
      else take(line)
    },
  })
  return {
    outcome: status !== null ? 'done' : result.outcome === 'cancelled' ? 'cancelled' : 'lost',
    status,
    lines,
    stderr: result.stderr,
    begun,
    notFound: result.outcome === 'not-found',
  }
}

/**
 * Returns a shell that uses ssh. `host` is ssh's host argument. `extra` contains additional
 * options, used for tests and host keys. A call throws an error if the connection fails.
 */
export const sshShell = (
  name: string,
  host: string,
  extra: readonly string[] = [],
  run: Run = runProcess,
): Shell => ({
  name,
  async run(call) {
    const args = [...options(extra), '--', host, bootstrap]
    const result = await framed(call, { file: 'ssh', args }, run)
    if (result.notFound)
      throw missingError('There is no ssh on this machine.', 'Install the OpenSSH client.')
    if (!result.begun && result.outcome === 'lost') {
      throw (
        refusalOf(host, result.stderr) ??
        missingError(
          `Shell scripts cannot run on ${host}: ${result.stderr.trim().split('\n').pop() || 'the connection ended'}.`,
          `Try \`ssh ${host} true\`.`,
        )
      )
    }
    return result
  },
})

/** Returns a shell on the local machine, for Slurm on a login node. */
export const localShell = (name: string, run: Run = runProcess): Shell => ({
  name,
  run: (call) =>
    framed(
      call,
      { file: 'sh', args: ['-c', 'IFS= read -r n && s=$(head -c "$n") && eval "$s"'] },
      run,
    ),
})

export interface HostKey {
  /** Host name printed by `ssh -G`. */
  hostname: string
  user: string
  port: string
  /**
   * The host key's fingerprint, such as `ssh-ed25519 SHA256:…`. Null if the connection ended before
   * the key exchange.
   */
  fingerprint: string | null
  known: boolean
}

/**
 * Returns the address to which ssh connects, and the host's key. The returned key is not trusted
 * yet.
 */
export async function askHostKey(
  host: string,
  extra: readonly string[] = [],
  run: Run = runProcess,
): Promise<HostKey> {
  const resolved = await run({ file: 'ssh', args: [...extra, '-G', '--', host], timeoutMs: 30_000 })
  if (resolved.outcome === 'not-found')
    throw missingError('There is no ssh on this machine.', 'Install the OpenSSH client.')
  if (resolved.exitCode !== 0)
    throw new KernelLadderError(
      'input',
      `ssh does not accept ${host}: ${resolved.stderr.trim().split('\n').pop() ?? ''}`,
    )
  const of = (key: string): string =>
    new RegExp(`^${key} (.*)$`, 'm').exec(resolved.stdout)?.[1] ?? ''
  const strict = ['-v', '-o', 'StrictHostKeyChecking=yes', '-o', 'FingerprintHash=sha256']
  const { stderr } = await run({
    file: 'ssh',
    args: [...options([...extra, ...strict]), '--', host, 'true'],
    timeoutMs: 60_000,
  })
  // Use the last key in the output, because the jump hosts' keys come first.
  const shown = [...stderr.matchAll(/Server host key: (\S+ SHA256:\S+)/g)].at(-1)?.[1] ?? null
  const unknown = /Host key verification failed|No \S+ host key is known/.test(stderr)
  if (shown === null) {
    const refusal = refusalOf(host, stderr)
    if (refusal) throw refusal
  }
  if (/REMOTE HOST IDENTIFICATION HAS CHANGED/.test(stderr)) throw refusalOf(host, stderr)!
  return {
    hostname: of('hostname'),
    user: of('user'),
    port: of('port'),
    fingerprint: shown,
    known: shown !== null && !unknown,
  }
}

/**
 * Adds a host's key to known_hosts if its fingerprint has not changed. Throws an error if the
 * fingerprint differs.
 */
export async function trustHostKey(
  host: string,
  fingerprint: string,
  extra: readonly string[] = [],
  run: Run = runProcess,
): Promise<void> {
  const { stderr } = await run({
    file: 'ssh',
    args: [
      ...options([...extra, '-v', '-o', 'StrictHostKeyChecking=accept-new']),
      ...['-o', 'FingerprintHash=sha256', '--', host, 'true'],
    ],
    timeoutMs: 60_000,
  })
  const shown = [...stderr.matchAll(/Server host key: (\S+ SHA256:\S+)/g)].at(-1)?.[1]
  if (shown !== fingerprint)
    throw new KernelLadderError(
      'failed',
      `${host} now presents the key ${shown ?? '(none)'}, not ${fingerprint}.`,
      `Remove the stored key with \`ssh-keygen -R\`, and ask its administrator.`,
    )
}
