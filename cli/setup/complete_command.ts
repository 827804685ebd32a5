/** `completion SHELL` prints a shell's script; `complete -- WORD…` answers that script at each press of Tab. @module */
import { EXIT, Fault, type Json } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import { nearest } from "../../text/nearest.ts";
import { cell, type Command, printJson, recordOf, rowsOf } from "../command.ts";
import { loadConfig } from "../../config/files.ts";
import { knownKeys } from "../../config/keys.ts";
import { listWeights } from "../../models/weights/mod.ts";
import { type Candidate, complete, type Live } from "./complete.ts";

/** Newest tasks that are offered. */
const MAX_TASKS = 50;
/** UTF-16 units of a candidate's explanation. */
const MAX_EXPLANATION = 80;

const BASH = `# Load it: source <(remit completion bash)
_remit() {
  local line=\${COMP_LINE:0:COMP_POINT} words cut= found
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  # Bash takes ":" and "=" for ends of words: only what comes after the last one is replaced.
  local current=\${words[\${#words[@]}-1]}
  [[ $current == *[:=]* ]] && cut=\${current%"\${current##*[:=]}"}
  COMPREPLY=()
  while IFS= read -r found; do
    case $found in
      :files) compopt -o default ;;
      *) found=\${found%%$'\\t'*}; COMPREPLY+=("\${found#"$cut"}") ;;
    esac
  done < <("\${words[0]/#\\~/$HOME}" complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _remit remit
`;
const ZSH = `#compdef remit
# Load it: source <(remit completion zsh), after compinit
_remit() {
  local -a found
  local line word files
  while IFS= read -r line; do
    if [[ $line == :files ]]; then files=1; continue; fi
    word=\${line%%$'\\t'*}
    found+=("\${word//:/\\\\:}:\${line#*$'\\t'}")
  done < <("\${(Q)words[1]}" complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe remit found
  [[ -n $files ]] && _files
}
compdef _remit remit
`;
const FISH = `# Load it: remit completion fish | source
function __remit_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in ($words[1] complete -- $words[2..-1] 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c remit -f -a '(__remit_complete)'
`;
/** The script of each shell. */
export const COMPLETIONS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

/** `completion SHELL`. */
export function completionCommand(command: Command): Promise<number> {
  const [shell = ""] = command.parsed.args;
  const text = Object.hasOwn(COMPLETIONS, shell) ? COMPLETIONS[shell] : undefined;
  if (text === undefined) {
    const shells = Object.keys(COMPLETIONS);
    const near = nearest(shell, shells);
    throw new Fault(
      "invalidInput",
      `Cannot complete in ${JSON.stringify(shell.slice(0, 80))}: ${
        near === undefined ? "" : `did you mean ${near}? `
      }there is ${shells.join(", ")}`,
    );
  }
  command.powers.screen.out(text);
  return Promise.resolve(EXIT.success);
}

/** Rows from a kernel that runs already; empty without one, or where it refuses. */
async function asked(command: Command, op: string, body: Json): Promise<readonly Candidate[]> {
  const link = await command.powers.kernels(command.places).find();
  if (link === undefined) return [];
  try {
    return rowsOf(await link.ask(op, body)).map((row) => ({
      word: cell(row["id"]),
      says: `${cell(row["status"] ?? row["kind"])}  ${
        cell(row["objective"] ?? row["summary"], 60)
      }`,
    }));
  } catch (error) {
    if (error instanceof Fault) return [];
    throw error;
  } finally {
    link.close();
  }
}

function liveOf(command: Command): Live {
  const { powers, places } = command;
  const config = (): ReturnType<typeof loadConfig> =>
    loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts: [] });
  return {
    tasks: async () => (await asked(command, "tasks", { limit: MAX_TASKS })).toReversed(),
    questions: () => asked(command, "questions", {}),
    models: () =>
      Promise.resolve([
        ...Object.entries(config().models).map(([word, entry]) => ({
          word,
          says: typeof entry === "string" ? entry : cell(recordOf({ ...entry } as Json)["ref"]),
        })),
        ...listWeights(powers.disk, places).map(({ name }) => ({
          word: name,
          says: "in the store",
        })),
      ]),
    mounts: () =>
      Promise.resolve(
        Object.entries(config().mounts).map(([word, { dir }]) => ({ word, says: dir })),
      ),
    keys: () =>
      Promise.resolve(
        knownKeys([]).flatMap((top) => {
          const below = knownKeys([top]).map((key) => ({ word: `${top}.${key}`, says: "" }));
          return [{ word: top, says: "" }, ...below];
        }),
      ),
  };
}

/** `complete -- WORD…`: one line for each candidate, a tab and its explanation; `:files` where a path is expected. */
export async function completeCommand(command: Command): Promise<number> {
  const { candidates, files } = await complete(command.parsed.args, liveOf(command));
  if (command.json) printJson(command, { candidates, files });
  else {
    const lines = candidates.map(({ word, says }) =>
      `${word}\t${displayText(says, { max: 1_000 }).slice(0, MAX_EXPLANATION)}`
    );
    command.powers.screen.out([...lines, ...(files ? [":files"] : []), ""].join("\n"));
  }
  return EXIT.success;
}
