/**
 * Explains why Electron did not open a window. The explanation is based on Electron's exit code and
 * output.
 */

export interface EndedWindow {
  exitCode: number | null
  seconds: number
  stderr: string
}

export interface WindowTrouble {
  reason: string
  remedy: string
}

/** Exit codes if the program did not load or Chromium aborted before a window opened. */
const neverStarted = [126, 127, 132, 133, 134]

/** Debian packages for libraries that are often missing on servers. */
const packages: Readonly<Record<string, string>> = {
  'libnss3.so': 'libnss3',
  'libnspr4.so': 'libnspr4',
  'libgtk-3.so.0': 'libgtk-3-0',
  'libatk-1.0.so.0': 'libatk1.0-0',
  'libatk-bridge-2.0.so.0': 'libatk-bridge2.0-0',
  'libcups.so.2': 'libcups2',
  'libgbm.so.1': 'libgbm1',
  'libasound.so.2': 'libasound2',
  'libdrm.so.2': 'libdrm2',
}

/**
 * Returns the reason why no window opened. Returns null if a window was open and the exit code
 * comes from the program itself.
 * @param profile path of the AppArmor profile
 * @param restrictsNamespaces whether `kernel.apparmor_restrict_unprivileged_userns` is 1
 */
export function windowTrouble(
  { exitCode, seconds, stderr }: EndedWindow,
  { profile, restrictsNamespaces }: { profile: string; restrictsNamespaces: boolean },
): WindowTrouble | null {
  const [, library] = /error while loading shared libraries: ([^:\s]+):/.exec(stderr) ?? []
  if (library !== undefined) {
    const name = packages[library]
    return {
      reason: `Electron needs the system library ${library}, which is missing.`,
      remedy:
        name === undefined
          ? `Install your distribution’s package that contains ${library}.`
          : `On Debian and Ubuntu: sudo apt-get install ${name}`,
    }
  }
  if (exitCode === null || !neverStarted.includes(exitCode) || seconds >= 10) return null
  const isSandbox = /setuid_sandbox|zygote_host|No usable sandbox|new namespace/.test(stderr)
  if (restrictsNamespaces && (isSandbox || exitCode === 133))
    return {
      reason: 'AppArmor does not allow Electron to create the user namespaces of its sandbox.',
      remedy: `Install a profile that allows it: sudo cp '${profile}' /etc/apparmor.d/ && sudo apparmor_parser -r /etc/apparmor.d/kernel-ladder
Or lift the restriction until the next restart: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`,
    }
  if (isSandbox)
    return {
      reason: 'This system does not allow Electron to create its sandbox.',
      remedy: 'Allow unprivileged user namespaces: sudo sysctl kernel.unprivileged_userns_clone=1',
    }
  if (/cannot open display|Missing X server|Failed to connect to (?:the )?Wayland/i.test(stderr))
    return {
      reason: 'Electron could not connect to the display.',
      remedy: 'Check DISPLAY or WAYLAND_DISPLAY, and that this user may use that display.',
    }
  return {
    reason: `Electron ended before it opened a window (exit code ${exitCode}).`,
    remedy: 'Its output above shows the reason.',
  }
}
