import { describe, expect, it } from 'vitest'
import {
  normalizePciBusId,
  parseNvidiaSmi,
  redactNvidiaSmi,
} from '../../../src-main/parsers/cuda/nvidia-smi'
import { capture } from '../captures'

/** Captured with its serial numbers and the like already replaced by REDACTED. */
const xml = capture('nvidia-smi/580.159.04-h200/query-xml').stdout

describe('nvidia-smi -q -x', () => {
  it('gives the driver and each GPU', () => {
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
          computing: 0,
        },
      ],
    })
  })

  it('counts the programs that compute on a GPU, and not what draws there', () => {
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

  it('gives null for what the driver does not know', () => {
    const unknown = xml
      .replaceAll(/<sm_clock>[^<]*/g, '<sm_clock>N/A')
      .replace(/<gpu_temp>[^<]*/, '<gpu_temp>[N/A]')
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

  it('gives several GPUs in their order, and none where there is none', () => {
    const gpu = /\t<gpu id[\s\S]*<\/gpu>/.exec(xml)![0]
    const two = xml.replace(gpu, `${gpu}\n${gpu.replaceAll(':06.0', ':3b.0')}`)
    expect(parseNvidiaSmi(two).gpus.map(({ pciBusId }) => pciBusId)).toEqual([
      '00000000:00:06.0',
      '00000000:00:3B.0',
    ])
    expect(parseNvidiaSmi(xml.replace(gpu, '')).gpus).toEqual([])
  })

  it('expands no entity that the document declares', () => {
    const hostile = xml
      .replace(/<!DOCTYPE[^>]*>/, '<!DOCTYPE nvidia_smi_log [<!ENTITY e "expanded">]>')
      .replace('NVIDIA H200', '&e;')
    expect(parseNvidiaSmi(hostile).gpus[0]?.name).toBe('&e;')
  })

  it('that fails says that there is no GPU', () => {
    // Quoted from nvidia-smi on a machine whose driver is not loaded.
    const text =
      "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
    expect(() => parseNvidiaSmi(text)).toThrow(
      expect.objectContaining({ kind: 'missing', message: expect.stringContaining('communicate') }),
    )
  })

  it('that is cut off, or is something else, is refused', () => {
    expect(() => parseNvidiaSmi(xml.slice(0, 9000))).toThrow(/not complete output/)
    expect(() => parseNvidiaSmi('<html></html>')).toThrow(/not complete output.*<html>/)
  })
})

describe('a PCI bus id', () => {
  it.each(['00000000:3B:00.0', '0000:3b:00.0', '3b:00.0', '0000:3b:00'])(
    '%s has one spelling',
    (text) => expect(normalizePciBusId(text)).toBe('00000000:3B:00.0'),
  )
  it('that is none is refused', () => {
    expect(() => normalizePciBusId('GPU 0')).toThrow(/"GPU 0"/)
  })
})

describe('before it is written anywhere', () => {
  // The capture as it was, with made-up values where its own stood.
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
    '%s is taken out',
    (secret) => {
      expect(original).toContain(secret)
      expect(redacted).not.toContain(secret)
    },
  )

  it('and nothing else is changed', () => {
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

  it('a value that is not there stays not there, and a second time changes nothing', () => {
    expect(redacted).toContain('<host_id>N/A</host_id>')
    expect(redactNvidiaSmi(redacted)).toBe(redacted)
  })

  it('holds for the capture in this repository', () => {
    expect(redactNvidiaSmi(xml)).toBe(xml)
    expect(xml).toContain('<serial>REDACTED</serial>')
    expect(xml).toContain('<uuid>REDACTED</uuid>')
    expect(xml).not.toMatch(/GPU-[0-9a-f]{8}-/)
  })
})
