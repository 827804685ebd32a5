/** Prompts that hosts may show: a few common tasks, and one for each agent of remit.yaml. @module */
import { type AgentSpec, ServePrompt } from "../../contracts/mod.ts";

const REQUEST = { name: "request", description: "What to do.", required: true };

const COMMON: readonly ServePrompt[] = [
  {
    name: "look_around",
    title: "What is in the folders",
    description: "Lists the folders that this session sees and says what they hold.",
    arguments: [],
    text:
      "List the folders that Remit's tools show you, read what seems to explain them, and say in a few " +
      "sentences what is there. Change nothing.",
  },
  {
    name: "find_in_files",
    title: "Find something in the files",
    description: "Searches the folders and answers with file and line.",
    arguments: [{ name: "question", description: "What to look for.", required: true }],
    text:
      "Search the folders that Remit's tools show you for an answer to this question, and give it with the " +
      "file and line of each thing you say:\n\n{{question}}",
  },
  {
    name: "stage_a_change",
    title: "Prepare a change",
    description: "Stages a change of files for review; nothing is applied before a person agrees.",
    arguments: [REQUEST],
    text:
      "Prepare this change with Remit's file tools. It is staged, and a person reviews it before it is applied. " +
      "Say at the end which files you changed and why:\n\n{{request}}",
  },
];

const WIKI: ServePrompt = {
  name: "ask_the_wiki",
  title: "Ask the wiki",
  description: "Answers from the wiki alone, with citations.",
  arguments: [{ name: "question", description: "The question.", required: true }],
  text:
    "Answer this question from Remit's wiki alone (wiki_search with queries, wiki_read). Cite every claim with file and " +
    "lines, and say so when the wiki does not know:\n\n{{question}}",
};

/** The prompts of a session. */
export function promptsOf(
  parts: { readonly wiki: boolean; readonly agents: Readonly<Record<string, AgentSpec>> },
): readonly ServePrompt[] {
  const agents = Object.keys(parts.agents).sort().map((name) =>
    ServePrompt.safeParse({
      name: `ask_${name.replaceAll("-", "_")}`.slice(0, 64),
      title: `Hand a task to ${name}`,
      description: `Runs the agent "${name}" of remit.yaml with run_task.`,
      arguments: [REQUEST],
      text:
        `Call run_task with agent "${name}" and exactly this request, and report its answer:\n\n{{request}}`,
    })
  ).flatMap((parsed) => parsed.success ? [parsed.data] : []);
  return [...COMMON, ...(parts.wiki ? [WIKI] : []), ...agents];
}
