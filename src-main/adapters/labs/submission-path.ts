/** Paths of submissions, whose names may contain any bytes. */

/** A path: text if it is valid UTF-8, else bytes. */
export type Path = string | Buffer

export const below = (folder: Path, name: Buffer): Buffer =>
  Buffer.concat([Buffer.from(folder), Buffer.from('/'), name])

export const submissionFile = 'lab.cu'

export const answersFile = 'answers.yaml'
