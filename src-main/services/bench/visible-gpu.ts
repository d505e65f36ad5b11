/** Creates the toolbox for a run on a selected GPU. */
import type { Toolbox, RawRecorder } from '../../adapters/tools/toolbox'
import { message } from '../../domain/messages/message'
import { inputError } from '../../domain/errors'
import type { Machine } from '../../adapters/machine/machine'
import { visibleGpu, withVisibleGpu } from '../../adapters/tools/visible-gpu'

/**
 * @param gpu index from 0 among the visible GPUs, or undefined to let CUDA choose
 * @throws an input error if CUDA_VISIBLE_DEVICES has no entry for the index. `queryDevice` detects
 *   an index that the machine does not have.
 */
export function toolboxOn(
  machine: Pick<Machine, 'toolbox' | 'variable'>,
  recorder: RawRecorder | null,
  gpu: number | undefined,
): Toolbox {
  const toolbox = machine.toolbox(recorder)
  if (gpu === undefined) return toolbox
  const listed = machine.variable('CUDA_VISIBLE_DEVICES')
  const visible = visibleGpu(gpu, listed)
  if (visible === null)
    throw inputError(
      message('asked.gpuNotListed', { gpu, listed: JSON.stringify(listed) }),
      message('asked.gpuNumbers'),
    )
  return withVisibleGpu(toolbox, gpu, visible)
}
