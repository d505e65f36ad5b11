/** Provides this machine's tools: finds programs, runs them, and records their output. */
import { access, constants, readdir, readFile, rm, stat, open } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { redactNvidiaSmi } from '../../parsers/cuda/nvidia-smi'
import { claimGpu } from './gpu-lock'
import { runProcess, type ProcessResult } from './process'
import type { RawRecorder, ToolCall, Toolbox, ToolName } from './toolbox'
import { scratchFolder } from '../disk/owned-folder'

const exists = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  )

/**
 * Returns locations of CUDA tools that may not be in PATH. `KERNEL_LADDER_PATH_ONLY=1` disables
 * them.
 */
async function usualPlaces(tool: ToolName): Promise<string[]> {
  if (process.env.KERNEL_LADDER_PATH_ONLY === '1') return []
  if (tool === 'nvidia-smi') return ['/usr/bin', '/usr/local/nvidia/bin', '/usr/lib/wsl/lib']
  const places = ['/usr/local/cuda/bin', '/opt/cuda/bin']
  if (tool !== 'ncu') return places
  const root = '/opt/nvidia/nsight-compute'
  const versions = await readdir(root).catch(() => [])
  return [
    ...places,
    ...versions
      .sort()
      .reverse()
      .map((version) => join(root, version)),
  ]
}

export async function findTool(
  tool: Exclude<ToolName, 'runner' | 'program'>,
  path = process.env.PATH ?? '',
): Promise<string | null> {
  const folders = [...path.split(delimiter).filter(Boolean), ...(await usualPlaces(tool))]
  for (const folder of folders) {
    const candidate = join(folder, process.platform === 'win32' ? `${tool}.exe` : tool)
    if (await exists(candidate)) return candidate
  }
  return null
}

/** Removes serial numbers and similar identifiers before any text is stored. */
const redact = (tool: ToolName, text: string): string =>
  tool === 'nvidia-smi' ? redactNvidiaSmi(text) : text

/** Number of bytes to read from the end of a log. The end of a log shows why a program stopped. */
const lastBytes = 2 ** 16

/** Reads a log. Returns only the start and end of a long log. */
async function readEnds(
  path: string,
  mostBytes: number,
): Promise<{ text: string; whole: boolean }> {
  const file = await open(path).catch(() => null)
  if (!file) return { text: '', whole: true }
  try {
    const { size } = await file.stat()
    if (size <= mostBytes) return { text: await file.readFile('utf8'), whole: true }
    const part = async (position: number, length: number): Promise<string> => {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position })
      return buffer.toString('utf8', 0, bytesRead)
    }
    const [first, last] = [await part(0, mostBytes), await part(size - lastBytes, lastBytes)]
    const text = first.slice(0, first.lastIndexOf('\n') + 1) + last.slice(last.indexOf('\n') + 1)
    return { text, whole: false }
  } finally {
    await file.close()
  }
}

/** Maximum size of a rung's library in bytes. The usual size is a few megabytes. */
const mostBuiltBytes = 256 * 2 ** 20

export function liveToolbox(
  recorder: RawRecorder | null,
  run: (call: ToolCall) => Promise<ProcessResult> = runProcess,
): Toolbox {
  return {
    replays: false,
    recorder,
    ownerPid: process.pid,
    locate: (tool) => findTool(tool),
    async exec(call: ToolCall): Promise<ProcessResult> {
      const startedAt = new Date().toISOString()
      const result = await run(call)
      await recorder?.record(
        {
          key: call.key,
          tool: call.tool,
          argv: [call.file, ...call.args],
          outcome: result.outcome,
          exitCode: result.exitCode,
          signal: result.signal,
          seconds: result.seconds,
          startedAt,
        },
        redact(call.tool, result.stdout),
        result.stderr,
      )
      return result
    },
    async scratch() {
      const { path, remove } = await scratchFolder()
      return {
        path,
        async read(name, mostBytes) {
          const file = join(path, name)
          const size = await stat(file).then(
            (found) => found.size,
            () => Infinity,
          )
          return size <= mostBytes ? readFile(file, 'utf8') : null
        },
        readLog: (name, mostBytes) => readEnds(join(path, name), mostBytes),
        remove,
      }
    },
    async readBuilt(path) {
      try {
        return (await stat(path)).size <= mostBuiltBytes ? await readFile(path) : null
      } catch {
        return null
      }
    },
    claimGpu,
    // Write the file directly to its final path, because tools on this machine can access the disk
    // with the sessions.
    async output(keptAt) {
      await rm(keptAt, { force: true })
      return { path: keptAt, take: () => Promise.resolve() }
    },
  }
}
