/** Runs work on several items in parallel, at most one item per core. */
import { availableParallelism } from 'node:os'

/**
 * Starts work on the items in order, at most one item per core at a time. After a failure, starts
 * no further items.
 */
export function startInParallel<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R>[] {
  let [running, failure]: [number, { error: unknown } | null] = [0, null]
  const waiting: (() => void)[] = []
  const turn = async (): Promise<void> => {
    if (running >= availableParallelism()) await new Promise<void>((begin) => waiting.push(begin))
    running += 1
  }
  return items.map(async (item) => {
    await turn()
    try {
      if (failure) throw failure.error
      return await work(item)
    } catch (error) {
      failure ??= { error }
      throw error
    } finally {
      running -= 1
      waiting.shift()?.()
    }
  })
}

/** Runs work on all items and waits for all results. Throws the error from the first failure. */
export async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const all = startInParallel(items, work)
  try {
    await Promise.all(all)
  } finally {
    await Promise.allSettled(all)
  }
}
