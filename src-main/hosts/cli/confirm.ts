/** Asks on the terminal for a random word, so that nobody confirms out of habit. */
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline/promises'

export async function confirmed(what: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const word = randomBytes(2).toString('hex')
  const answer = await terminal.question(`${what} Type ${word} to allow this: `)
  terminal.close()
  return answer.trim() === word
}
