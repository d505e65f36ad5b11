import { recorded } from './support.mjs'

export async function nvidiaSmi({ env, logCall, say, busIdOfMachine }) {
  logCall('nvidia-smi')
  const program =
    '<process_info><pid>4242</pid><type>C</type><process_name>a.out</process_name></process_info>'
  const programs = program.repeat(Number(env.FAKE_GPU_PROGRAMS ?? 0))
  const one = recorded('nvidia-smi/query')
  // Return as many GPUs as a test requests, each with its own PCI bus id.
  const [gpu] = /<gpu id=[^]*<\/gpu>/.exec(one)
  const all = Array.from({ length: Number(env.FAKE_GPUS || 1) }, (_, number) =>
    gpu
      .replace(/(<pci_bus_id>)[^<]*/, `$1${busIdOfMachine(number)}`)
      .replace(/<processes>[^]*?<\/processes>|<processes\/>/, `<processes>${programs}</processes>`),
  )
  say(one.replace(gpu, () => all.join('')))
  return 0
}
