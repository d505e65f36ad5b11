/**
 * Scrubs the sources, names, and advice in a deep profile. Counters and machine code stay
 * unchanged.
 */
import type { DeepProfile } from '../../domain/session/deep'
import { scrubStatement, type Scrubber } from './scrub'

export function scrubDeep(profile: DeepProfile, { sentence, source }: Scrubber): DeepProfile {
  // Cache the results, because thousands of instructions contain the same few strings.
  const known = new Map<string, string>()
  const word = <T extends string | null>(text: T): T => {
    if (text === null) return text
    const scrubbed = known.get(text) ?? sentence(text)
    known.set(text, scrubbed)
    return scrubbed as T
  }
  return {
    ...profile,
    kernels: profile.kernels.map((kernel) => ({
      ...kernel,
      name: source(kernel.name),
      instructions: kernel.instructions.map((instruction) => ({
        ...instruction,
        text: source(instruction.text),
        opcode: word(instruction.opcode),
        file: word(instruction.file),
      })),
      lines: kernel.lines.map((line) => ({
        ...line,
        file: word(line.file),
        text: line.text === null ? null : source(line.text),
      })),
      rules: kernel.rules.map((rule) => ({
        ...rule,
        section: word(rule.section),
        name: word(rule.name),
        text: sentence(rule.text),
      })),
    })),
    notes: profile.notes.map((note) => scrubStatement(note, sentence)),
  }
}
