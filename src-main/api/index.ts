/**
 * Reads the output of CUDA's profilers and computes their counters without a GPU. Runs on Node.js
 * and has no dependencies. All functions are pure, except `compileCubin`, which runs nvcc.
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
