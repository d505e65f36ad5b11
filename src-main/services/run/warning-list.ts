/** Collects a run's distinct warnings and reports each warning when it first occurs. */
import { isDeepStrictEqual } from 'node:util'
import type { Statement } from '../../domain/messages/message'

interface WarningList {
  readonly all: readonly Statement[]
  add(warning: Statement): void
}

export function warningList(tell: (warning: Statement) => void): WarningList {
  const all: Statement[] = []
  return {
    all,
    add(warning) {
      if (all.some((known) => isDeepStrictEqual(known, warning))) return
      all.push(warning)
      tell(warning)
    },
  }
}
