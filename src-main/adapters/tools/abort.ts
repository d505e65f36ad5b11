/**
 * Registers callbacks for a cancelled run. Every running program and emulator thread, one per core,
 * waits for its run's signal.
 *
 * All callbacks share one listener per signal, because Node 20 reports a leak at the eleventh
 * listener.
 */

const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls back once when the signal aborts. The returned function cancels the callback. */
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
