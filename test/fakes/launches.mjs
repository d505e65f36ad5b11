// The stand-in for the launch probe that nvcc builds.
import { readFileSync } from 'node:fs'
import { recorded, recordedLaunches } from './support.mjs'

export async function launches({ env, logCall, option, path, line, die }) {
  logCall('launches')
  const rung = /^\/\/ rung: (\S+)/m.exec(readFileSync(path(option('--library')), 'utf8'))[1]
  if (env.FAKE_PROBE === 'crash') die('SIGSEGV')

  // As the compiler calls the kernels: the one with as many registers as ncu saw in the launch.
  const compiled = [
    ...recorded(`nvcc/${rung}`, 'stderr').matchAll(
      /entry function '(\w+)'[^]*?Used (\d+) registers/g,
    ),
  ].map(([, name, registers]) => ({ name, registers: Number(registers) }))
  const kernels = recordedLaunches(rung).flatMap(({ registersPerThread, ...launch }) => {
    const { name, grid, block, dynamicSharedBytes, clusterBlocks } = launch
    const found = compiled.find(({ registers }) => registers === registersPerThread)
    return found
      ? [{ name, grid, block, dynamicSharedBytes, clusterBlocks, mangled: found.name }]
      : []
  })
  const reason = kernels.length > 0 ? null : 'it launches no kernel of its own'
  line({ event: 'launches', kernels, reason })
  return 0
}
