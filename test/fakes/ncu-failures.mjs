// What ncu says when it cannot profile. No machine that does was at hand: the texts are ncu's as NVIDIA
// documents them and users quote them.
export const ncuFailures = {
  'counter-permission': {
    text: '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0. For instructions on enabling permissions and to get more information see https://developer.nvidia.com/ERR_NVGPUCTRPERM',
    exitCode: 1,
  },
  'counters-busy': {
    text: '==ERROR== Profiling failed because a driver resource was unavailable. Ensure that no other tool (like DCGM) is concurrently collecting profiling data. See https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html#faq for more details.',
    exitCode: 9,
  },
  'driver-library': {
    text: '==ERROR== Failed to initialize the profiler: LibraryNotLoaded. Check that a compatible driver library is loaded.',
    exitCode: 1,
  },
  'driver-incompatible': {
    text: '==ERROR== Cuda driver is not compatible with Nsight Compute.',
    exitCode: 1,
  },
  'application-failed': {
    text: '==ERROR== The application returned an error code (9).',
    exitCode: 9,
  },
  'unknown-metric': {
    text: '==ERROR== Failed to find metric regex:^sm__nope\\.(sum|min)$',
    exitCode: 1,
  },
  'lock-file': {
    text: '==ERROR== Failed to open/create lock file /tmp/nsight-compute-lock. Please check that the process has write permissions on the file.',
    exitCode: 1,
  },
  'no-kernels': {
    text: '==WARNING== No kernels were profiled.',
    exitCode: 0,
  },
}
