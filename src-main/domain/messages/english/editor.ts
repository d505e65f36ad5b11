/** Opening a source line in the user's editor. */
export const editor = {
  unset: 'No editor is set.',
  set: 'Set KERNEL_LADDER_EDITOR to a command that opens a window, such as: {example}',
  noFile: 'The source of {rung} is not in a file on this machine.',
  noFileThen: 'Open the folder of its ladder first.',
  notFound: 'The editor {program} was not found.',
  failed: 'The editor {program} ended with exit code {code}.',
} as const
