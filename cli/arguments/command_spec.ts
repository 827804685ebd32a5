/** The description of a command, and the flags that several commands take. @module */

/** A flag. `value` names its value; absent for a switch. */
export interface FlagSpec {
  readonly name: string;
  readonly short?: string;
  readonly value?: string;
  readonly many?: boolean;
  readonly help: string;
}

/** A command. */
export interface CommandSpec {
  /** `run`, `task show`: one or two words. Empty: the session over this folder. */
  readonly name: string;
  readonly args: string;
  readonly help: string;
  readonly flags: readonly FlagSpec[];
  /** Minimum and maximum of positional arguments. */
  readonly takes: readonly [number, number];
  readonly examples: readonly string[];
}

/** `--mount`: a folder for the agent. */
export const MOUNT: FlagSpec = {
  name: "mount",
  value: "NAME=DIR[:ro|stage|rw]",
  many: true,
  help: "a folder that the agent sees as NAME; stage (the default) collects its changes for review",
};
/** `--model`. */
export const MODEL: FlagSpec = {
  name: "model",
  value: "REF",
  help: "the model: anthropic:NAME, openai:NAME@URL, ollama:NAME, gguf:PATH, a URL, a name",
};
/** `--budget`: most that models may cost. */
export const BUDGET: FlagSpec = {
  name: "budget",
  value: "USD",
  help: "the most that models may cost here; of a session: all its conversations together",
};
/** `--trace`: the file of the execution trace. */
export const TRACE: FlagSpec = {
  name: "trace",
  value: "FILE",
  help: "write the execution trace, JSON lines",
};
/** `--agent`: the agent that runs. */
export const AGENT: FlagSpec = {
  name: "agent",
  value: "NAME",
  help: "an agent that remit.yaml describes",
};
/** `--tools`: tools that models see from the start. */
export const TOOLS: FlagSpec = {
  name: "tools",
  value: "NAME,NAME|all",
  help: "tools that the model is told of from the start; it finds the others by tool_search",
};
/** `--wiki`: the wiki of a task. */
export const WIKI: FlagSpec = {
  name: "wiki",
  value: "FOLDER",
  help: "the wiki that the agent is handed",
};
/** `--profile`: whose rules apply. */
export const PROFILE: FlagSpec = {
  name: "profile",
  value: "operator|guest|anonymous",
  help: "whose rules hold",
};
/** `--on-question`: who answers questions. */
export const ON_QUESTION: FlagSpec = {
  name: "on-question",
  value: "ask|queue|deny",
  help: "what happens when something needs a person; without a terminal: queue",
};
/** `--answers`: a file of prepared answers. */
export const ANSWERS: FlagSpec = {
  name: "answers",
  value: "FILE",
  help: "answers given beforehand, JSON; what leaves the machine by its arguments",
};
/** `--passphrase-file`: a file in place of typing. */
export const PASSPHRASE: FlagSpec = {
  name: "passphrase-file",
  value: "FILE",
  help: "read the passphrase from a file instead of the terminal",
};
/** `--agent` and `--labels`: select tasks by their agent. */
export const OF_AGENT: readonly FlagSpec[] = [
  { name: "agent", value: "NAME", help: "of one agent of remit.yaml" },
  {
    name: "labels",
    value: "NAME=VALUE",
    many: true,
    help: "of agents that remit.yaml gives these labels; more with commas",
  },
];
/** Makes the description of a command. */
export const simple = (
  name: string,
  args: string,
  takes: readonly [number, number],
  help: string,
  examples: readonly string[],
  flags: readonly FlagSpec[] = [],
): CommandSpec => ({ name, args, takes, help, examples, flags });
