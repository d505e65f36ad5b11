/**
 * The sandboxed program's view: a file system with only what it needs, without capabilities or a way to obtain any.
 * Built as a command line for unshare or bubblewrap; what it leaves is removed.
 */
import { readdirSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathExists } from '../disk/disk'
import { runProcess } from '../tools/process'

export interface Place {
  /** Its folder. In the view, the same path is a tmpfs initialized with a copy of it. */
  work: string
  /** An empty folder on which the view is mounted. */
  view: string
  /** Files and folders that it may read, at their original paths. */
  readable: readonly string[]
  /** Total that it may write: its folder, /tmp and /dev/shm together. */
  diskBytes: number
  /** Tasks: processes and their threads. */
  tasks: number
  fileBytes: number
  cpuSeconds: number
}

export type Wrap = (place: Place, command: readonly string[]) => string[]

/** Where programs, compilers and drivers are installed; missing folders are skipped. */
export const systemFolders = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/nix', '/gnu'],
]

/** The parts of /etc needed to find libraries and programs: nothing that names users or contains keys. */
const configuration = [
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'alternatives', 'nsswitch.conf', 'localtime'],
  ...['OpenCL', 'nvidia', 'debian_version', 'os-release'],
].map((name) => `/etc/${name}`)

const devices = [
  ...['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom'],
  ...['/dev/nvidia*', '/dev/nvidia-caps/*', '/dev/dxg'],
]

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Only the device nodes of the GPUs. */
export const devicesHere = (): string[] =>
  [
    ...namesIn('/dev').filter((name) => /^nvidia|^dxg$/.test(name)),
    ...namesIn('/dev/nvidia-caps').map((name) => join('nvidia-caps', name)),
  ]
    .map((name) => join('/dev', name))
    .filter((path) => statSync(path).isCharacterDevice())

/** The parts of /proc that control the machine and are protected only by the user id. */
const guarded = [
  ...['/proc/sysrq-trigger', '/proc/bus', '/proc/fs', '/proc/irq'],
  ...['abi', 'debug', 'dev', 'fs', 'kernel', 'net', 'sunrpc', 'vm'].map((n) => `/proc/sys/${n}`),
]

/** SIOCSIFFLAGS with IFF_UP for `lo`, if there is neither ip nor ifconfig. */
const python =
  'import socket,fcntl,struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 1))'
const perl =
  'use Socket; socket(S, AF_INET, SOCK_DGRAM, 0); ioctl(S, 0x8914, pack("Z16 s x14", "lo", 1)) or exit 1'

/** As `name=value` for prlimit; limits that are already lower are kept. */
const limitsOf = ({ tasks, fileBytes, cpuSeconds }: Place): string =>
  `--nproc=${tasks} --fsize=${fileBytes} --cpu=${cpuSeconds} --core=0 --nofile=4096`

/** Removes the limits from the arguments and applies them to this process. */
const limitSelf = 'for one in $1; do prlimit --pid $$ "$one" 2>/dev/null; done; shift'

/** Drops all capabilities, including those from file capabilities. */
const drop = '--no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all'

/**
 * Builds the view and runs the command in it. This shell remains as the first process of its pid namespace: it
 * keeps the privileges that the command has dropped, and killing it kills everything.
 *
 * The command gets its own user namespace, in which no other can be created. Its tasks are then counted separately
 * from others of the same user, and it owns neither mounts nor network.
 */
const viewScript = `
set -u
view=$1 work=$2 size=$3 uid=$4 groups=$5; shift 5
fail() { echo "sandbox: $1" >&2; exit 125; }
up() {
  ip link set lo up || ifconfig lo up || python3 -c '${python}' || perl -e '${perl}'
}
# Few programs: a sandbox is made for each submission, and starting one takes as long as a mount.
above() { [ -d "$view\${1%/*}" ] || mkdir -p "$view\${1%/*}"; }
# At its own path. What is there already is left alone: it may be the real one.
show() {
  if [ -e "$view$1" ] || [ -L "$view$1" ]; then return 0; fi
  if [ -L "$1" ]; then above "$1" && ln -s "$(readlink "$1")" "$view$1"
  elif [ -d "$1" ]; then mkdir -p "$view$1" && mount --rbind "$1" "$view$1"
  elif [ -e "$1" ]; then above "$1" && : > "$view$1" && mount --bind "$1" "$view$1"
  fi || fail "$1 cannot be shown"
}
mount --make-rprivate / || fail "mounts cannot be made private"
up >/dev/null 2>&1
mount -t tmpfs -o size=16m,mode=755 tmpfs "$view" || fail "no tmpfs can be mounted"
cd "$view" && mkdir etc dev dev/shm proc tmp .old .own || fail "no folders"
printf 'root:x:0:0::/:/bin/sh\\n' > etc/passwd
printf 'root:x:0:\\n' > etc/group
printf '127.0.0.1 localhost\\n' > etc/hosts
ln -s /proc/self/fd dev/fd && ln -s fd/0 dev/stdin && ln -s fd/1 dev/stdout && ln -s fd/2 dev/stderr
mount -t tmpfs -o "size=$size,mode=755,nosuid,nodev" tmpfs .own || fail "no tmpfs can be mounted"
mkdir -m 1777 .own/tmp .own/shm && mkdir .own/work || fail "no folders"
cp -R "$work/." .own/work && chmod -R u+rwX .own/work || fail "the submission cannot be copied"
if [ -n "$uid" ]; then chown -R "$uid:$uid" .own/work || fail "its folder cannot be assigned to the user"; fi
mount --bind .own/tmp tmp && mount --bind .own/shm dev/shm || fail "no /tmp"
mkdir -p "$view$work" && mount --bind .own/work "$view$work" || fail "no folder"
for path in ${devices.join(' ')}; do
  if [ -c "$path" ]; then show "$path"; fi
done
for path in ${[...systemFolders, '/sys', ...configuration].join(' ')}; do
  if [ -e "$path" ] || [ -L "$path" ]; then show "$path"; fi
done
while [ "$1" != -- ]; do show "$1"; shift; done
shift
mount -t proc -o nosuid,nodev,noexec proc proc || fail "procfs cannot be mounted"
for path in ${guarded.join(' ')}; do
  if [ -e "$view$path" ]; then mount --bind "$view$path" "$view$path" || fail "$path cannot be protected"; fi
done
mounts=$(cat /proc/self/mountinfo)
while read -r _ _ _ _ point options _; do
  case "$point" in *\\\\*) point=$(printf '%b' "$point");; esac
  case "$point" in
    "$view"/.own|"$view"/tmp|"$view"/dev/shm|"$view$work"|"$view"/proc) continue;;
    "$view"/*) ;;
    *) continue;;
  esac
  # They begin with whether the mount may be written to.
  mount -o "remount,bind,ro\${options#r[ow]}" "$point" || fail "$point cannot be made read-only"
done <<MOUNTS
$mounts
MOUNTS
cd "$view" || fail "no view"
PATH="$PATH:/usr/sbin:/sbin" pivot_root . .old || fail "the root cannot be changed"
cd / && umount -l /.own && umount -l /.old && rmdir /.own /.old || fail "the old root remains visible"
mount -o remount,bind,ro,nosuid,nodev / || fail "the root cannot be made read-only"
cd "$work" || fail "no folder"
if [ -n "$uid" ]; then
  set -- setpriv "--reuid=$uid" "--regid=$uid" "$groups" ${drop} -- "$@"
fi
"$@"
exit $?
`

/** The last steps, in the command's own user namespace if possible. */
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

export interface Identity {
  uid: number
  /** Groups needed to use the devices. */
  groups: readonly number[]
}

const namespaces = ['--net', '--pid', '--mount', '--ipc', '--fork', '--kill-child']

/**
 * `tie` ends it with the grader; it is reset when a user namespace is entered, so it comes after that. Root runs
 * submissions with an unused user id, because root's files are writable without any capability; other users are
 * root of a user namespace until the view is built.
 */
export const unshareWith =
  (
    tie: readonly string[],
    identity: (() => Identity) | null,
    own: readonly string[] = namespaces,
  ): Wrap =>
  (place, command) => {
    const given = identity?.() ?? null
    return [
      ...(given === null ? ['unshare', '--user', '--map-root-user', '--'] : []),
      ...tie,
      ...['unshare', ...own, '--', 'sh', '-c', viewScript, 'sh'],
      ...[place.view, place.work, String(place.diskBytes), String(given?.uid ?? '')],
      given && given.groups.length > 0 ? `--groups=${given.groups.join(',')}` : '--clear-groups',
      ...[...place.readable, '--', 'sh', '-c', closeScript, 'sh', limitsOf(place), ...command],
    ]
  }

/** For systems where only bubblewrap may create namespaces. It brings up the loopback by itself. */
export const bubblewrap =
  (options: readonly string[]): Wrap =>
  (place, command) => {
    const shown = [...systemFolders, '/sys', '/etc/hosts', ...configuration]
    const size = (parts: number): string[] => [
      '--size',
      String(Math.floor(place.diskBytes / parts)),
    ]
    return [
      ...['bwrap', '--unshare-all', '--die-with-parent', '--cap-drop', 'ALL', ...options],
      ...['--proc', '/proc', '--dev', '/dev'],
      ...devicesHere().flatMap((path) => ['--dev-bind', path, path]),
      ...[...size(4), '--tmpfs', '/tmp', ...size(4), '--tmpfs', '/dev/shm'],
      ...shown.flatMap((path) => ['--ro-bind-try', path, path]),
      ...place.readable.flatMap((path) => ['--ro-bind', path, path]),
      ...['--ro-bind', place.work, '/handed-in', ...size(2), '--tmpfs', place.work],
      ...['--remount-ro', '/', '--chdir', place.work, '--', 'sh', '-c'],
      ...[`cp -R /handed-in/. . && chmod -R u+rwX . || exit 125; ${limitSelf}; exec "$@"`, 'sh'],
      ...[limitsOf(place), ...command],
    ]
  }

/** Only per-process limits. */
export const bare =
  (tie: readonly string[]): Wrap =>
  (place, command) => [
    ...tie,
    ...['sh', '-c', `${limitSelf}; exec "$@"`, 'sh'],
    ...[`--fsize=${place.fileBytes} --core=0`, ...command],
  ]

/**
 * Removes a folder with untrusted contents: inaccessible folders, or paths longer than the path limit.
 * Returns whether it is gone. Never throws; the caller reports what cannot be removed.
 */
export async function removeTree(path: string): Promise<boolean> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    // Both descend folder by folder, so no path is too long for them.
    await runProcess({ file: 'chmod', args: ['-R', 'u+rwx', '--', path], timeoutMs: 60_000 })
    await runProcess({ file: 'rm', args: ['-rf', '--', path], timeoutMs: 60_000 })
  }
  return !(await pathExists(path))
}
