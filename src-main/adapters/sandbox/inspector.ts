/**
 * Returns the Node options that disable the debugger on SIGUSR1. Returns no options if this version
 * of Node has no such options.
 */
export const withoutInspector = (): string[] =>
  ['--disable-sigusr1'].filter((option) => process.allowedNodeEnvironmentFlags.has(option))
