/**
 * Callbacks for a cancelled run. Every running program and emulator thread, one per core, waits for its run's signal.
 * They share one listener, because Node 20 reports a leak at the eleventh listener of a signal.
 */

const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls back once when the signal aborts, unless the returned function was called before. */
export function whenAborted(signal: AbortSignal, callBack: () => void): () => void {
  const all = waiting.get(signal) ?? new Set<() => void>()
  const call = (): void => callBack()
  const abort = (): void => {
    for (const one of [...all]) one()
  }
  if (!waiting.has(signal)) {
    waiting.set(signal, all)
    signal.addEventListener('abort', abort, { once: true })
  }
  all.add(call)
  return () => {
    all.delete(call)
  }
}
