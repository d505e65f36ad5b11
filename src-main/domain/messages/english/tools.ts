/** What became of ncu and compute-sanitizer, and what their costs are known from. */
export const tools = {
  ncuPermission: "This user may not read the GPU's performance counters (ERR_NVGPUCTRPERM).",
  ncuBusy: "Another tool, usually DCGM, holds the GPU's performance counters.",
  ncuLock: "ncu cannot use its lock file; it belongs to another user's ncu.",
  ncuOldDriver: 'The NVIDIA driver is too old for this version of ncu.',
  ncuLibrary: "ncu cannot load the driver's profiling library.",
  ncuUnknown: 'This version of ncu does not know the metric {metricName} on this GPU.',
  ncuUnknownOne: 'This version of ncu does not know a metric on this GPU.',
  ncuNotExecutable: 'ncu cannot start {file}: it does not exist or is not executable.',
  programFailed: 'The profiled program failed.',
  programFailedWith: 'The profiled program failed with exit code {exitCode}.',
  noKernels: 'ncu ran, and profiled no kernel.',
  allowCounters:
    'Put "options nvidia NVreg_RestrictProfilingToAdminUsers=0" into a file in /etc/modprobe.d and reboot, or run as root; in a container, start it with --cap-add=SYS_ADMIN.',
  pauseDcgm: 'Run "dcgmi profile --pause", profile again, then "dcgmi profile --resume".',
  ownTmp: 'Set TMPDIR to a folder of your own.',
  updateDriver:
    "Update the driver, or use the ncu of the CUDA version that nvidia-smi's header shows.",
  sameLibraries:
    'Install the libraries of the same driver version as the kernel module; in a container, set NVIDIA_DRIVER_CAPABILITIES=all.',
  lowerLevel: 'Profile at a lower level, or with the ncu of CUDA 12 or later.',
  buildAgain: 'Build the runner again; check that its folder is not mounted noexec.',
  runWithout: 'Run the same rungs without profiling; what they say there is the cause.',
  seeLaunch: 'Run the same rungs without profiling and see whether they launch a kernel.',
  triedTimes: 'It was tried {count} times.',
  retry: "Another tool holds the GPU's counters; trying again in {seconds} s.",
  askWithout: 'This ncu does not know {names} on this GPU; asking again without.',

  sanitizerStopped: 'Stopped after {seconds} s without an end; give it longer with --timeout.',
  sanitizerEnded: 'compute-sanitizer was ended ({signal}).',
  sanitizerNoEnd: 'compute-sanitizer came to no end: {text}',
  sanitizerCounts: 'Its summary counts {total} and its report holds {count}.',
  notLaunched: 'The rung was not launched: {text}.',
  noAnswer: 'compute-sanitizer gave no answer.',

  driverSilent: 'The NVIDIA driver does not answer: {text}.',
  checkDriver: 'Check that the driver is loaded and its version fits (`nvidia-smi`).',
  noGpuFound: 'No NVIDIA GPU was found.',
  noGpuUsable: 'CUDA offers no usable GPU: {text}',
  checkVisible: 'Check the driver and CUDA_VISIBLE_DEVICES (`nvidia-smi`, `kernel-ladder doctor`).',
  resetGpu:
    'See whether `nvidia-smi` still lists the GPU, and what holds its memory; reset it (`nvidia-smi --gpu-reset`, as administrator) or reboot, then run the rungs that are left.',
  gpuInUse: '{gpu} is in use by process {pid} of {user}, since {since}.',
  gpuInUseBySilent: '{gpu} is in use by a process that does not say who it is.',
  waitingForGpu: '{why} Waiting for it to end.',
  waitYourself: 'Wait until it has ended, or run without --no-wait.',
  gpuNotReserved:
    '{gpu} could not be reserved ({text}); another run of this program may time at the same moment.',

  knownWith: 'an {gpu} (cc {computeCapability}) with ncu {version}',
} as const
