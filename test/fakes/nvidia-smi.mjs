import { recorded } from './support.mjs'

export async function nvidiaSmi({ env, logCall, say, busIdOfMachine }) {
  logCall('nvidia-smi')
  const program =
    '<process_info><pid>4242</pid><type>C</type><process_name>a.out</process_name></process_info>'
  const programs = program.repeat(Number(env.FAKE_GPU_PROGRAMS ?? 0))
  say(
    recorded('nvidia-smi/query')
      .replace(/(<pci_bus_id>)[^<]*/, `$1${busIdOfMachine()}`)
      .replace(/<processes>[^]*?<\/processes>|<processes\/>/, `<processes>${programs}</processes>`),
  )
  return 0
}
