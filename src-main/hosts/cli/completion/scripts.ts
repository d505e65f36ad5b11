/** Defines the completion script for each shell. */

/**
 * Completion script for each shell.
 *
 * All scripts get the candidates from this program, because it can list its commands and the
 * existing names. Each output line has a candidate, followed by a tab and a description. Bash does
 * not show descriptions. If there is no output, the shell completes file names.
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
