/** `kernel-ladder mcp`: serves a coding agent over stdin and stdout. */
import type { SetUp } from '../../../adapters/machine/machine'
import { serveMcp } from '../../mcp/server'
import { note } from '../output'
import { abortOnStop } from '../stop-signals'

export interface McpCommandOptions {
  allowRun?: boolean
}

export async function mcpCommand(
  setUp: SetUp,
  folders: readonly string[],
  { allowRun = false }: McpCommandOptions,
): Promise<number> {
  const setup = await setUp()
  if (process.stdin.isTTY)
    note('This server exchanges JSON with an agent, which must start it (docs/guides/agents.md).')
  await serveMcp(setup, { folders, allowRun, log: note }, abortOnStop('ending.'))
  return 0
}
