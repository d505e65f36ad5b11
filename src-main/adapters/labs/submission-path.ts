/** Represents submission paths, which can contain any bytes. */

/** A path, which is a string if it is valid UTF-8, or bytes otherwise. */
export type Path = string | Buffer

export const below = (folder: Path, name: Buffer): Buffer =>
  Buffer.concat([Buffer.from(folder), Buffer.from('/'), name])

export const submissionFile = 'lab.cu'

export const answersFile = 'answers.yaml'
