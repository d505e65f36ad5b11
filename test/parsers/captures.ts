/** Real output of real tools, below test/captures; each with the argv that made it. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

const root = join(import.meta.dirname, '../captures')

interface Call {
  argv: string
  exit?: number
  stdout?: string
  stderr?: string
}

/**
 * A call of a tool and what it printed, from `calls.json` of its folder: `capture('ncu/2025.3.1-h200/no-kernels')`.
 * A long stdout lies beside it as `<name>.stdout.txt`.
 */
export function capture(name: string): Required<Omit<Call, 'exit'>> {
  const calls = JSON.parse(readFileSync(join(root, dirname(name), 'calls.json'), 'utf8')) as Record<
    string,
    Call
  >
  const call = calls[basename(name)]
  if (!call) throw new Error(`test/captures/${dirname(name)}/calls.json has no ${basename(name)}.`)
  return {
    argv: call.argv,
    stdout: call.stdout ?? readFileSync(join(root, `${name}.stdout.txt`), 'utf8'),
    stderr: call.stderr ?? '',
  }
}

export const ncuCapture = (name: string): string => capture(`ncu/2025.3.1-h200/${name}`).stdout

/** A report of ncu; the large ones are kept compressed. */
export function ncuReport(name: string): Uint8Array {
  const path = join(root, 'ncu/2025.3.1-h200', `${name}.ncu-rep`)
  return existsSync(path)
    ? new Uint8Array(readFileSync(path))
    : new Uint8Array(brotliDecompressSync(readFileSync(`${path}.br`)))
}

export function nvccCapture(name: string): string {
  const { stdout, stderr } = capture(`nvcc/13.0.88/${name}`)
  return `${stderr}\n${stdout}`
}
