/** What a session shows: its best rung, its largest steps, and those that did not pay. */
const best = 'Best rung: {rung} ({title}), {time} ± {spread}, {throughput}'
const reached =
  `${best}; it reaches {ratio} (± {both}) of the throughput of the reference {reference}` as const

export const summary = {
  none: 'No rung was verified and timed, so there is no best one.',
  best: `${best}.`,
  bestBelow: `${reached}.`,
  bestLevel: `${reached}, level with it within the spread.`,
  bestPast: `${reached}, past it.`,
  jump: '{to} is {factor} (± {spread}) as fast as {from}.',
  unexplained: 'No counter that was collected explains it.',
  announced: '{metric}: {a} → {b}, as its header announced.',
  largestLower: '{metric}: {a} → {b}, the largest improvement of a counter (lower is better).',
  largestHigher: '{metric}: {a} → {b}, the largest improvement of a counter (higher is better).',
  slower: '{to} is slower than {from}: {a} → {b} ({factor} as fast).',
  meant: 'It is meant to be.',
  level: '{to} is level with {from} within the spread of both.',
  trouble: '{rung}: {status}; why is below.',
} as const

/** How a rung ended; the names that sessions have for it. */
export const status = {
  ok: 'ok',
  wrong: 'wrong',
  failed: 'failed',
  unsupported: 'unsupported',
  'not-run': 'not-run',
} as const
