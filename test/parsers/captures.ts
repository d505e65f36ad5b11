/** Real output of real tools, below test/captures; each has the argv that made it beside it. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

const root = join(import.meta.dirname, '../captures')

/** `capture('ncu/2025.3.1-h200/no-kernels').stdout` */
export function capture(name: string): { argv: string; stdout: string; stderr: string } {
  const read = (part: string): string => readFileSync(join(root, `${name}.${part}.txt`), 'utf8')
  return { argv: read('argv'), stdout: read('stdout'), stderr: read('stderr') }
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
