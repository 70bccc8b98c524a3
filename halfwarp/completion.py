# SPDX-License-Identifier: Apache-2.0
"""Completion of the command `halfwarp` in bash, zsh and fish."""

BASH = """\
_halfwarp() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" words
    case "${{COMP_CWORD}}:${{COMP_WORDS[1]}}" in
        1:*) words="{commands} --help --version" ;;
{cases}    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _halfwarp halfwarp
"""
EMULATE = "run exec path profile explore sarif --fidelity"


def main(parsed):
    """Print the completion for a shell, generated from the table of commands."""
    from halfwarp.command_line import COMMANDS

    words = {name: words_of(command) for name, command in COMMANDS.items()}
    print(fish(COMMANDS, words) if parsed.shell == "fish" else bash(words, parsed.shell), end="")
    return 0


def words_of(command):
    """Return the words that may follow a command."""
    if command.arguments is None:
        return EMULATE if command.function.endswith("emulate") else ""
    choices = [c for s in command.arguments.values() for c in s.get("choices", ())]
    return " ".join([*choices, *(name for name in command.arguments if name[0] == "-"), "--help"])


def bash(words, shell):
    """Return the completion for bash; zsh reads it through its own emulation."""
    cases = "".join(f'        *:{name}) words="{text}" ;;\n' for name, text in words.items())
    text = BASH.format(commands=" ".join(words), cases=cases)
    head = "autoload -Uz compinit bashcompinit && compinit && bashcompinit\n"
    return head + text if shell == "zsh" else text


def fish(commands, words):
    """Return the completion for fish, with a description of each command."""
    lines = []
    for name, command in commands.items():
        shown = command.does.replace("'", "\\'")
        lines.append(f"complete -c halfwarp -n __fish_use_subcommand -f -a {name} -d '{shown}'\n")
        for word in words[name].split():
            condition = f"'__fish_seen_subcommand_from {name}'"
            lines.append(f"complete -c halfwarp -n {condition} -a '{word}'\n")
    return "".join(lines)
