/** Text without terminal control sequences. */
import { stripVTControlCharacters } from 'node:util'

/** Removes control sequences from text of files and tools, so that the terminal does not interpret them. */
export const printable = (text: string): string =>
  stripVTControlCharacters(text).replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    '�',
  )
