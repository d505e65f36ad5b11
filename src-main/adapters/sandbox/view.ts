/**
 * Builds the file system view of a sandboxed program. The view contains only the files that the
 * program needs. The program has no Linux capabilities and cannot gain any.
 *
 * This module builds the command line for unshare or bubblewrap. The module also removes files that
 * remain after the program exits.
 */
import { statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pathExists } from '../disk/disk'
import { runProcess } from '../tools/process'

export interface Place {
  /** The program's folder. A copy of this folder is placed in the view's tmpfs. */
  work: string
  /** Path of the program's folder in the view. The default is the path outside the view. */
  at?: string
  /** An empty folder on which the view is mounted. */
  view: string
  /**
   * Whether the program confines itself (cuda-kernels/probe/confine.hpp). If it does, the view has
   * no copy of the program's folder, no devices, and no writable files. The view of a program that
   * confines itself starts in a third of the usual time.
   */
  librariesOnly?: boolean
  /** Files and folders that the program may read, at their original paths. */
  readable: readonly string[]
  /**
   * Files and folders that the program must not see at any path, such as other submissions and
   * solutions.
   */
  hidden: readonly string[]
  /** The total number of bytes that the program may write to its folder, /tmp, and /dev/shm. */
  diskBytes: number
  /** The maximum number of processes and threads. */
  tasks: number
  fileBytes: number
  cpuSeconds: number
}

export type Wrap = (place: Place, command: readonly string[]) => string[]

/** Folders in which programs, compilers, and drivers are installed. Missing folders are skipped. */
export const systemFolders = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/nix', '/gnu'],
]

/**
 * Parts of /etc that programs need to find libraries and other programs. Files that contain user
 * names or keys are excluded.
 */
const configuration = [
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'alternatives', 'nsswitch.conf', 'localtime'],
  ...['OpenCL', 'nvidia', 'debian_version', 'os-release'],
].map((name) => `/etc/${name}`)

/**
 * Devices that are available in the view. GPUs are excluded, because sandboxed programs only
 * compile code or describe launches.
 */
const devices = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom']

/**
 * Parts of /proc that control the machine. The view mounts them read-only, because otherwise only
 * file permissions would protect them.
 */
const guarded = [
  ...['/proc/sysrq-trigger', '/proc/bus', '/proc/fs', '/proc/irq'],
  ...['abi', 'debug', 'dev', 'fs', 'kernel', 'net', 'sunrpc', 'vm'].map((n) => `/proc/sys/${n}`),
]

/**
 * Returns the limits as `name=value` arguments for prlimit. Limits that are already lower stay in
 * effect.
 */
const limitsOf = ({ tasks, fileBytes, cpuSeconds }: Place): string =>
  `--nproc=${tasks} --fsize=${fileBytes} --cpu=${cpuSeconds} --core=0 --nofile=4096`

/**
 * Shell code that applies the limits in its arguments to its own process. If the limits cannot all
 * be set together, sets as many as possible.
 */
const limitSelf =
  'prlimit --pid $$ $1 2>/dev/null || for one in $1; do prlimit --pid $$ "$one" 2>/dev/null; done; shift'

/** Drops all capabilities, including file capabilities. */
const drop = '--no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all'

/**
 * Builds the view and runs the command in it.
 *
 * The shell remains the first process of its pid namespace and keeps the privileges that the
 * command drops. Killing the shell kills every process in the namespace.
 *
 * The command runs in a separate user namespace and cannot create another one. Therefore, the
 * command's tasks are counted separately from the same user's other tasks. The mounts and the
 * network do not belong to the command's user namespace.
 */
const viewScript = `
set -u
view=$1 work=$2 at=$3 size=$4 uid=$5 kind=$6; shift 6
fail() { echo "sandbox: $1" >&2; exit 125; }
# Few programs: a sandbox is made for each submission, and starting one takes as long as a mount.
above() { [ -d "$view\${1%/*}" ] || mkdir -p "$view\${1%/*}"; }
# At its own path. What is there already is left alone: it may be the real one.
show() {
  if [ -e "$view$1" ] || [ -L "$view$1" ]; then return 0; fi
  if [ -L "$1" ]; then above "$1" && cp -P "$1" "$view$1"
  elif [ -d "$1" ]; then mkdir -p "$view$1" && mount -o rbind,ro "$1" "$view$1"
  elif [ -e "$1" ]; then above "$1" && : > "$view$1" && mount -o bind,ro "$1" "$view$1"
  fi || fail "$1 cannot be shown"
}
mount --make-rprivate / || fail "mounts cannot be made private"
mount -t tmpfs -o size=16m,mode=755 tmpfs "$view" || fail "no tmpfs can be mounted"
cd "$view" && mkdir etc dev dev/shm proc tmp .old .own || fail "no folders"
echo 'root:x:0:0::/:/bin/sh' > etc/passwd
echo 'root:x:0:' > etc/group
echo '127.0.0.1 localhost' > etc/hosts
links= folders= copied=
for path in ${systemFolders.join(' ')}; do
  if [ -L "$path" ]; then links="$links $path"; elif [ -d "$path" ]; then folders="$folders $path"; fi
done
for path in ${configuration.join(' ')}; do
  if [ -e "$path" ]; then copied="$copied $path"; fi
done
# A link in it stays one: /etc/alternatives/cuda is a whole toolkit. An unreadable file is no reason to stop.
cp -RH $copied etc 2>/dev/null
[ -z "$links" ] || cp -P $links . || fail "no links"
for path in $folders; do show "$path"; done
if [ "$kind" = all ]; then
  ln -s /proc/self/fd dev/fd && ln -s fd/0 dev/stdin && ln -s fd/1 dev/stdout && ln -s fd/2 dev/stderr
  mount -t tmpfs -o "size=$size,mode=755,nosuid,nodev" tmpfs .own || fail "no tmpfs can be mounted"
  mkdir -m 1777 .own/tmp .own/shm && mkdir .own/work || fail "no folders"
  # With the times of sources, which machine code contains.
  cp -R --preserve=timestamps "$work/." .own/work && chmod -R u+rwX .own/work || fail "the submission cannot be copied"
  if [ -n "$uid" ]; then chown -R "$uid:$uid" .own/work || fail "its folder cannot be assigned to the user"; fi
  mount --bind .own/tmp tmp && mount --bind .own/shm dev/shm || fail "no /tmp"
  mkdir -p "$view$at" && mount --bind .own/work "$view$at" || fail "no folder"
  for path in ${devices.join(' ')}; do
    if [ -c "$path" ]; then show "$path"; fi
  done
else
  mkdir -p "$view$at" || fail "no folder"
fi
while [ "$1" != -- ]; do show "$1"; shift; done
shift
while [ "$1" != -- ]; do
  if [ -d "$view$1" ]; then mount -t tmpfs -o size=4k,mode=755 tmpfs "$view$1"
  elif [ -e "$view$1" ]; then mount --bind /dev/null "$view$1"
  fi || fail "$1 cannot be hidden"
  shift
done
shift
mounts=$(cat /proc/self/mountinfo)
if [ "$kind" = all ]; then
  mount -t proc -o nosuid,nodev,noexec proc proc || fail "procfs cannot be mounted"
  for path in ${guarded.join(' ')}; do
    if [ -e "$view$path" ]; then mount -o bind,ro "$view$path" "$view$path" || fail "$path cannot be protected"; fi
  done
else
  mount -t proc -o ro,nosuid,nodev,noexec proc proc || fail "procfs cannot be mounted"
fi
while read -r _ _ _ _ point options _; do
  case "$point" in *\\\\*) point=$(printf '%b' "$point");; esac
  case "$point" in
    "$view"/.own|"$view"/tmp|"$view"/dev/shm|"$view$at"|"$view"/proc) continue;;
    "$view"/*) ;;
    *) continue;;
  esac
  case "$options" in ro|ro,*) continue;; esac
  # They begin with whether the mount may be written to.
  mount -o "remount,bind,ro\${options#r[ow]}" "$point" || fail "$point cannot be made read-only"
done <<MOUNTS
$mounts
MOUNTS
cd "$view" || fail "no view"
PATH="$PATH:/usr/sbin:/sbin" pivot_root . .old || fail "the root cannot be changed"
cd /
if [ "$kind" = all ]; then umount -l /.own || fail "the old root remains visible"; fi
umount -l /.old && rmdir /.own /.old || fail "the old root remains visible"
mount -o remount,bind,ro,nosuid,nodev / || fail "the root cannot be made read-only"
cd "$at" || fail "no folder"
if [ -n "$uid" ]; then
  set -- setpriv "--reuid=$uid" "--regid=$uid" --clear-groups ${drop} -- "$@"
fi
"$@"
exit $?
`

/** Performs the final steps in the command's own user namespace, if possible. */
const closeScript = `
if unshare --user --map-root-user true 2>/dev/null; then
  exec unshare --user --map-root-user -- sh -c '
    echo 0 > /proc/sys/user/max_user_namespaces
    ${limitSelf}
    exec setpriv ${drop} -- "$@"' sh "$@"
fi
${limitSelf}
if [ "$(id -u)" = 0 ]; then exec setpriv ${drop} -- "$@"; fi
exec "$@"
`

const limitedScript = `
${limitSelf}
if [ "$(id -u)" = 0 ]; then exec setpriv ${drop} -- "$@"; fi
exec "$@"
`

const namespaces = ['--net', '--pid', '--mount', '--ipc', '--uts', '--fork', '--kill-child']

/**
 * Returns the unshare command line.
 *
 * `tie` kills the command if the grader exits. Entering a user namespace resets the parent-death
 * signal, so `tie` comes after that step.
 *
 * root runs submissions with an unused user id, because files owned by root are writable without
 * any capability. If the user is not root, the shell acts as root of a user namespace until the
 * view is built.
 */
export const unshareWith =
  (tie: readonly string[], newUser: (() => number) | null): Wrap =>
  (place, command) => {
    const uid = newUser?.() ?? null
    return [
      ...(uid === null ? ['unshare', '--user', '--map-root-user', '--'] : []),
      ...tie,
      ...['unshare', ...namespaces, '--', 'sh', '-c', viewScript, 'sh'],
      ...[
        place.view,
        place.work,
        place.at ?? place.work,
        String(place.diskBytes),
        String(uid ?? ''),
      ],
      place.librariesOnly ? 'libraries' : 'all',
      ...[...place.readable, '--', ...place.hidden, '--'],
      ...['sh', '-c', place.librariesOnly ? limitedScript : closeScript, 'sh', limitsOf(place)],
      ...command,
    ]
  }

/** Returns the hidden paths that would otherwise be visible in the view. */
const hiddenIn = ({ readable, hidden }: Place, shown: readonly string[]): string[] =>
  hidden.filter((path) =>
    [...readable, ...shown].some((folder) => path === folder || path.startsWith(`${folder}/`)),
  )

/** Returns the command line for systems on which only bubblewrap may create namespaces. */
export const bubblewrap =
  (options: readonly string[]): Wrap =>
  (place, command) => {
    const shown = [...systemFolders, '/etc/hosts', ...configuration]
    const size = (parts: number): string[] => [
      '--size',
      String(Math.floor(place.diskBytes / parts)),
    ]
    return [
      ...['bwrap', '--unshare-all', '--die-with-parent', '--cap-drop', 'ALL', ...options],
      ...['--proc', '/proc', '--dev', '/dev'],
      ...[...size(4), '--tmpfs', '/tmp', ...size(4), '--tmpfs', '/dev/shm'],
      ...shown.flatMap((path) => ['--ro-bind-try', path, path]),
      ...place.readable.flatMap((path) => ['--ro-bind', path, path]),
      ...hiddenIn(place, shown).flatMap((path) =>
        statSync(path).isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path],
      ),
      ...['--ro-bind', place.work, '/handed-in', ...size(2), '--tmpfs', place.at ?? place.work],
      ...['--remount-ro', '/', '--chdir', place.at ?? place.work, '--', 'sh', '-c'],
      ...[
        `cp -R --preserve=timestamps /handed-in/. . && chmod -R u+rwX . || exit 125; ${limitSelf}; exec "$@"`,
        'sh',
      ],
      ...[limitsOf(place), ...command],
    ]
  }

/** Returns the command line with only per-process limits. */
export const bare =
  (tie: readonly string[]): Wrap =>
  (place, command) => [
    ...tie,
    ...['sh', '-c', `${limitSelf}; exec "$@"`, 'sh'],
    ...[`--fsize=${place.fileBytes} --core=0`, ...command],
  ]

/**
 * Removes a folder with untrusted contents. Handles inaccessible folders and paths that are too
 * long. Returns whether the folder is gone. Never throws an error, because the caller reports
 * folders that remain.
 */
export async function removeTree(path: string): Promise<boolean> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    // chmod and rm descend folder by folder, so long paths cause no errors.
    await runProcess({ file: 'chmod', args: ['-R', 'u+rwx', '--', path], timeoutMs: 60_000 })
    await runProcess({ file: 'rm', args: ['-rf', '--', path], timeoutMs: 60_000 })
  }
  return !(await pathExists(path))
}
