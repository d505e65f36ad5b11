/** Machines other than this one. */
export const machines = {
  none: 'There is no machine named {name}.',
  known: 'The machines are: {names}. Other targets: see `kernel-ladder run --help`.',
  add: 'Add it with `kernel-ladder machine add {name} --ssh HOST`.',
  noDraft: 'An edited copy runs on this machine only.',
  clock:
    'The clock of {name} is {seconds} s ahead of the one here; dates in the session are its own.',
  sendsNode: 'Sending Node.js to {name}, which has none that is new enough; that is done once.',
  lost: 'The connection to {name} is lost. The run goes on there; trying to connect again.',
  again: 'Connected to {name} again; nothing was lost.',
  ended: 'The run on {name} ended without a result: {text}',
  seeFolder: 'What it left there is in {folder}.',
  stillThere: '{name} could not be told to stop; the run may go on there.',
  badField: '{field} is not {what}.',
  taken: 'There is a machine named {name} already.',
  otherName: 'Use another name, or --replace.',
  notTrusted: 'The host key of {host} is not trusted, so {name} was not added.',
  trustIt: 'The key that it shows is {key}; ask its administrator whether that is right.',
  tooLarge: '{folder} has more than {most} MiB of files, too many to send.',
  noRun: 'There is no run {run} on {name}.',
  seeRuns: 'List them with `kernel-ladder machine runs {name}`.',
  nothing: 'Nothing finished on {name}, so nothing was saved.',
  // Why a host cannot be reached, from what ssh says.
  hostChanged: 'The host key of {host} is not the one that was trusted before.',
  hostChangedRemedy:
    'Ask its administrator; if the change is known, remove the old key with `ssh-keygen -R` and add the machine again.',
  hostUnknown: 'The host key of {host} is not known yet.',
  hostUnknownRemedy:
    '`kernel-ladder machine add` shows its fingerprint and trusts it when told to; so does `ssh {host}`.',
  noHost: 'There is no host {host}.',
  noHostRemedy: 'Check the name and your network (VPN); it is given as after `ssh`.',
  hostDenies: '{host} does not accept your keys, and a password is never asked for.',
  hostDeniesRemedy:
    'Have `ssh {host}` work without a password: add your key to the agent (`ssh-add`) or to the host (`ssh-copy-id`).',
  hostRefuses: '{host} refuses the connection.',
  hostRefusesRemedy: 'Check that sshd runs there, and the port.',
  hostSilent: '{host} does not answer.',
  hostSilentRemedy: 'Check your network (VPN), and that the machine is on.',
} as const
