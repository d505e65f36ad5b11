/**
 * Describes the parts of ncu's report that this program uses, as protobuf messages.
 *
 * The field numbers were determined from reports and verified against ncu's CSV output
 * (test/parsers/ncu/ncu-rep.test.ts). The field names are our own, because reports contain only the
 * numbers.
 *
 * All other parts (sections, charts) are skipped during decoding and take no memory. Machine code
 * and sampled instances are decoded for one launch at a time.
 */
import { create, createFileRegistry, fromBinary, type Message } from '@bufbuild/protobuf'
import { BinaryReader } from '@bufbuild/protobuf/wire'
import type { GenMessage } from '@bufbuild/protobuf/codegenv2'
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt'

/**
 * Field number and type by field name. A type is a scalar or another message in this table. `[]`
 * marks a repeated field.
 */
const description = {
  FileHeader: { version: [1, 'uint32'] },
  /** Header before each block, which describes the block's payload. */
  BlockHeader: {
    sources: [1, 'uint32'],
    results: [2, 'uint32'],
    session: [3, 'Session'],
    strings: [4, 'StringTable'],
    payloadBytes: [5, 'uint32'],
    process: [6, 'Process'],
    /** Results that apply to several kernels together. */
    ranges: [7, 'uint32'],
    commandLists: [8, 'uint32'],
    graphs: [9, 'uint32'],
  },
  Process: { id: [1, 'uint32'] },
  /**
   * A table of names. Each block adds a table, and name indexes count from the first table in the
   * file.
   */
  StringTable: { entries: [1, 'string[]'] },
  Session: {
    /** Creation time in seconds since the Unix epoch. */
    createdAt: [2, 'uint64'],
    versions: [8, 'Version[]'],
    commandLine: [11, 'string'],
  },
  Version: { tool: [1, 'string'], version: [2, 'string'] },
  /** A kernel launch. */
  Result: {
    /** The launching thread's id. For the main thread, this id equals the process id. */
    threadId: [1, 'uint32'],
    mangledName: [5, 'string'],
    functionName: [6, 'string'],
    demangledName: [7, 'string'],
    grid: [10, 'Extent'],
    block: [11, 'Extent'],
    metrics: [13, 'Metric[]'],
    nvtx: [21, 'Nvtx'],
  },
  /** A Result, including its large fields. Decoded for one launch at a time. */
  Detailed: {
    mangledName: [5, 'string'],
    metrics: [13, 'Instanced[]'],
    source: [15, 'SourceRef'],
    rules: [19, 'RuleResult[]'],
  },
  SourceRef: { id: [1, 'uint64'] },
  Instanced: { name: [1, 'uint32'], value: [2, 'Value'], instances: [3, 'Instance[]'] },
  /** A sampled value. For counters on the source page, `of` is the address of an instruction. */
  Instance: { of: [1, 'Value'], value: [2, 'Value'] },
  RuleResult: { name: [1, 'string'], body: [3, 'RuleBody'], section: [4, 'string'] },
  RuleBody: { items: [1, 'RuleItem[]'] },
  RuleItem: { message: [1, 'RuleMessage'], speedup: [10, 'Speedup'] },
  RuleMessage: { text: [1, 'string'], kind: [2, 'uint32'] },
  Speedup: { type: [1, 'uint32'], percent: [2, 'double'] },
  /** Machine code that one or more launches use. */
  Source: {
    id: [1, 'uint64'],
    cubin: [4, 'bytes'],
    files: [8, 'SourceFiles'],
    functions: [9, 'Functions'],
  },
  SourceFiles: { entries: [1, 'SourceFile[]'] },
  SourceFile: { path: [1, 'string'], text: [2, 'string'] },
  Functions: { entries: [1, 'LoadedFunction[]'] },
  LoadedFunction: { name: [1, 'string'], address: [2, 'uint64'] },
  Extent: { x: [1, 'uint64'], y: [2, 'uint64'], z: [3, 'uint64'] },
  Metric: { name: [1, 'uint32'], value: [2, 'Value'] },
  Value: {
    text: [1, 'string'],
    float: [2, 'float'],
    double: [3, 'double'],
    uint32: [4, 'uint32'],
    uint64: [5, 'uint64'],
  },
  /**
   * All NVTX ranges that were open in the process when the kernel was launched. Push/pop ranges
   * belong to a thread.
   */
  Nvtx: {
    domains: [1, 'NvtxDomain[]'],
    threads: [2, 'NvtxThread[]'],
    startEnd: [3, 'NvtxStartEnd[]'],
  },
  NvtxDomain: { id: [1, 'uint64'], name: [2, 'string'] },
  NvtxThread: { id: [1, 'uint64'], stacks: [2, 'NvtxStack[]'] },
  NvtxStack: { domain: [1, 'uint64'], ranges: [3, 'NvtxRange[]'] },
  /**
   * A push/pop range. `order` increases with each call in the process, so the innermost range has
   * the highest value.
   */
  NvtxRange: { name: [1, 'string'], order: [3, 'uint64'] },
  NvtxStartEnd: { domain: [1, 'uint64'], ranges: [3, 'NvtxStartEndRange[]'] },
  /**
   * A start/end range. `order` counts the calls of the thread that started the range, and can be 0.
   */
  NvtxStartEndRange: { name: [2, 'string'], order: [4, 'uint64'] },
} as const satisfies Record<string, Record<string, readonly [number, string]>>

interface Scalars {
  string: string
  float: number
  double: number
  uint32: number
  uint64: bigint
  bytes: Uint8Array
}
type Name = keyof typeof description
type TypeOf<T extends string> = T extends `${infer E}[]`
  ? Exclude<TypeOf<E>, undefined>[]
  : T extends keyof Scalars
    ? Scalars[T]
    : T extends Name
      ? MessageOf<T> | undefined
      : never
type FieldsOf<N extends Name> = (typeof description)[N]
type Choice = {
  [F in keyof FieldsOf<'Value'>]: { case: F; value: TypeOf<FieldsOf<'Value'>[F][1]> }
}[keyof FieldsOf<'Value'>]

/** Type of a decoded message. A missing scalar is decoded as 0 or ''. */
export type MessageOf<N extends Name> = N extends 'Value'
  ? Message & { choice: Choice | { case: undefined; value?: undefined } }
  : Message & {
      [F in keyof FieldsOf<N>]: FieldsOf<N>[F] extends readonly [number, infer T extends string]
        ? TypeOf<T>
        : never
    }

const scalarTypes: Record<keyof Scalars, FieldDescriptorProto_Type> = {
  string: FieldDescriptorProto_Type.STRING,
  float: FieldDescriptorProto_Type.FLOAT,
  double: FieldDescriptorProto_Type.DOUBLE,
  uint32: FieldDescriptorProto_Type.UINT32,
  uint64: FieldDescriptorProto_Type.UINT64,
  bytes: FieldDescriptorProto_Type.BYTES,
}
const isScalar = (type: string): type is keyof Scalars => Object.hasOwn(scalarTypes, type)
const packageName = 'report'

const fieldOf = (message: string, name: string, number: number, type: string) => {
  const element = type.replace('[]', '')
  return {
    name,
    number,
    label:
      element === type ? FieldDescriptorProto_Label.OPTIONAL : FieldDescriptorProto_Label.REPEATED,
    ...(isScalar(element)
      ? { type: scalarTypes[element] }
      : { type: FieldDescriptorProto_Type.MESSAGE, typeName: `.${packageName}.${element}` }),
    // A metric has one value, whose type depends on which field is set.
    ...(message === 'Value' ? { oneofIndex: 0 } : {}),
  }
}

const registry = createFileRegistry(
  create(FileDescriptorProtoSchema, {
    name: 'report.proto',
    package: packageName,
    // Use proto2, because it accepts invalid UTF-8. A single malformed kernel name must not discard
    // the launch.
    syntax: 'proto2',
    messageType: Object.entries(description).map(([name, fields]) => ({
      name,
      field: Object.entries(fields).map(([field, [number, type]]) =>
        fieldOf(name, field, number, type),
      ),
      ...(name === 'Value' ? { oneofDecl: [{ name: 'choice' }] } : {}),
    })),
  }),
  () => undefined,
)

/** Decodes a message. Throws an error from the protobuf library if the bytes are invalid. */
export function decode<N extends Name>(name: N, bytes: Uint8Array): MessageOf<N> {
  const schema = registry.getMessage(`${packageName}.${name}`) as GenMessage<MessageOf<N>>
  return fromBinary(schema, bytes, { readUnknownFields: false }) as MessageOf<N>
}

/**
 * Returns the number of metrics in a Result without decoding them, because each decoded metric
 * takes memory.
 */
export function countMetrics(result: Uint8Array): number {
  const [metrics] = description.Result.metrics
  const reader = new BinaryReader(result)
  let count = 0
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag()
    if (field === metrics) count += 1
    reader.skip(wireType, field)
  }
  return count
}

/** Returns the number in field 1, which must be the first field in the message. */
export function firstId(start: Uint8Array): bigint {
  const reader = new BinaryReader(start)
  const [field] = reader.tag()
  if (field !== description.SourceRef.id[0]) throw new Error('it does not begin with its id')
  return BigInt(reader.uint64())
}

/**
 * Returns a single metric's value in a Result without decoding the other metrics. Returns null if
 * the metric has no value.
 */
export function metricIn(result: Uint8Array, isIt: (name: number) => boolean): number | null {
  const [metrics] = description.Result.metrics
  const reader = new BinaryReader(result)
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag()
    if (field !== metrics) {
      reader.skip(wireType, field)
      continue
    }
    const bytes = reader.bytes()
    const metric = new BinaryReader(bytes)
    const [first] = metric.tag()
    if (first !== description.Metric.name[0] || !isIt(metric.uint32())) continue
    const figure = Number(decode('Metric', bytes).value?.choice.value)
    return Number.isFinite(figure) ? figure : null
  }
  return null
}
