/** Returns the options that keep Node from starting its debugger on SIGUSR1, if this Node has them. */
export const withoutInspector = (): string[] =>
  ['--disable-sigusr1'].filter((option) => process.allowedNodeEnvironmentFlags.has(option))
