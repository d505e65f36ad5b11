import type { Transport } from './transport'

export const electronTransport = (bridge: NonNullable<Window['kernelLadder']>): Transport => ({
  kind: 'electron',
  call: (name, input) => bridge.call(name, input),
  importFile: (file) => bridge.importFile(file),
  chooseFolder: () => bridge.chooseFolder(),
  subscribe: (listener) => bridge.subscribe((message) => listener.message(message)),
})
