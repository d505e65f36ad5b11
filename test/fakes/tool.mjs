// Runs the fakes as programs: `node tool.mjs nvcc …` is the fake nvcc.
import { asProgram } from './program.mjs'

const fakes = {
  nvcc: async () => (await import('./nvcc.mjs')).nvcc,
  ncu: async () => (await import('./ncu.mjs')).ncu,
  'nvidia-smi': async () => (await import('./nvidia-smi.mjs')).nvidiaSmi,
  'compute-sanitizer': async () => (await import('./compute-sanitizer.mjs')).computeSanitizer,
  // Outside tests, nvcc builds the following programs.
  'kl-runner': async () => (await import('./runner.mjs')).runner,
  'kl-launches': async () => (await import('./launches.mjs')).launches,
  'kl-calibrate': async () => (await import('./calibrate.mjs')).calibrate,
}

const [name] = process.argv.splice(2, 1)
await asProgram(name, await fakes[name]())
