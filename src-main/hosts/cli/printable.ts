/** Text without terminal control sequences. */
import { stripVTControlCharacters } from 'node:util'

/** Text from files and tools may contain control sequences, which the terminal must not interpret. */
export const printable = (text: string): string =>
  stripVTControlCharacters(text).replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    '�',
  )
