/** Restricts the programs of a toolbox to one of several GPUs. */
import type { Toolbox } from './toolbox'

/** The tools that create a CUDA context, or start a program that does. */
const onGpu: readonly string[] = ['runner', 'ncu', 'compute-sanitizer']

/**
 * Returns the value of CUDA_VISIBLE_DEVICES that leaves one GPU.
 * @param gpu index from 0 among the currently visible GPUs; without a restriction, that is nvidia-smi's index
 * @param visible the current value, as a scheduler sets it for a job; null if unset
 * @returns null if fewer GPUs are visible
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

/** Returns a toolbox whose programs see only this GPU. `visible` is a value of `visibleGpu`. */
export const withVisibleGpu = (toolbox: Toolbox, gpu: number, visible: string): Toolbox => ({
  ...toolbox,
  gpu,
  exec: (call) =>
    toolbox.exec(
      onGpu.includes(call.tool)
        ? {
            ...call,
            // By default, CUDA numbers the fastest GPU first, but nvidia-smi numbers by bus position.
            env: { ...call.env, CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: visible },
          }
        : call,
    ),
})
