/** Paths to submissions, whose names may be any bytes. */

/** A path may hold any bytes; text stands for those that are UTF-8. */
export type Path = string | Buffer

export const below = (folder: Path, name: Buffer): Buffer =>
  Buffer.concat([Buffer.from(folder), Buffer.from('/'), name])

export const submissionFile = 'lab.cu'

export const answersFile = 'answers.yaml'
