/** A session's highlights: its best rung, its largest steps, and those that did not pay off. */
const best = 'Best rung: {rung} ({title}), {time} ± {spread}, {throughput}'
const reached =
  `${best}; it reaches {ratio} (± {both}) of the throughput of the reference {reference}` as const

export const summary = {
  none: 'No rung was verified and timed, so there is no best one.',
  kernels:
    'GPU time under ncu: {time} (kernels: {kernels}, launches: {launches}). The hottest is {title}: {own}, {share} of it.',
  best: `${best}.`,
  bestBelow: `${reached}.`,
  bestLevel: `${reached}, on par with it within the spread.`,
  bestPast: `${reached}, ahead of it.`,
  jump: '{to} is {factor} (± {spread}) as fast as {from}.',
  unexplained: 'None of the collected counters explains it.',
  announced: '{metric}: {a} → {b}, as its header predicted.',
  slower: '{to} is slower than {from}: {a} → {b} ({factor} as fast).',
  meant: 'That is intentional.',
  level: '{to} is on par with {from} within the spread of both, or half a percent.',
  trouble: '{rung}: {status}; the reason is below.',
} as const

/** How a rung ended, by the names used in sessions. */
export const status = {
  ok: 'ok',
  wrong: 'wrong',
  failed: 'failed',
  unsupported: 'unsupported',
  'not-run': 'not-run',
} as const
