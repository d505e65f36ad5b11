/** Node starts its debugger on SIGUSR1; these options keep it from that, where this Node knows them. */
export const withoutInspector = (): string[] =>
  ['--disable-sigusr1'].filter((option) => process.allowedNodeEnvironmentFlags.has(option))
