import { writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { readLibrary, capturedCall, faultIn, recorded } from './support.mjs'

const captures = 'compute-sanitizer/2025.3.1-h200'
// The tool that finds each fault, and the captured output of that tool. Tools that are not listed
// find no faults.
const found = {
  memcheck: { fault: 'out-of-bounds', capture: 'memcheck-out-of-bounds' },
  racecheck: { fault: 'race', capture: 'racecheck-race' },
  initcheck: { fault: 'uninitialised', capture: 'initcheck-uninitialised' },
}

export async function computeSanitizer(call) {
  const { words, option, options, path, say, line } = call
  call.logCall('compute-sanitizer')
  if (words.includes('--version')) {
    say(capturedCall(captures, 'version').stdout)
    return 0
  }
  const saved = path(option('--save'))
  const rungs = options('--rung').map((word) => {
    const library = path(word.slice(word.indexOf('=') + 1))
    const text = readLibrary(library)
    const source = /^\/\/ source: (.+)/m.exec(text)?.[1]
    return { id: word.slice(0, word.indexOf('=')), library, source, fault: faultIn(text) }
  })
  say('========= COMPUTE-SANITIZER\n')
  say(recorded('runner/device').split('\n')[0] + '\n')

  const finding = found[option('--tool')]
  const guilty = rungs.find(({ fault }) => fault !== undefined && fault === finding?.fault)
  for (const { id, fault } of rungs) {
    line({ event: 'start', rung: id, stage: 'load' })
    if (fault === 'unsupported') {
      line({ event: 'unsupported', rung: id, reason: 'k is not a multiple of 8' })
      continue
    }
    line({ event: 'start', rung: id, stage: 'sanitize' })
    if (fault === 'sanitizer-hang') {
      if (!call.isProcess) await call.forever()
      const child = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' })
      call.logWords('child', String(child.pid))
      await call.forever()
    }
    if (fault === 'sanitizer-cut') {
      const xml = capturedCall(captures, 'initcheck-uninitialised').saved
      writeFileSync(saved, xml.slice(0, xml.length / 2))
      say('========= Error: Internal sanitizer error\n')
      return 1
    }
    // An illegal access corrupts the CUDA context, so the runner ends here.
    if (guilty?.id === id && fault === 'out-of-bounds') break
    line({ event: 'launched', rung: id })
  }
  if (guilty) {
    // Move the findings to the corresponding lines of the checked rung, because the capture is from
    // another source.
    const { saved: xml, stdout, exit } = capturedCall(captures, finding.capture)
    writeFileSync(
      saved,
      xml.replaceAll('/src/probe.cu', join(dirname(guilty.library), 'src', guilty.source)),
    )
    const tool = stdout.split('\n')
    say(tool.filter((text, index) => index > 0 && text.startsWith('=========')).join('\n') + '\n')
    return exit
  }
  line({ event: 'done' })
  writeFileSync(saved, capturedCall(captures, 'memcheck-clean').saved)
  say(
    option('--tool') === 'racecheck'
      ? '========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n'
      : capturedCall(captures, 'memcheck-clean').stdout.split('\n').at(-2) + '\n',
  )
  return 0
}
