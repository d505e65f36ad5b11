/**
 * Runs one of this program's commands as a Slurm array job. Each task processes one part of the
 * work and reports the outcome.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { removeJob } from '../../adapters/remote/remote-jobs'
import {
  submitArray,
  type ArrayProgress,
  type EndedTask,
  type StartedArray,
} from '../../adapters/remote/slurm-array'
import type { Folders } from '../../adapters/machine/machine'
import { inputError, KernelLadderError } from '../../domain/errors'
import { endOf } from '../../domain/remote/slurm-job'
import { message, type Statement } from '../../domain/messages/message'
import { openMachine, prepare, type CommandThere, type RemoteOptions } from './remote-job'
import { JobLine } from '../../domain/remote/job-protocol'

interface TasksThere extends Omit<CommandThere, 'file'> {
  tasks: number
}

const retryMs = 5000
const attempts = 60

/**
 * Runs the tasks to completion. Reports each failed task. Throws an error only if all tasks failed.
 */
export async function runTasks(
  folders: Pick<Folders, 'config'>,
  name: string,
  { send, words, tasks }: TasksThere,
  options: Pick<RemoteOptions, 'signal' | 'onNotice'>,
): Promise<void> {
  const machine = await openMachine(folders, name)
  const { shell, entry } = machine
  if (!entry.slurm)
    throw inputError(message('slurm.noArray', { name }), message('slurm.noArrayDo', { name }))
  const { facts, node, agent } = await prepare(machine, options)
  const sent = send && (await send(shell, facts, options.signal))
  const id = `${new Date().toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}-${randomBytes(4).toString('hex')}`
  const job = JSON.stringify({ kind: 'words', words: words(`${facts.root}/jobs/${id}`, sent) })
  const { before, after } = entry
  const array = await submitArray(
    shell,
    facts,
    id,
    { node, agent, job, before, after },
    entry.slurm,
    tasks,
  )
  const stop = (): void => {
    array.stop(false).catch(() => undefined)
  }
  if (options.signal.aborted) stop()
  options.signal.addEventListener('abort', stop, { once: true })
  try {
    const ended = await followed(array, name, options)
    const failures = ended.flatMap((task) => {
      const why = fault(task)
      return why === null ? [] : [{ task: task.task, why }]
    })
    for (const { task, why } of failures.slice(0, 10))
      options.onNotice(message('slurm.task', { number: `${array.number}_${task}`, why }))
    if (failures.length > 10)
      options.onNotice(message('slurm.moreTasks', { count: failures.length - 10 }))
    if (options.signal.aborted) throw new KernelLadderError('cancelled', message('asked.cancelled'))
    if (failures.length === tasks)
      throw new KernelLadderError(
        'failed',
        message('slurm.noTask', { name, number: array.number }),
        message('machines.seeFolder', { folder: array.place.folder }),
      )
    await removeJob(shell, array.place).catch(() => undefined)
  } finally {
    options.signal.removeEventListener('abort', stop)
  }
}

/** Follows the array job and reconnects after the connection is lost. */
async function followed(
  array: StartedArray,
  name: string,
  { onNotice }: Pick<RemoteOptions, 'onNotice'>,
): Promise<EndedTask[]> {
  let last = ''
  const onProgress = (progress: ArrayProgress): void => {
    const notice = noticeOf(name, progress)
    const text = JSON.stringify(notice)
    if (text !== last) onNotice(notice, 'info')
    last = text
  }
  for (let tries = 0; tries < attempts; tries += 1) {
    // Stop requests are sent to the tasks. Running tasks save their results, and then the array job
    // ends.
    const ended = await array.follow(onProgress, new AbortController().signal)
    if (ended) return ended
    onNotice(message('machines.lost', { name }))
    await delay(retryMs)
  }
  throw new KernelLadderError('failed', message('machines.stillThere', { name }))
}

function noticeOf(
  name: string,
  { number, tasks, done, running, waiting, reasons, nodes }: ArrayProgress,
): Statement {
  const values = { name, number, tasks, done, running, waiting }
  return message('slurm.array', {
    ...values,
    nodes: nodes.length === 0 ? '–' : nodes.join(', '),
    reasons: reasons.length === 0 ? '–' : reasons.join(', '),
  })
}

/** Returns the reason that a task did not complete its part, or null if the part is complete. */
function fault({ last, queue, accounting }: EndedTask): Statement | null {
  const line = JobLine.safeParse(last).data
  if (line?.type === 'end') {
    if (line.error) return line.error.message
    return line.code === 0 ? null : message('slurm.taskEnded', { code: line.code })
  }
  return endOf({ queue, accounting, step: null }).statement
}
