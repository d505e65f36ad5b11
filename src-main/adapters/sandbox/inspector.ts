/**
 * Returns the Node options that disable the SIGUSR1 debugger, or none if this Node lacks such an
 * option.
 */
export const withoutInspector = (): string[] =>
  ['--disable-sigusr1'].filter((option) => process.allowedNodeEnvironmentFlags.has(option))
