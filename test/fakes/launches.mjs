// Replaces the launch probe that nvcc would build.
import { readFileSync } from 'node:fs'
import { faultIn, recorded, recordedLaunches, writeElsewhere } from './support.mjs'

export async function launches({ env, logCall, option, path, line, die, complain }) {
  logCall('launches')
  if (option('--reference') !== undefined) {
    const reason = env.FAKE_PROBE === 'reference' ? 'defines neither' : null
    line({ event: 'reference', reason })
    return 0
  }
  const library = readFileSync(path(option('--library') ?? option('--untrusted')), 'utf8')
  if (faultIn(library) === 'write') writeElsewhere(library, path, complain)
  const fault = /^\/\/ fault: probe-(\w+)/m.exec(library)?.[1]
  if (fault) {
    line({ event: 'launches', kernels: [], reason: 'the reason', fault })
    return 0
  }
  const rung = /^\/\/ rung: (\S+)/m.exec(library)[1]
  if (env.FAKE_PROBE === 'crash') die('SIGSEGV')

  // Use the kernel names from the compiler. Choose the kernel with the number of registers that ncu
  // reported for the launch.
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
  line({ event: 'launches', kernels, reason, fault: null })
  return 0
}
