/** Restricts the programs of a toolbox to one GPU of a machine that has several. */
import type { Toolbox } from './toolbox'

/** The tools that create a CUDA context, or start a program that does. */
const onGpu: readonly string[] = ['runner', 'ncu', 'compute-sanitizer']

/**
 * The value of CUDA_VISIBLE_DEVICES that leaves one GPU.
 * @param gpu counts from 0 among the GPUs that are visible now; without a restriction, that is nvidia-smi's number
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

/** The same toolbox, whose programs see only this GPU. `visible` is a value of `visibleGpu`. */
export const withVisibleGpu = (toolbox: Toolbox, gpu: number, visible: string): Toolbox => ({
  ...toolbox,
  gpu,
  exec: (call) =>
    toolbox.exec(
      onGpu.includes(call.tool)
        ? {
            ...call,
            // CUDA otherwise counts the fastest GPU first, nvidia-smi by place on the bus.
            env: { ...call.env, CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: visible },
          }
        : call,
    ),
})
