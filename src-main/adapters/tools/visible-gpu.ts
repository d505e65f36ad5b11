/** Restricts a toolbox's programs to a single GPU. */
import type { Toolbox } from './toolbox'

/** Tools that create a CUDA context or start a program that creates one. */
const onGpu: readonly string[] = ['runner', 'ncu', 'compute-sanitizer']

/**
 * Returns the value of CUDA_VISIBLE_DEVICES that makes only one GPU visible.
 * @param gpu index from 0 among the currently visible GPUs, which equals nvidia-smi's index if
 *   visibility is not restricted
 * @param visible the current value, for example as set by a scheduler, or null if unset
 * @returns the new value, or null if no visible GPU has the index `gpu`
 */
export function visibleGpu(gpu: number, visible: string | null): string | null {
  if (visible === null) return String(gpu)
  return (
    visible
      .split(',')
      .map((word) => word.trim())
      .filter(Boolean)[gpu] ?? null
  )
}

/**
 * Returns a toolbox whose programs can see only one GPU. `visible` is the return value of
 * `visibleGpu`.
 */
export const withVisibleGpu = (toolbox: Toolbox, gpu: number, visible: string): Toolbox => ({
  ...toolbox,
  gpu,
  exec: (call) =>
    toolbox.exec(
      onGpu.includes(call.tool)
        ? {
            ...call,
            // By default, CUDA lists the fastest GPU first, but nvidia-smi lists GPUs by bus
            // position.
            env: { ...call.env, CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: visible },
          }
        : call,
    ),
})
