/**
 * Returns the Node option that disables the debugger on SIGUSR1, or an empty list if this version
 * of Node does not have the option.
 */
export const withoutInspector = (): string[] =>
  ['--disable-sigusr1'].filter((option) => process.allowedNodeEnvironmentFlags.has(option))
