/** Removes terminal control sequences from text. */
import { stripVTControlCharacters } from 'node:util'

/**
 * Returns the text without control sequences. Text from files and tools could otherwise control the
 * terminal.
 */
export const printable = (text: string): string =>
  stripVTControlCharacters(text).replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    '�',
  )
