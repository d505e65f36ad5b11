/**
 * Tests the parsers for output from nvcc, the launch probe, nvidia-smi, compute-sanitizer, and the
 * runner.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Launch } from '../../../src-main/domain/session/session'
import { parseRunnerLine } from '../../../src-main/parsers/cuda/runner-events'
import {
  normalizePciBusId,
  parseNvidiaSmi,
  redactNvidiaSmi,
} from '../../../src-main/parsers/cuda/nvidia-smi'
import { capture, captures, nvccCapture } from '../../captures'
import { parseNvccOutput, summarizeBuild } from '../../../src-main/parsers/cuda/ptxas'
import { groupRecords } from '../../../src-main/domain/session/sanitizer'
import {
  lastSanitizerWord,
  parseSanitizerSummary,
  parseSanitizerXml,
} from '../../../src-main/parsers/cuda/compute-sanitizer'
import { parseProbedLaunches } from '../../../src-main/parsers/cuda/launch-probe'

describe('tools', () => {
  describe('the launch probe', () => {
    const captured = JSON.parse(
      readFileSync(
        join(import.meta.dirname, '../../captures/launch-probe/13.0.88/h200.json'),
        'utf8',
      ),
    ) as { rungs: { rung: string; probed: Launch[]; ncu: Launch[] }[] }

    describe('rung launches determined without a GPU', () => {
      it.each(captured.rungs)("match ncu's launches of $rung on an H200", ({ probed, ncu }) => {
        const told = (launches: Launch[]) =>
          launches.map(({ grid, block, resources }) => {
            const { registersPerThread, staticSharedBytes, dynamicSharedBytes, barriers } =
              resources
            return {
              grid,
              block,
              registersPerThread,
              staticSharedBytes,
              dynamicSharedBytes,
              barriers,
            }
          })
        expect(told(probed)).toEqual(told(ncu))
      })
    })

    describe('the output line', () => {
      const kernel = {
        name: 'k(int)',
        mangled: '_Z1ki',
        grid: [1, 2, 3],
        block: [32, 1, 1],
        dynamicSharedBytes: 0,
        clusterBlocks: 0,
      }
      const line = JSON.stringify({
        event: 'launches',
        kernels: [kernel],
        reason: null,
        fault: null,
      })

      it("is found among the rung's own output", () => {
        expect(parseProbedLaunches(`{not json\nhello\n${line}\n`)).toEqual({
          event: 'launches',
          kernels: [kernel],
          reason: null,
          fault: null,
        })
      })

      it('is missing if the probe ended early or the output is from another program', () => {
        for (const text of ['', 'hello', '{"event":"launches"}', line.replace('[1,2,3]', '[1,2]')])
          expect(parseProbedLaunches(text)).toBeNull()
      })
    })
  })

  describe('nvidia-smi', () => {
    /** In the capture, REDACTED replaces serial numbers and similar identifiers. */
    const xml = capture('nvidia-smi/580.159.04-h200/query-xml').stdout

    describe('the output of -q -x', () => {
      it('contains the driver and each GPU', () => {
        expect(parseNvidiaSmi(xml)).toEqual({
          driver: '580.159.04',
          cuda: '13.0',
          gpus: [
            {
              pciBusId: '00000000:00:06.0',
              name: 'NVIDIA H200',
              architecture: 'Hopper',
              memoryTotalBytes: 143771 * 1024 * 1024,
              smClockMHz: 1980,
              smClockMaxMHz: 1980,
              memoryClockMHz: 3201,
              temperatureC: 39,
              powerW: 129.36,
              persistence: true,
              mig: false,
              ecc: true,
              computing: 0,
            },
          ],
        })
      })

      it('counts compute processes but not graphics processes', () => {
        const program = (type: string, name: string): string =>
          `<process_info><pid>7</pid><type>${type}</type><process_name>${name}</process_name></process_info>`
        const listing = [
          program('C', 'python'),
          program('M+C', '/home/ada/train'),
          program('C+G', 'blender'),
          program('G', '/usr/lib/xorg/Xorg'),
          program('C', '/usr/bin/nvidia-cuda-mps-server'),
        ]
        const computing = (inside: string): number | undefined =>
          parseNvidiaSmi(
            xml.replace(/<processes>[^]*<\/processes>/, `<processes>${inside}</processes>`),
          ).gpus[0]?.computing
        expect(computing(listing.join(''))).toBe(3)
        expect(computing(program('C', 'python'))).toBe(1)
        expect(computing('N/A')).toBe(0)
      })

      it('has null for values that the driver does not report', () => {
        const unknown = xml
          .replaceAll(/<sm_clock>[^<]*/g, '<sm_clock>N/A')
          .replace(/<gpu_temp>[^<]*/, `<gpu_temp>${'9'.repeat(400)} C`)
          .replace(/<instant_power_draw>[^<]*/, '<instant_power_draw>[Unknown Error]')
          .replace(/<current_mig>[^<]*/, '<current_mig>N/A')
          .replace(/<product_architecture>[^<]*/, '<product_architecture>N/A')
        expect(parseNvidiaSmi(unknown).gpus[0]).toMatchObject({
          smClockMHz: null,
          smClockMaxMHz: null,
          temperatureC: null,
          powerW: null,
          mig: null,
          architecture: null,
          memoryClockMHz: 3201,
        })
      })

      it('lists zero or more GPUs in order', () => {
        const gpu = /\t<gpu id[\s\S]*<\/gpu>/.exec(xml)![0]
        const two = xml.replace(gpu, `${gpu}\n${gpu.replaceAll(':06.0', ':3b.0')}`)
        expect(parseNvidiaSmi(two).gpus.map(({ pciBusId }) => pciBusId)).toEqual([
          '00000000:00:06.0',
          '00000000:00:3B.0',
        ])
        expect(parseNvidiaSmi(xml.replace(gpu, '')).gpus).toEqual([])
      })

      it('is parsed without expanding entities that the document declares', () => {
        const hostile = xml
          .replace(/<!DOCTYPE[^>]*>/, '<!DOCTYPE nvidia_smi_log [<!ENTITY e "expanded">]>')
          .replace('NVIDIA H200', '&e;')
        expect(parseNvidiaSmi(hostile).gpus[0]?.name).toBe('&e;')
      })

      it('with a failure message is treated as a missing GPU', () => {
        // Output of nvidia-smi on a machine without a loaded driver.
        const text =
          "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
        expect(() => parseNvidiaSmi(text)).toThrow(
          expect.objectContaining({
            kind: 'missing',
            message: expect.stringContaining('communicate'),
          }),
        )
      })

      it('that is truncated or unrelated is rejected', () => {
        expect(() => parseNvidiaSmi(xml.slice(0, 9000))).toThrow(/not the complete output/)
        expect(() => parseNvidiaSmi('<html></html>')).toThrow(/not the complete output.*<html>/)
      })
    })

    describe('a PCI bus id', () => {
      it.each(['00000000:3B:00.0', '0000:3b:00.0', '3b:00.0', '0000:3b:00'])(
        '%s is normalized to one notation',
        (text) => expect(normalizePciBusId(text)).toBe('00000000:3B:00.0'),
      )
      it('in an invalid format is rejected', () => {
        expect(() => normalizePciBusId('GPU 0')).toThrow(/"GPU 0"/)
      })
    })

    describe('output redacted for storage', () => {
      // The original capture, with invented values in place of REDACTED.
      const secrets: Record<string, string> = {
        serial: '1650000000001',
        uuid: 'GPU-11111111-2222-3333-4444-555555555555',
        pdi: '0x1234567890abcdef',
        board_id: '0x600',
        module_id: '77031',
      }
      const process =
        '<processes>\n\t\t\t<process_info>\n\t\t\t\t<pid>4242</pid>\n\t\t\t\t<type>C</type>\n\t\t\t\t<process_name>/home/ada/secret-project/train</process_name>\n\t\t\t\t<used_memory>512 MiB</used_memory>\n\t\t\t</process_info>'
      const original = Object.entries(secrets)
        .reduce((text, [tag, value]) => text.replace(`<${tag}>REDACTED<`, `<${tag}>${value}<`), xml)
        .replace('<processes>', process)
        .replace('<chassis_serial_number>N/A', '<chassis_serial_number>CH-77')
        .replace('<gpu_fabric_guid>N/A', '<gpu_fabric_guid>0xfab')
        .replace('<clusterUuid>N/A', '<clusterUuid>99999999-aaaa')
      const redacted = redactNvidiaSmi(original)

      it.each([...Object.values(secrets), '4242', '/home/ada', 'CH-77', '0xfab', '99999999-aaaa'])(
        'no longer contains %s',
        (secret) => {
          expect(original).toContain(secret)
          expect(redacted).not.toContain(secret)
        },
      )

      it('differs only in identifiers and process data', () => {
        const changed = original
          .split('\n')
          .flatMap((line, index) => (line === redacted.split('\n')[index] ? [] : [line.trim()]))
        expect(changed.map((line) => /^<(\w+)>/.exec(line)?.[1]).sort()).toEqual(
          [
            ...Object.keys(secrets),
            'chassis_serial_number',
            'clusterUuid',
            'gpu_fabric_guid',
            'pid',
            'process_name',
          ].sort(),
        )
        expect(redacted.length - redacted.replaceAll('REDACTED', '').length).toBe(
          10 * 'REDACTED'.length,
        )
        expect(parseNvidiaSmi(redacted)).toEqual(parseNvidiaSmi(original))
      })

      it('still lacks absent values and is unchanged by a second pass', () => {
        expect(redacted).toContain('<host_id>N/A</host_id>')
        expect(redactNvidiaSmi(redacted)).toBe(redacted)
      })

      it("contains no identifiers in this repository's capture", () => {
        expect(redactNvidiaSmi(xml)).toBe(xml)
        expect(xml).toContain('<serial>REDACTED</serial>')
        expect(xml).toContain('<uuid>REDACTED</uuid>')
        expect(xml).not.toMatch(/GPU-[0-9a-f]{8}-/)
      })
    })
  })

  describe('ptxas', () => {
    const parse = (name: string) => parseNvccOutput(nvccCapture(name))
    const error = (file: string | null, line: number | null, message: string) => ({
      severity: 'error',
      file,
      line,
      message,
    })

    describe('a captured build', () => {
      const isMissing = (file: string): boolean => /^not.there/.test(file)
      it('stores the compiled files, so that the build can be repeated', () => {
        for (const [name, { argv, sources = {} }] of Object.entries(captures('nvcc/13.0.88'))) {
          const given = argv.match(/[\w-]+\.cu\b/g)!.filter((file) => !isMissing(file))
          const included = Object.values(sources).flatMap((text) =>
            [...text.matchAll(/#include "([^"]+)"/g)]
              .map(([, file]) => file!)
              .filter((file) => !isMissing(file)),
          )
          expect(Object.keys(sources), name).toEqual([...given, ...included])
        }
      })
    })

    // A regular expression that tries every start position would exceed the test's time limit.
    describe('unusual numbers', () => {
      const digits = '1'.repeat(600_000)

      it('with grouped digits are not parsed as their last group', () => {
        const { kernels } = parseNvccOutput(
          "ptxas info    : Compiling entry function 'k' for 'sm_90'\nptxas info    : Used 8 registers, 1.024 bytes smem\n",
        )
        expect(kernels).toMatchObject([{ registers: 8, staticSharedBytes: 0 }])
      })

      it.each([
        ['after the register count', `ptxas info    : Used 32 registers, ${digits}, 16 bytes smem`],
        ["in a kernel's properties", `    ${digits} bytes stack, 8 bytes stack frame`],
        ['as a source line number', `x.cu(${digits}): error: no`],
        ['as the register count', `ptxas info    : Used ${digits} registers`],
      ])('with 600,000 digits are skipped (%s)', (_, line) => {
        const { kernels, diagnostics } = parseNvccOutput(
          [
            "ptxas info    : Compiling entry function 'k' for 'sm_90'",
            'ptxas info    : Function properties for k',
            line,
            'ptxas info    : Used 8 registers, 24 bytes smem',
          ].join('\n'),
        )
        expect(kernels).toHaveLength(1)
        expect(kernels[0]?.registers).toBeLessThanOrEqual(32)
        for (const { line: at } of diagnostics) expect(at).toBeNull()
      })
    })

    describe('kernel resources from -Xptxas -v', () => {
      const { kernels, diagnostics } = parse('spills')

      it('include registers, memory, spills, and barriers for each kernel', () => {
        expect(kernels).toEqual([
          {
            name: '_Z4tileILi16EEvPKfPf',
            architecture: 'sm_90',
            registers: 12,
            staticSharedBytes: 1024,
            constantBytes: 0,
            spillStoreBytes: 0,
            spillLoadBytes: 0,
            stackBytes: 0,
            barriers: 1,
          },
          {
            name: 'spilling',
            architecture: 'sm_90',
            registers: 32,
            staticSharedBytes: 0,
            constantBytes: 0,
            spillStoreBytes: 1320,
            spillLoadBytes: 1656,
            stackBytes: 832,
            barriers: 1,
          },
        ])
        expect(diagnostics).toEqual([])
      })

      it('list a kernel once per architecture, with the constants that ptxas reports', () => {
        const { kernels } = parse('two-architectures')
        expect(
          kernels.map(({ architecture, registers, constantBytes }) => ({
            architecture,
            registers,
            constantBytes,
          })),
        ).toEqual([
          { architecture: 'sm_80', registers: 8, constantBytes: 360 },
          { architecture: 'sm_90', registers: 10, constantBytes: 0 },
        ])
      })

      it('exclude the spills of a device function that is compiled with the kernel', () => {
        const text = nvccCapture('spills').replace(
          /ptxas info {4}: Function properties for spilling\n.*\n/,
          (own) =>
            `${own}ptxas info    : Function properties for _Z6helperf\n    64 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n`,
        )
        expect(parseNvccOutput(text).kernels).toEqual(kernels)
      })

      it('are summarized as the maximum of each value over all kernels', () => {
        expect(summarizeBuild(kernels)).toEqual({
          registersPerThread: 32,
          staticSharedBytes: 1024,
          spillStoreBytes: 1320,
          spillLoadBytes: 1656,
        })
      })

      it('are null, not zero, if no kernel was compiled', () => {
        const { kernels } = parse('host-warning')
        expect(kernels).toEqual([])
        expect(summarizeBuild(kernels)).toEqual({
          registersPerThread: null,
          staticSharedBytes: null,
          spillStoreBytes: null,
          spillLoadBytes: null,
        })
      })
    })

    describe('messages with their location', () => {
      it.each([
        ['syntax', [error('syntax.cu', 3, 'expected a ";"')]],
        [
          'undefined',
          [
            error('undefined.cu', 3, 'identifier "j" is undefined'),
            error('undefined.cu', 4, 'identifier "unknown" is undefined'),
          ],
        ],
        ['hash-error', [error('hash-error.cu', 2, '#error BM must be a multiple of TM')]],
        [
          'missing-include',
          [error('missing-include.cu', 1, 'not_there.cuh: No such file or directory')],
        ],
        [
          'static-assert',
          [
            error(
              'static-assert.cu',
              2,
              'static assertion failed with "BM must be a multiple of TM"; detected during instantiation of "void k<BM,TM>(float *) [with BM=64, TM=7]" at line 5',
            ),
          ],
        ],
      ])('the errors in %s have a file and line', (name, expected) =>
        expect(parse(name).diagnostics).toEqual(expected),
      )

      it('include details, but not the source line and the caret', () => {
        expect(parse('no-instance').diagnostics).toEqual([
          error(
            'no-instance.cu',
            4,
            'no instance of overloaded function "pick" matches the argument list; argument types are: (float *, float *, int)',
          ),
          expect.objectContaining({ severity: 'note', line: 2 }),
          expect.objectContaining({ severity: 'note', line: 1 }),
        ])
      })

      it('a deeply indented source line is not mistaken for a detail', () => {
        const text = nvccCapture('syntax').replace('    c[i]', `${' '.repeat(16)}c[i]`)
        expect(parseNvccOutput(text).diagnostics).toEqual([error('syntax.cu', 3, 'expected a ";"')])
      })

      it('a warning is stored without its number and does not hide the kernel', () => {
        const { kernels, diagnostics } = parse('warning')
        expect(diagnostics).toEqual([
          {
            severity: 'warning',
            file: 'warning.cu',
            line: 2,
            message: 'variable "unused" was declared but never referenced',
          },
        ])
        expect(kernels).toHaveLength(1)
      })

      it("a message in a header has the header's file name", () => {
        expect(
          parse('host-warning').diagnostics.map(({ file, line }) => `${file}:${line}`),
        ).toEqual(['helper.cuh:1', 'host-warning.cu:3'])
      })

      it('a message that nvcc prints in two passes is listed once', () => {
        expect(parse('hash-warning').diagnostics).toHaveLength(1)
        expect(parse('two-architectures').diagnostics).toHaveLength(1)
      })
    })

    describe('messages without a source location', () => {
      it.each([
        [
          'too-much-shared',
          "Entry function '_Z1kPf' uses too much shared data (0x20000 bytes, 0xc000 max)",
        ],
        ['bad-arch', "Unsupported gpu architecture 'compute_50'"],
        ['undefined-symbol', "Unresolved extern function '_Z9elsewheref'"],
        ['no-source', 'not-there.cu: No such file or directory'],
      ])('the error in %s has no file', (name, message) =>
        expect(parse(name).diagnostics).toEqual([error(null, null, message)]),
      )

      it('an error in generated PTX has no file', () => {
        const [first] = parse('ptx-error').diagnostics
        expect(first).toEqual(
          error(null, null, "Unknown modifier '.instruction' (line 29 of the generated PTX)"),
        )
      })

      it('numbered advice from ptxas is stored as a note, unlike ptxas statistics', () => {
        const { diagnostics, kernels } = parse('wgmma-serialized')
        expect(
          diagnostics.map(({ severity, message }) => `${severity} ${message.slice(0, 34)}`),
        ).toEqual(
          [
            'note (C7517) warpgroup.wait is injected',
            'note (C7511) Potential Performance Loss',
          ].map((text) => text.slice(0, 39)),
        )
        expect(kernels[0]?.architecture).toBe('sm_90a')
      })
    })

    it("the linker's message names the missing library", () => {
      const text =
        '/usr/bin/ld: cannot find -lnot_there: No such file or directory\ncollect2: error: ld returned 1 exit status\n'
      expect(parseNvccOutput(text).diagnostics[0]).toEqual(
        error(null, null, 'cannot find -lnot_there: No such file or directory'),
      )
    })

    it('unrelated text yields no messages', () => {
      expect(parseNvccOutput('hello\n\n  world\n')).toEqual({ kernels: [], diagnostics: [] })
    })
  })
})

describe('compute-sanitizer', () => {
  const calls = captures('compute-sanitizer/2025.3.1-h200')
  const names = Object.keys(calls).filter((name) => calls[name]!.saved !== undefined)
  const savedBy = (name: string): string => calls[name]!.saved!

  describe('a real report', () => {
    it.each(names)('of %s contains as many records as its summary states', (name) => {
      const { records, complete } = parseSanitizerXml(savedBy(name))
      const summary = parseSanitizerSummary(calls[name]!.stdout)
      expect(complete).toBe(true)
      expect(records.length + summary!.notPrinted).toBe(summary!.total)
    })

    it('combines identical out-of-bounds writes into one record with line, thread, and address', () => {
      const [first, api, ...rest] = groupRecords(
        parseSanitizerXml(savedBy('memcheck-out-of-bounds')).records,
      )
      expect(rest).toEqual([])
      expect(first).toEqual({
        kind: 'Precise',
        severity: 'error',
        message: 'Invalid __global__ write of size 4 bytes is out of bounds',
        place: { file: '/src/probe.cu', line: 14, function: 'oob' },
        conflict: null,
        count: 64,
        thread: [0, 0, 0],
        block: [0, 0, 0],
        address: '0x7f81a5400100',
      })
      // The next API call reports the failed launch without a source location.
      expect(api).toMatchObject({
        kind: 'Api',
        count: 1,
        place: { file: null, line: null, function: null },
        thread: null,
      })
      expect(api?.message).toContain('due to "unspecified launch failure"')
    })

    it('contains both accesses in a race and the number of hazards', () => {
      expect(parseSanitizerXml(savedBy('racecheck-race')).records).toEqual([
        {
          kind: 'Analysis',
          severity: 'error',
          message: 'Race condition',
          place: { file: '/src/probe.cu', line: 15, function: 'race' },
          conflict: {
            place: { file: '/src/probe.cu', line: 15, function: 'race' },
            first: 'Write',
            second: 'Read',
          },
          count: 256,
          thread: null,
          block: null,
          address: null,
        },
      ])
    })

    it('describes a barrier fault', () => {
      expect(groupRecords(parseSanitizerXml(savedBy('synccheck-divergent')).records)).toMatchObject(
        [
          {
            message: 'Barrier error: Divergent thread(s) in warp',
            place: { file: '/src/sync.cu', line: 4, function: 'halfBarrier' },
            count: 20,
          },
        ],
      )
    })

    it('from a clean run has no records', () => {
      expect(parseSanitizerXml(savedBy('memcheck-clean'))).toEqual({ records: [], complete: true })
    })
  })

  describe('an incomplete report', () => {
    const whole = savedBy('initcheck-uninitialised')

    it('is recognized as incomplete but still yields its complete records', () => {
      const last = whole.lastIndexOf('</ComputeSanitizerOutput>')
      for (let length = 0; length <= last + 20; length += 97) {
        const text = whole.slice(0, length)
        let parsed
        try {
          parsed = parseSanitizerXml(text)
        } catch (error) {
          // A document that is truncated before its root element cannot be recognized.
          expect(length).toBeLessThan(whole.indexOf('<ComputeSanitizerOutput') + 23)
          expect(String(error)).toContain('not a compute-sanitizer report')
          continue
        }
        expect(parsed.complete).toBe(false)
        expect(parsed.records).toHaveLength(text.split('</record>').length - 1)
      }
    })

    it.each([
      ['another document', '<nvidia_smi_log/>'],
      ['text', 'not found\n'],
      ['foreign bytes', '\u0000\u0001\ufffd'],
      [
        'extremely nested',
        `<ComputeSanitizerOutput>${'<a>'.repeat(100_000)}</record></ComputeSanitizerOutput>`,
      ],
    ])('is rejected with an error message if it is %s', (_what, text) => {
      expect(() => parseSanitizerXml(text)).toThrow(/not a compute-sanitizer report/)
    })

    it('is parsed without expanding its own entities', () => {
      const laughs = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>
      <ComputeSanitizerOutput><record><kind>&b;</kind><what><text>&b; &lt;T&gt; &#65;</text></what></record></ComputeSanitizerOutput>`
      const [record] = parseSanitizerXml(laughs).records
      expect(record).toMatchObject({ kind: '&b;', message: '&b; <T> A' })
    })

    it('may lack data', () => {
      const bare =
        '<ComputeSanitizerOutput><record><where><line>x</line></where></record></ComputeSanitizerOutput>'
      expect(parseSanitizerXml(bare).records[0]).toMatchObject({
        place: { file: null, line: null },
        thread: null,
        address: null,
        count: 1,
      })
    })
  })

  describe('the summary', () => {
    it('counts errors, hazards, and records that were not printed', () => {
      const of = (text: string) => parseSanitizerSummary(`a line\n${text}\n`)
      expect(of('========= ERROR SUMMARY: 0 errors')).toEqual({ total: 0, notPrinted: 0 })
      expect(of('========= ERROR SUMMARY: 1 error')).toEqual({ total: 1, notPrinted: 0 })
      expect(of('========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)')).toEqual({
        total: 3,
        notPrinted: 0,
      })
      expect(
        of(
          '========= ERROR SUMMARY: 200 errors\n========= ERROR SUMMARY: 100 errors were not printed. Use --print-limit option to adjust the number of printed errors',
        ),
      ).toEqual({ total: 200, notPrinted: 100 })
    })

    it('is found in linear time in a text with a long number', () => {
      const line = `========= ERROR SUMMARY: ${'1'.repeat(600_000)}`
      expect(parseSanitizerSummary(`${line}\n${line} errors`)).toBeNull()
    })

    it('is found after an unterminated line of the program’s output', () => {
      expect(parseSanitizerSummary('no newline========= ERROR SUMMARY: 2 errors')?.total).toBe(2)
    })

    it('is null, not zero, if the tool exited before printing it', () => {
      expect(parseSanitizerSummary('========= COMPUTE-SANITIZER\n')).toBeNull()
      expect(parseSanitizerSummary('')).toBeNull()
    })

    it("is replaced by the tool's last message if the tool failed", () => {
      expect(lastSanitizerWord('========= COMPUTE-SANITIZER\n========= Error: no device\n')).toBe(
        'Error: no device',
      )
      expect(lastSanitizerWord('')).toBeNull()
    })
  })
})

describe('the runner', () => {
  const timing = {
    event: 'timing',
    rung: '05_thread_tile_2d',
    medianMs: 4.21,
    spread: 0.003,
    samplesMs: [4.2, 4.21, 4.22],
    settled: true,
    referenceMedianMs: 2.7,
    referenceSamplesMs: [2.7],
    smClockBeforeMHz: 1980,
    smClockAfterMHz: null,
  }
  const verify = {
    event: 'verify',
    rung: '05_thread_tile_2d',
    passed: false,
    worstRelativeError: null,
    worstToleranceRatio: null,
    mismatches: 16777216,
    firstMismatch: { buffer: 'c', index: [0, 3], expected: 1.5, actual: null },
    outOfBounds: false,
    outOfBoundsBuffers: [],
    changedInputs: [],
  }

  const parse = (event: unknown) => parseRunnerLine(JSON.stringify(event))

  describe('a runner line', () => {
    it('from an older recording with only one result matrix has no buffer name', () => {
      const { outOfBoundsBuffers: _buffers, changedInputs: _inputs, ...old } = verify
      expect(
        parse({ ...old, firstMismatch: { row: 0, col: 3, expected: 1.5, actual: null } }),
      ).toEqual({ ...verify, firstMismatch: { ...verify.firstMismatch, buffer: null } })
    })

    it('is parsed as the event in its type field', () => {
      expect(parse(timing)).toEqual(timing)
      expect(parse(verify)).toEqual(verify)
      const reference = { event: 'start', rung: null, case: 'f32', stage: 'reference' }
      expect(parse(reference)).toEqual(reference)
      expect(parse({ event: 'done' })).toEqual({ event: 'done' })
      expect(parse({ event: 'progress', stage: 'load' })).toEqual({
        event: 'progress',
        stage: 'load',
      })
    })

    it.each([
      { event: 'progress', rung: 'a', stage: 'time', samples: 12, spread: 0.004 },
      { event: 'progress', rung: 'a', stage: 'time', samples: 0, spread: null },
      { event: 'progress', stage: 'reference', fraction: 0.25 },
    ])('reports progress: %j', (event) => expect(parse(event)).toEqual(event))

    it('preserves the fields after an error’s message', () => {
      const error = { event: 'error', kind: 'memory', message: 'too large', neededBytes: 9e9 }
      expect(parse(error)).toEqual(error)
    })

    it('may have a line ending and fields from a later version', () => {
      expect(parseRunnerLine('{"event":"profiled","rung":"01_naive","later":1}\r')).toEqual({
        event: 'profiled',
        rung: '01_naive',
      })
    })
  })

  describe('a line that is not from the runner', () => {
    it.each([
      ['plain text', 'end no error'],
      ['empty', ''],
      ['a line from ncu', '==PROF== Connected to process 466 (./probe)'],
      ["a row of ncu's table", '"ID","Process ID","Process Name"'],
      ['truncated', '{"event":"timing","rung":"01_na'],
      ['an object without an event', '{"rung":"01_naive"}'],
      ['an unknown event', '{"event":"weather","rung":"01_naive"}'],
      ['an event named like a built-in property', '{"event":"constructor"}'],
      ['a list', '[{"event":"done"}]'],
      ['null', 'null'],
    ])('is not an event if it is %s', (_, line) => expect(parseRunnerLine(line)).toBeNull())
  })

  describe('an event with an invalid shape', () => {
    it.each([
      ['only its name', { event: 'timing' }],
      ['a missing field', { ...timing, medianMs: undefined }],
      ['a zero median, which yields no rate', { ...timing, medianMs: 0 }],
      ['a median that is too short for a launch', { ...timing, medianMs: 1e-9 }],
      ['an absurdly long reference time', { ...timing, referenceMedianMs: 1e300 }],
      ['no samples', { ...timing, samplesMs: [] }],
      ['a word instead of a number', { ...verify, mismatches: 'many' }],
      ['an unknown stage', { event: 'start', rung: 'a', stage: 'dream' }],
      ['a nested field', { ...verify, firstMismatch: { buffer: 'c', index: [1, 2] } }],
      ['progress without values', { event: 'progress' }],
      ['a device without a name', { event: 'device' }],
      ['launches without kernels', { event: 'launches', rung: 'a' }],
    ])('is treated as rung output if it has %s', (_, event) => expect(parse(event)).toBeNull())

    it('is treated as rung output if a number is too large for a double', () =>
      expect(
        parseRunnerLine(JSON.stringify({ ...timing, spread: 'x' }).replace('"x"', '1e999')),
      ).toBeNull())

    it('is treated as rung output if its lists are endlessly nested', () =>
      expect(parseRunnerLine(`{"event":"timing","rung":${'['.repeat(200_000)}`)).toBeNull())
  })

  describe("a rung's launches", () => {
    const event = {
      event: 'launches',
      rung: '13_split_k',
      kernels: [
        {
          name: 'void gemmSplitK<true>(int, int)',
          grid: [4, 8, 4],
          block: [256, 1, 1],
          registersPerThread: 209,
          staticSharedBytes: 0,
          dynamicSharedBytes: 74496,
          clusterBlocks: 0,
        },
      ],
      reason: null,
    }

    it('are parsed with their kernels, or with the reason that they are unknown', () => {
      expect(parseRunnerLine(JSON.stringify(event))).toEqual(event)
      const unknown = { event: 'launches', rung: 'a', kernels: [], reason: 'no' }
      expect(parseRunnerLine(JSON.stringify(unknown))).toEqual(unknown)
    })

    it('are unknown if a grid has only two extents', () => {
      const wrong = { ...event, kernels: [{ ...event.kernels[0], grid: [1, 2] }] }
      expect(parseRunnerLine(JSON.stringify(wrong))).toBeNull()
    })
  })

  describe("the GPU's ceilings", () => {
    it('are parsed, or are null if they could not be measured', () => {
      const event = {
        event: 'ceilings',
        fp32Gflops: 60123.4,
        l1GBs: 31000,
        l2GBs: 6100,
        dramGBs: null,
      }
      expect(parseRunnerLine(JSON.stringify(event))).toEqual(event)
    })
  })
})
