import type { ReportAnswer } from '../../../src-main/contract/sessions'

/** A report as a Blob. */
export function answerFile({ content, encoding, mediaType }: ReportAnswer): Blob {
  const part =
    encoding === 'text'
      ? content
      : Uint8Array.from(atob(content), (character) => character.charCodeAt(0))
  return new Blob([part], { type: mediaType })
}
