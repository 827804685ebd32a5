/** How a command is described, and the flags that several commands take. @module */

/** One flag. `value` names what follows it; absent for a switch. */
export interface FlagSpec {
  readonly name: string;
  readonly short?: string;
  readonly value?: string;
  readonly many?: boolean;
  readonly help: string;
}

/** One command. */
export interface CommandSpec {
  /** `run`, `task show`: one or two words. Empty: the session over this folder. */
  readonly name: string;
  readonly args: string;
  readonly help: string;
  readonly flags: readonly FlagSpec[];
  /** Least and most positional arguments. */
  readonly takes: readonly [number, number];
  readonly examples: readonly string[];
}

/** A folder for the agent. */
export const MOUNT: FlagSpec = {
  name: "mount",
  value: "NAME=DIR[:ro|stage|rw]",
  many: true,
  help: "a folder that the agent sees as NAME; stage (the default) collects its changes for review",
};
/** Which model. */
export const MODEL: FlagSpec = {
  name: "model",
  value: "REF",
  help: "the model: anthropic:NAME, openai:NAME@URL, ollama:NAME, gguf:PATH, a URL, a name",
};
/** What models may cost. */
export const BUDGET: FlagSpec = {
  name: "budget",
  value: "USD",
  help: "the most that models may cost here; of a session: all its conversations together",
};
/** Where the execution trace goes. */
export const TRACE: FlagSpec = {
  name: "trace",
  value: "FILE",
  help: "write the execution trace, JSON lines",
};
/** Which agent runs. */
export const AGENT: FlagSpec = {
  name: "agent",
  value: "NAME",
  help: "an agent that remit.yaml describes",
};
/** Which tools models are told of. */
export const TOOLS: FlagSpec = {
  name: "tools",
  value: "NAME,NAME|all",
  help: "tools that the model is told of from the start; it finds the others by tool_search",
};
/** The wiki of a task. */
export const WIKI: FlagSpec = {
  name: "wiki",
  value: "FOLDER",
  help: "the wiki that the agent is handed",
};
/** Whose rules hold. */
export const PROFILE: FlagSpec = {
  name: "profile",
  value: "operator|guest|anonymous",
  help: "whose rules hold",
};
/** What becomes of questions. */
export const ON_QUESTION: FlagSpec = {
  name: "on-question",
  value: "ask|queue|deny",
  help: "what happens when something needs a person; without a terminal: queue",
};
/** Answers given beforehand. */
export const ANSWERS: FlagSpec = {
  name: "answers",
  value: "FILE",
  help: "answers given beforehand, JSON; what leaves the machine by its arguments",
};
/** Where a passphrase stands that nobody types. */
export const PASSPHRASE: FlagSpec = {
  name: "passphrase-file",
  value: "FILE",
  help: "read the passphrase from a file instead of the terminal",
};
/** Which tasks, by their agent. */
export const OF_AGENT: readonly FlagSpec[] = [
  { name: "agent", value: "NAME", help: "of one agent of remit.yaml" },
  {
    name: "labels",
    value: "NAME=VALUE",
    many: true,
    help: "of agents that remit.yaml gives these labels; more with commas",
  },
];
/** Describes a command. */
export const simple = (
  name: string,
  args: string,
  takes: readonly [number, number],
  help: string,
  examples: readonly string[],
  flags: readonly FlagSpec[] = [],
): CommandSpec => ({ name, args, takes, help, examples, flags });
