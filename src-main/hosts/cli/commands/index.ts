/**
 * Loads the implementation of each command on demand. Help, completion and usage errors need only
 * the definitions in program.ts. Loading all services would take most of the run time of such
 * commands.
 */
type Run<A extends unknown[]> = (...given: A) => Promise<number>

const later =
  <A extends unknown[]>(load: () => Promise<Run<A>>): Run<A> =>
  async (...given) =>
    (await load())(...given)

export const agentCommand = later(async () => (await import('./agent-command')).agentCommand)
export const appCommand = later(async () => (await import('./app-command')).appCommand)
export const compareCommand = later(async () => (await import('./compare-command')).compareCommand)
export const completeCommand = later(
  async () => (await import('./completion-command')).completeCommand,
)
export const completionCommand = later(
  async () => (await import('./completion-command')).completionCommand,
)
export const diffCommand = later(async () => (await import('./diff-command')).diffCommand)
export const doctorCommand = later(async () => (await import('./doctor-command')).doctorCommand)
export const editCommand = later(async () => (await import('./edit-command')).editCommand)
export const historyCommand = later(async () => (await import('./history-command')).historyCommand)
export const importCommand = later(async () => (await import('./import-command')).importCommand)
export const initCommand = later(async () => (await import('./init-command')).initCommand)
export const judgeCommand = later(async () => (await import('./judge-command')).judgeCommand)
export const labCheckCommand = later(async () => (await import('./lab-command')).labCheckCommand)
export const labGradeCommand = later(
  async () => (await import('./lab-grade-command')).labGradeCommand,
)
export const labListCommand = later(async () => (await import('./lab-command')).labListCommand)
export const labRegradeCommand = later(
  async () => (await import('./lab-grade-command')).labRegradeCommand,
)
export const labStartCommand = later(async () => (await import('./lab-command')).labStartCommand)
export const labTrustCommand = later(async () => (await import('./lab-command')).labTrustCommand)
export const labValidateCommand = later(
  async () => (await import('./lab-command')).labValidateCommand,
)
export const laddersCommand = later(async () => (await import('./ladders-command')).laddersCommand)
export const machineAddCommand = later(
  async () => (await import('./machine-command')).machineAddCommand,
)
export const machineCalibrateCommand = later(
  async () => (await import('./machine-calibrate-command')).machineCalibrateCommand,
)
export const machineCheckCommand = later(
  async () => (await import('./machine-command')).machineCheckCommand,
)
export const machineFetchCommand = later(
  async () => (await import('./machine-command')).machineFetchCommand,
)
export const machineListCommand = later(
  async () => (await import('./machine-command')).machineListCommand,
)
export const machineRemoveCommand = later(
  async () => (await import('./machine-command')).machineRemoveCommand,
)
export const machineResumeCommand = later(
  async () => (await import('./machine-command')).machineResumeCommand,
)
export const machineRunsCommand = later(
  async () => (await import('./machine-command')).machineRunsCommand,
)
export const manCommand = later(async () => (await import('./completion-command')).manCommand)
export const mcpCommand = later(async () => (await import('./mcp-command')).mcpCommand)
export const nextCommand = later(async () => (await import('./next-command')).nextCommand)
export const profileCommand = later(async () => (await import('./profile-command')).profileCommand)
export const regressCommand = later(async () => (await import('./regress-command')).regressCommand)
export const reportCommand = later(async () => (await import('./report-command')).reportCommand)
export const runCommand = later(async () => (await import('./run-command')).runCommand)
export const runSeveralCommand = later(
  async () => (await import('./run-several-command')).runSeveralCommand,
)
export const sanitizeCommand = later(
  async () => (await import('./sanitize-command')).sanitizeCommand,
)
export const sessionsCommand = later(
  async () => (await import('./sessions-command')).sessionsCommand,
)
export const serveCommand = later(async () => (await import('./serve-command')).serveCommand)
export const showCommand = later(async () => (await import('./show-command')).showCommand)
export const startCommand = later(async () => (await import('./start-command')).startCommand)
export const tuneCommand = later(async () => (await import('./tune-command')).tuneCommand)
