/** Lists the functions that a CUDA file and its headers define. */
import { readFile } from 'node:fs/promises'
import type { SourceFunction } from '../../domain/proposal/source'
import { sourceFunctions } from '../../parsers/kernels/cuda-source'

export { sourceFunctions }

export async function functionsIn(paths: readonly string[]): Promise<SourceFunction[]> {
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')))
  return texts.flatMap((text) => sourceFunctions(text))
}
