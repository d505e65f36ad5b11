/** Defines the examples at the end of each command's help. */
import type { Command } from 'commander'

/**
 * Examples by full command path, without the program's name. An example has a description only if
 * it is not self-explanatory.
 */
export const examples: Readonly<Record<string, readonly string[]>> = {
  doctor: ['doctor', 'doctor --json'],
  ladders: ['ladders', 'ladders ./my-ladder'],
  init: [
    'init my-ladder --template softmax',
    'init my-ladder --from kernels.cu --kernel transpose',
  ],
  run: [
    'run --ladder ./my-ladder',
    'run --ladder ./my-ladder --rungs 02_tile,03_vector --size 4096 --profile deep',
    'run --ladder ./my-ladder --watch',
    'run --ladder ./my-ladder --target emulated:h200 --size 512',
  ],
  profile: ['profile -- python train.py --steps 3', 'profile --kernels attention -- ./app'],
  sessions: ['sessions', 'sessions --limit 100'],
  show: ['show', 'show recorded', 'show my-session --rung 02_tile'],
  diff: ['diff my-session 01_naive 02_tile'],
  next: ['next', 'next my-session 02_tile', 'next kernel.ncu-rep --json'],
  compare: ['compare before after', 'compare before after --json'],
  report: [
    'report recorded --format html --out ladder.html',
    'report my-session --ci --baseline last-week --threshold 3',
    'report recorded --chart roofline --out roofline.svg',
  ],
  'machine add': ['machine add titan --ssh titan.example.org'],
  'machine list': ['machine list'],
  'machine check': ['machine check titan'],
  'machine fetch': ['machine fetch ./session --open'],
  'machine calibrate': ['machine calibrate local', 'machine calibrate titan'],
  'machine remove': ['machine remove titan'],
  regress: ['regress --ladder ./my-ladder --against main'],
  tune: [
    'tune --ladder ./my-ladder --rung 02_tile',
    'tune --ladder ./my-ladder --rung 02_tile --param TILE=16,32,64 --gpu all --budget 10m --apply',
  ],
  history: ['history --ladder ./my-ladder --size 4096'],
  import: ['import kernel.ncu-rep', 'import raw.csv --order 02_tile,00_naive'],
  sanitize: ['sanitize --ladder ./my-ladder', 'sanitize --ladder ./my-ladder --tool racecheck'],
  serve: ['serve', 'serve --port 8080 --session ./my-session'],
  app: ['app'],
  edit: ['edit my-session 02_tile:40'],
  mcp: ['mcp ~/kernels', 'mcp --allow-run ~/kernels'],
  completion: ['completion bash'],
  'lab list': ['lab list'],
  'lab start': ['lab start 01-coalescing my-lab'],
  'lab check': [
    'lab check 01-coalescing --file my-lab/lab.cu',
    'lab check 01-coalescing --file my-lab/lab.cu --target emulated',
  ],
  'lab regrade': ['lab regrade record.json'],
  'lab grade': ['lab grade submissions --lab 01-coalescing --csv'],
  'lab trust': ['lab trust ./their-lab'],
  'lab validate': ['lab validate ./my-labs'],
}

const text = (lines: readonly string[]): string =>
  `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  $ kernel-ladder ${line}`).join('\n')}`

/** Adds the examples to the commands' help. */
export function addExamples(command: Command, path = ''): void {
  const own = examples[path]
  if (own) command.addHelpText('after', text(own))
  for (const sub of command.commands) addExamples(sub, `${path} ${sub.name()}`.trim())
}
