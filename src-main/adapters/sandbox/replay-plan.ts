/**
 * Converts a launch description to a plan for cuda-kernels/judge. The header plan.hpp documents the
 * plan's format.
 */
import type { MachineCode } from '../../domain/sass/machine-code'
import { descriptionFault } from '../../domain/emulation/description'
import { inEnglish } from '../../domain/text/english'
import type { parseProbedLaunches } from '../../parsers/cuda/launch-probe'

type Answer = NonNullable<ReturnType<typeof parseProbedLaunches>>

/** Runner arguments for one case. */
export interface CaseWords {
  structBytes: string
  /** Fields of the launch struct, such as `0:i64:512` or `32:buffer:a`. */
  fields: readonly string[]
  /** Buffers of the case, such as `c:f32:out:512x512`. */
  buffers: readonly string[]
}

const dtypeBytes: Record<string, number> = {
  ...{ f64: 8, i64: 8, u64: 8, f32: 4, i32: 4, u32: 4, f16: 2, bf16: 2, i16: 2, u16: 2 },
  ...{ e4m3: 1, e5m2: 1, i8: 1, u8: 1 },
}

/**
 * Returns the plan lines for the buffers that the rung writes. A buffer's number is its position
 * among the launch struct's pointers, counted from 1.
 */
function outputLines({ fields, buffers }: CaseWords): string[] {
  const names = fields.flatMap((field) => /^\d+:buffer:(.+)$/.exec(field)?.[1] ?? [])
  return buffers.flatMap((text) => {
    const [name = '', dtype = '', access, shape = ''] = text.split(':')
    if (access === 'in') return []
    const bytes = shape
      .split('x')
      .reduce((size, extent) => size * Number(extent), dtypeBytes[dtype]!)
    return names.includes(name) ? [`output ${names.indexOf(name) + 1} ${bytes}`] : []
  })
}

function stepLines({ kernels, memory = [] }: Answer): string[] {
  const lines: string[] = []
  const operations = [...memory]
  const operationsBefore = (launch: number): void => {
    while (operations[0] && operations[0].before <= launch) {
      const { to, from, data, value, bytes } = operations.shift()!
      if (bytes === 0) continue
      if (data !== undefined) lines.push(`data ${to} ${data}`)
      else
        lines.push(
          from === undefined ? `fill ${to} ${value} ${bytes}` : `copy ${to} ${from} ${bytes}`,
        )
    }
  }
  for (const [index, launch] of kernels.entries()) {
    operationsBefore(index)
    const { mangled, grid, block, dynamicSharedBytes, clusterBlocks } = launch
    const words = [...grid, ...block, dynamicSharedBytes, clusterBlocks, launch.arguments || '-']
    lines.push(`launch ${mangled} ${words.join(' ')}`)
  }
  operationsBefore(kernels.length)
  return lines
}

/**
 * Returns the plan lines for one case. If the launch description does not match the machine code,
 * returns the reason instead.
 */
export function caseLines(
  modules: readonly MachineCode[],
  words: CaseWords,
  answer: Answer,
): string[] {
  const fault = descriptionFault(modules, {
    kernels: answer.kernels,
    symbols: answer.symbols ?? [],
  })
  const reason = answer.reason ?? (fault && inEnglish(fault))
  const head = [
    `case ${words.structBytes}`,
    ...words.fields.map((field) => `field ${field}`),
    ...outputLines(words),
  ]
  if (reason !== null) return [...head, `reason ${reason}`]
  return [
    ...head,
    `workspace ${answer.workspaceBytes ?? 0}`,
    ...(answer.stackBytes === undefined ? [] : [`stack ${answer.stackBytes}`]),
    ...(answer.symbols ?? []).map((name) => `symbol ${name}`),
    ...stepLines(answer),
  ]
}
