/**
 * Reads what CUDA's profilers write, and computes what they would count: for Node.js, without a GPU, and without any
 * package besides this one. Everything is pure, bytes or text in, values out, but for `compileCubin`, which runs nvcc.
 *
 * @packageDocumentation
 */
export * from './code'
export * from './compile'
export * from './emulate'
export * from './launch'
export * from './memory-access'
export * from './report'
export * from './error'
export * from './compare-reports'
export * from './sanitizer'
