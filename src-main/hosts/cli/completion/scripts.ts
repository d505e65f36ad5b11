/** What a system learns of the program's commands: the completion script of each shell, and the man page. */
import type { Command } from 'commander'
import { exitCodes } from '../../../domain/errors'

/**
 * The completion script of each shell: all ask this program, which knows its commands and what is there. An answer has
 * one candidate a line; after a tab its description, which bash does not show. No answer: the shell's own file names.
 */
const bash = `# kernel-ladder completion for bash: eval "$(kernel-ladder completion bash)"
_kernel_ladder() {
  local -a words=()
  local word line head item
  for ((item = 0; item <= COMP_CWORD; item++)); do
    word=\${COMP_WORDS[item]}
    # bash splits words at : and =, which names and options have.
    if ((item > 1)) && [[ $word == [:=]* || \${words[-1]} == *[:=] ]]; then words[-1]+=$word
    else words+=("$word"); fi
  done
  word=\${words[-1]}
  head=\${word%"\${word##*[:=]}"}
  COMPREPLY=()
  while IFS=$'\\t' read -r line _; do
    line=\${line#"$head"}
    # Within quotes the shell adds its own.
    # A comma needs no quote where braces have theirs.
    [[ $word == [\\"\\']* ]] || { printf -v line %q "$line"; line=\${line//\\\\,/,}; }
    COMPREPLY+=("$line")
  done < <(kernel-ladder __complete bash -- "\${words[@]}" 2>/dev/null)
}
complete -o default -o bashdefault -F _kernel_ladder kernel-ladder
`

const zsh = `#compdef kernel-ladder
# kernel-ladder completion for zsh: eval "$(kernel-ladder completion zsh)", after compinit
_kernel_ladder() {
  local -a found
  local line
  for line in "\${(@f)$(kernel-ladder __complete zsh -- "\${(@Q)words[1,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line//:/\\\\:}/$'\\t'/:}")
  done
  if (( \${#found} )); then _describe -V kernel-ladder found
  else _files; fi
}
compdef _kernel_ladder kernel-ladder
`

const fish = `# kernel-ladder completion for fish: kernel-ladder completion fish > ~/.config/fish/completions/kernel-ladder.fish
function __kernel_ladder
    set -l found (kernel-ladder __complete fish -- (commandline -opc) (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c kernel-ladder -f -k -a '(__kernel_ladder)'
`

export const shells = { bash, zsh, fish } as const
export type Shell = keyof typeof shells
export const shellNames = Object.keys(shells) as readonly Shell[]

// The man page of kernel-ladder(1), from the definitions of its commands.

/** Text in roff: a backslash, a leading dot or apostrophe, and hyphens that are to stay hyphens. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .split('\n')
    .map((line) => (/^[.']/.test(line) ? `\\&${line}` : line))
    .join('\n')

const paragraph = (text: string): string => `.PP\n${roff(text)}`
const entry = (term: string, text: string): string => `.TP\n.B ${roff(term)}\n${roff(text)}`

/** `lab check <id> [options]` */
const usageOf = (path: string, command: Command): string =>
  `${path} ${command.usage().replace('[command]', 'COMMAND')}`.trim()

function sections(command: Command, path: string): string[] {
  const help = command.createHelp()
  const own = help.visibleCommands(command).filter((one) => one.name() !== 'help')
  if (own.length > 0) return own.flatMap((one) => sections(one, `${path} ${one.name()}`.trim()))
  return [
    `.SS ${roff(usageOf(path, command))}`,
    roff(command.description()),
    ...help
      .visibleArguments(command)
      .map((one) => entry(one.name(), help.argumentDescription(one))),
    ...help
      .visibleOptions(command)
      .filter((one) => one.long !== '--help')
      .map((one) => entry(help.optionTerm(one), help.optionDescription(one))),
  ]
}

const codes: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'a rung or a check failed',
  2: 'bad usage or input',
  3: 'something is missing on this machine, named with its remedy',
}

export function manPage(cli: Command, version: string): string {
  const meanings = [0, ...new Set(Object.values(exitCodes))].sort((a, b) => a - b)
  return `${[
    `.TH KERNEL\\-LADDER 1 "" "kernel\\-ladder ${roff(version)}"`,
    '.SH NAME',
    `kernel\\-ladder \\- ${roff(cli.description().replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    '.B kernel\\-ladder\n.I COMMAND\n.RI [ OPTIONS ]',
    '.SH COMMANDS',
    ...sections(cli, ''),
    '.SH EXIT STATUS',
    ...meanings.map((code) => entry(`${code}`, codes[code] ?? '')),
    '.SH ENVIRONMENT',
    entry('KERNEL_LADDER_DATA', 'where sessions, drafts and lab work are kept'),
    entry('KERNEL_LADDER_CACHE', 'where builds are kept; may be deleted at any time'),
    entry(
      'KERNEL_LADDER_EDITOR',
      'the editor that source lines open in, such as: code -g {file}:{line}',
    ),
    '.SH FILES',
    paragraph(
      'Sessions are in $XDG_DATA_HOME/kernel-ladder, by default ~/.local/share/kernel-ladder.',
    ),
  ].join('\n')}\n`
}
