/** Asks for a word that nobody types by habit, on the terminal. */
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline/promises'

export async function confirmed(what: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const word = randomBytes(2).toString('hex')
  const answer = await terminal.question(`${what} Type ${word} to allow that: `)
  terminal.close()
  return answer.trim() === word
}
