import { readFileSync, writeFileSync } from 'node:fs'
import { writeFake } from './program.mjs'
import { capturedCall, faultIn, likeOf, recorded, recordedVariant } from './support.mjs'

export async function nvcc(call) {
  const { words, option, path, say, complain } = call
  call.logCall('nvcc')
  if (words.includes('--version')) {
    say(recorded('nvcc/version'))
    return 0
  }
  const output = path(option('-o'))
  const program = words.some((word) => word.startsWith('probe/'))
    ? 'kl-launches'
    : words.some((word) => word.startsWith('runner/'))
      ? 'kl-runner'
      : words.includes('calibrate/main.cu')
        ? 'kl-calibrate'
        : null
  if (program !== null) {
    writeFake(output, program)
    return 0
  }
  // The fake runner recognizes the replay and activity libraries by their text.
  const own = { 'judge/replay.cpp': '// replay\n', 'activity/activity.cpp': '// activity\n' }
  for (const [file, text] of Object.entries(own))
    if (words.includes(file)) {
      writeFileSync(output, text)
      return 0
    }
  const source = words.find((word) => /\.cu$|\.py\.cpp$/.test(word))
  const rule = option('-MF')
  if (rule !== undefined) writeFileSync(path(rule), `built: ${source}\n`)
  // For a Python rung, nvcc compiles generated code, so read the author's script instead.
  const script = source.endsWith('.py.cpp') ? source.slice(0, -'.cpp'.length) : null
  const text = readFileSync(path(script ?? source), 'utf8').replace(/^# /gm, script ? '// ' : '# ')
  const rung = recordedVariant(source, words)
  /** Returns whether the build sets a given parameter value, as for a point in a sweep. */
  const isAt = (word) => words.includes(`-D${word}`)
  const faultAt = [...text.matchAll(/^\/\/ fault-at: (\S+) (\S+)/gm)].find(([, at]) => isAt(at))
  const fault = faultAt?.[2] ?? faultIn(text) ?? call.faultOf(rung)
  if (fault === 'slow-build') {
    if (call.isProcess) call.logWords('slow', String(process.pid))
    await call.pause(30_000)
  }
  if (fault === 'refused') {
    complain(capturedCall('nvcc/13.0.88', 'static-assert').stderr)
    return 2
  }
  if (fault === 'compile-error') {
    complain(capturedCall('nvcc/13.0.88', 'undefined').stderr)
    return 2
  }
  // If the source uses an undeclared name, print the output of the capture `undefined`.
  const undeclared = text.split('\n').findIndex((line) => /\bundeclared\b/.test(line)) + 1
  if (undeclared > 0) {
    complain(
      `${source}(${undeclared}): error: identifier "undeclared" is undefined\n\n1 error detected in the compilation of "${source}".\n`,
    )
    return 2
  }
  const like = likeOf(text) ?? (source.startsWith('labs/') ? '02_coalesced' : null)
  // Print nothing for the task's reference, which was never recorded as a rung.
  if (rung !== 'reference') complain(recorded(`nvcc/${like ?? rung}`, 'stderr'))
  const fastest = /^\/\/ fastest: (.+)/m.exec(text)?.[1].split(' ')
  const slower = fastest
    ? 1 + fastest.filter((word) => !isAt(word)).length / 10
    : /^\/\/ slower: (\S+)/m.exec(text)?.[1]
  // The fake runner reads the `prepares` and `path` lines when it loads the rung.
  const prepares = /^\/\/ prepares: .+/m.exec(text)?.[0]
  const paths = (text.match(/^\/\/ path: .+/gm) ?? []).join('\n')
  writeFileSync(
    output,
    `// rung: ${rung}\n` +
      (script ? `// script: ${script}\n` : '') +
      (like ? `// like: ${like}\n` : '') +
      (slower === undefined ? '' : `// slower: ${slower}\n`) +
      (prepares === undefined ? '' : `${prepares}\n`) +
      (fault ? `// fault: ${fault}\n// source: ${source}\n${paths}\n` : ''),
  )
  return 0
}
