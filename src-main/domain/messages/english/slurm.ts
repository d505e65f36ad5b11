/** Jobs of Slurm, on machines other than this one. */
export const slurm = {
  queued: 'Job {number} waits in the queue of {name} ({reason}).',
  held: 'Job {number} is held on {name} ({reason}) and starts once it is released.',
  running: 'Job {number} of {name} runs on {node}.',
  requeued:
    'Job {number} was stopped by Slurm and is in the queue of {name} again ({reason}); the run starts over.',
  requeuedHeld:
    'Job {number} was stopped by Slurm and is held on {name} ({reason}); the run starts over once it is released.',
  early: 'Job {number} on {name} ended early, with what had finished.',
  ended: 'Job {number} on {name} is over without a result.',
  nothing: 'Slurm counts it as completed, but it left no result.',
  cancelled: 'It was cancelled.',
  time: 'It reached its time limit.',
  preempted: 'It was preempted by another job and not queued again.',
  node: 'Its node failed.',
  memory: 'It ran out of memory.',
  failed: 'It failed.',
  lost: 'Neither queue nor accounting knows it any more.',
  array:
    'Array {number} on {name}: {done} of {tasks} tasks done, {running} running ({nodes}), {waiting} waiting ({reasons}).',
  task: 'Task {number} did not do its part. {why}',
  taskEnded: 'It ended with {code}.',
  moreTasks: '{count} more tasks did not do their part either.',
  noTask: 'No task of array {number} on {name} did its part.',
  noArray: 'The machine {name} has no Slurm, so there are no tasks to split the work into.',
  noArrayDo: 'Leave --tasks out, or add {name} with --slurm.',
  noNumber: 'sbatch on {name} took the job but gave no number: {text}',
  noSlurm: 'There is no sbatch on {name}.',
  noSlurmDo:
    'Add the machine without --slurm, or have sbatch on the PATH of commands that run on {name} over ssh.',
  unreachable: 'Slurm on {name} does not answer: {text}',
  unreachableDo: 'Try it again later, or ask its administrator.',
  refused: 'Slurm on {name} refuses the job: {text}',
  refusedDo:
    'Change partition, account, gres, constraint or time of {name} in machines.yaml, or add it again with --replace.',
} as const
