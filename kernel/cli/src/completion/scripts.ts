/** The tree of commands as scripts of the shells. Words of the tree are letters and hyphens; descriptions are quoted. */
import type { CommandNode, CommandTree, OptionWord } from './command-tree.js';

export const SCRIPTS: Readonly<Record<string, (tree: CommandTree) => string>> = {
  bash: (tree) => bash(tree),
  zsh: (tree) => zsh(tree),
  fish: (tree) => fish(tree),
  powershell: (tree) => powershell(tree),
};

const optionWords = (options: readonly OptionWord[]): string[] => options.flatMap(({ short, word }) => (short === undefined ? [word] : [word, short]));
const withValue = (options: readonly OptionWord[]): string[] => optionWords(options.filter(({ takesValue }) => takesValue));

/** One branch of a `case` for each command and subcommand. */
const cases = ({ nodes }: CommandTree, line: (node: CommandNode) => string): string => nodes.map((node) => `    '${node.path}') ${line(node)} ;;`).join('\n');

const groupsOf = ({ nodes }: CommandTree): string =>
  nodes
    .filter(({ path, words }) => path !== '' && path !== 'completion' && words.length > 0)
    .map(({ path }) => `'${path}'`)
    .join('|');
const valuesOf = ({ globals, nodes }: CommandTree): string => [...new Set(withValue([...globals, ...nodes.flatMap(({ options }) => options)]))].join('|');

/** Options whose value a source offers, as branches of a `case`. */
const offeredValues = ({ globals, nodes }: CommandTree, line: (option: string, source: string) => string): string =>
  [...new Map([...globals, ...nodes.flatMap(({ options }) => options)].flatMap((option) => (option.source === undefined ? [] : [[option.word, option.source] as const])))]
    .map(([option, source]) => line(option, source))
    .join(' ');

const bash = (tree: CommandTree): string => `# What Tab offers after svc, in bash. Made by: svc completion bash
_svc() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path='' at word skip='' place=0 words='' options='' source='' repeated=''
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    if [[ -n $skip ]]; then skip=''; continue; fi
    case "$word" in
      ${valuesOf(tree)}) skip=1; continue ;;
      -*) continue ;;
    esac
    if [[ -z $path ]]; then path="$word"
    else
      case "$path" in
        ${groupsOf(tree)}) path="$path $word" ;;
        *) place=$((place + 1)) ;;
      esac
    fi
  done
  if [[ -n $skip ]]; then
    case "$prev" in ${offeredValues(tree, (option, source) => `${option}) source='${source}' ;;`)} esac
    if [[ -n $source ]]; then COMPREPLY=($(compgen -W "$(svc completion "$source" 2>/dev/null)" -- "$cur")); else COMPREPLY=($(compgen -f -- "$cur")); fi
    return
  fi
  case "$path" in
${cases(tree, ({ isRepeated, options, source = '', words }) => `words='${words.map(({ name }) => name).join(' ')}'; options='${optionWords(options).join(' ')}'; source='${source}'${isRepeated ? '; repeated=1' : ''}`)}
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options ${optionWords(tree.globals).join(' ')}" -- "$cur"))
  elif [[ -n $words && $place -eq 0 ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  elif [[ -n $source && ( $place -eq 0 || -n $repeated ) ]]; then
    COMPREPLY=($(compgen -W "$(svc completion "$source" 2>/dev/null)" -- "$cur"))
  else
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
complete -o filenames -F _svc svc
`;

/** In single quotes, where zsh's own marks mean nothing but the colon. */
const quoted = (text: string): string => text.replaceAll("'", "'\\''");
const described = (name: string, description: string): string => `'${quoted(name)}:${quoted(description.replaceAll('`', '').replaceAll(':', '\\:'))}'`;

const zsh = (tree: CommandTree): string => `#compdef svc
# What Tab offers after svc, in zsh. Made by: svc completion zsh
_svc() {
  local path_so_far='' word skip='' source='' repeated='' cur="\${words[CURRENT]}" prev="\${words[CURRENT-1]}"
  local -i at place=0
  local -a offered options found
  for ((at = 2; at < CURRENT; at++)); do
    word="\${words[at]}"
    if [[ -n $skip ]]; then skip=''; continue; fi
    case "$word" in
      (${valuesOf(tree)}) skip=1; continue ;;
      (-*) continue ;;
    esac
    if [[ -z $path_so_far ]]; then path_so_far="$word"
    else
      case "$path_so_far" in
        (${groupsOf(tree)}) path_so_far="$path_so_far $word" ;;
        (*) place=$((place + 1)) ;;
      esac
    fi
  done
  if [[ -n $skip ]]; then
    case "$prev" in ${offeredValues(tree, (option, source) => `(${option}) source='${source}' ;;`)} esac
    if [[ -n $source ]]; then found=(\${(f)"$(svc completion "$source" 2>/dev/null)"}); compadd -a found; else _files; fi
    return
  fi
  case "$path_so_far" in
${tree.nodes
  .map(
    ({ isRepeated, options, path, source = '', words }) =>
      `    ('${path}') offered=(${words.map(({ name, description }) => described(name, description)).join(' ')}); options=(${options.map(({ word, description }) => described(word, description)).join(' ')}); source='${source}'${isRepeated ? '; repeated=1' : ''} ;;`,
  )
  .join('\n')}
  esac
  if [[ $cur == -* ]]; then
    options+=(${tree.globals.map(({ word, description }) => described(word, description)).join(' ')})
    _describe 'option' options
  elif (( \${#offered} && place == 0 )); then
    _describe 'command' offered
  elif [[ -n $source && ( $place -eq 0 || -n $repeated ) ]]; then
    found=(\${(f)"$(svc completion "$source" 2>/dev/null)"})
    compadd -a found
  else
    _files
  fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _svc "$@"; else compdef _svc svc; fi
`;

const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const fish = (tree: CommandTree): string => {
  const lines = tree.nodes.flatMap((node) => {
    const here = `-n '__svc_at ${node.path}'`;
    const words = node.words.map(({ name, description }) => `complete -c svc -f ${here} -a ${name} -d ${fishQuoted(description)}`);
    const offered = node.source === undefined ? [] : [`complete -c svc -f ${here} -a '(svc completion ${node.source} 2>/dev/null)'`];
    return [...words, ...offered, ...node.options.map((option) => fishOption(option, here))];
  });
  return `# What Tab offers after svc, in fish. Made by: svc completion fish
function __svc_at
  set -l words (commandline -opc)
  set -l named
  set -l skip 0
  for word in $words[2..-1]
    if test $skip -eq 1
      set skip 0
      continue
    end
    switch $word
      case ${valuesOf(tree).split('|').join(' ')}
        set skip 1
      case '-*'
      case '*'
        set -a named $word
    end
  end
  set -l count (count $argv)
  if test $count -eq 0
    test (count $named) -eq 0
  else if test $count -ge 2
    test "$named[1..$count]" = "$argv"
  else if contains -- $argv[1] ${groupsOf(tree).split('|').join(' ')}
    test "$named" = "$argv[1]"
  else
    test "$named[1]" = "$argv[1]"
  end
end
${[...lines, ...tree.globals.map((option) => fishOption(option, ''))].join('\n')}
`;
};

const powershellQuoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const powershellList = (words: readonly string[]): string => `@(${words.map(powershellQuoted).join(', ')})`;

const powershell = (tree: CommandTree): string => `# What Tab offers after svc, in PowerShell. Made by: svc completion powershell
$__svcNodes = @{
${tree.nodes
  .map(
    ({ options, path, source = '', words }) =>
      `  ${powershellQuoted(path)} = @{ words = ${powershellList(words.map(({ name }) => name))}; options = ${powershellList(optionWords(options))}; source = ${powershellQuoted(source)} }`,
  )
  .join('\n')}
}
$__svcGlobals = ${powershellList(optionWords(tree.globals))}
$__svcWithValue = ${powershellList(valuesOf(tree).split('|'))}
Register-ArgumentCompleter -Native -CommandName svc -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $typed = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  $path = ''
  $skip = $false
  foreach ($word in $typed) {
    if ($skip) { $skip = $false; continue }
    if ($__svcWithValue -ccontains $word) { $skip = $true; continue }
    if ($word.StartsWith('-')) { continue }
    $next = if ($path -eq '') { $word } else { "$path $word" }
    if ($__svcNodes.ContainsKey($next)) { $path = $next }
  }
  $node = $__svcNodes[$path]
  if ($null -eq $node -or $skip) { return }
  $offered = if ($wordToComplete.StartsWith('-')) { $node.options + $__svcGlobals } elseif ($node.source -ne '') { $node.words + @(svc completion $node.source 2>$null) } else { $node.words }
  $offered | Where-Object { $_.StartsWith($wordToComplete) } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
}
`;

const fishOption = ({ description, short, source, takesValue, word }: OptionWord, here: string): string =>
  [
    'complete -c svc',
    here,
    `-l ${word.replace(/^--/, '')}`,
    short === undefined ? '' : `-s ${short.slice(1)}`,
    source !== undefined ? `-x -a '(svc completion ${source} 2>/dev/null)'` : takesValue ? '-r' : '',
    `-d ${fishQuoted(description)}`,
  ]
    .filter((part) => part !== '')
    .join(' ');
