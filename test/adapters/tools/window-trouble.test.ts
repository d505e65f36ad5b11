/**
 * Tests the error messages for a window that did not open. The Electron output is from systems on
 * which the window failed to open.
 */
import { describe, expect, it } from 'vitest'
import { windowTrouble, type EndedWindow } from '../../../src-main/adapters/tools/window-trouble'

const ended = (change: Partial<EndedWindow>): EndedWindow => ({
  ...{ exitCode: 133, seconds: 0.4, stderr: '' },
  ...change,
})
const ubuntu = { profile: '/opt/kl/kernel-ladder', restrictsNamespaces: true }
const debian = { ...ubuntu, restrictsNamespaces: false }

/** Error that Electron 29 printed on Ubuntu 24.04 (github.com/electron/fiddle, issue 1598). */
const sandbox =
  '[62731:0524/190011.842919:FATAL:setuid_sandbox_host.cc(158)] The SUID sandbox helper binary was found, but is not configured correctly.'

describe('the error for a window that did not open', () => {
  it('blames AppArmor and suggests a profile or the switch that lifts the restriction', () => {
    for (const stderr of [sandbox, '']) {
      const trouble = windowTrouble(ended({ stderr }), ubuntu)!
      expect(trouble.reason).toContain('AppArmor does not allow Electron')
      expect(trouble.remedy).toContain("sudo cp '/opt/kl/kernel-ladder' /etc/apparmor.d/")
      expect(trouble.remedy).toContain('sysctl kernel.apparmor_restrict_unprivileged_userns=0')
    }
  })

  it('does not blame AppArmor if AppArmor restricts nothing', () => {
    expect(windowTrouble(ended({ stderr: sandbox }), debian)!.remedy).toContain(
      'kernel.unprivileged_userns_clone=1',
    )
    expect(windowTrouble(ended({}), debian)!.reason).toContain('exit code 133')
  })

  it('reports a missing library and the package that contains it', () => {
    const stderr =
      'electron: error while loading shared libraries: libnss3.so: cannot open shared object file: No such file or directory'
    expect(windowTrouble(ended({ exitCode: 127, stderr }), ubuntu)).toEqual({
      reason: 'Electron needs the system library libnss3.so, which is missing.',
      remedy: 'On Debian and Ubuntu: sudo apt-get install libnss3',
    })
    const other = stderr.replace('libnss3.so', 'libfoo.so.7')
    expect(windowTrouble(ended({ exitCode: 127, stderr: other }), debian)!.remedy).toContain(
      'that contains libfoo.so.7',
    )
  })

  it('blames the display if it cannot be reached', () => {
    const stderr = '[12:ERROR:ozone_platform_x11.cc(245)] Missing X server or $DISPLAY'
    expect(windowTrouble(ended({ stderr }), debian)!.remedy).toContain('WAYLAND_DISPLAY')
  })

  it('is not given for a window that opened and then crashed or was closed', () => {
    for (const change of [{ seconds: 60 }, { exitCode: 1 }, { exitCode: 0 }, { exitCode: 130 }])
      expect(windowTrouble(ended({ stderr: sandbox, ...change }), ubuntu)).toBeNull()
  })
})
