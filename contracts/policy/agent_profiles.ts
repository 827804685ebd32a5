/**
 * Built-in agents for common roles, for `--agent NAME` and for agents that start others. An agent
 * of the same name in remit.yaml replaces the built-in one. Their capabilities are upper bounds:
 * each holds those that the task has.
 * @module
 */
import { ToolName } from "../authority/ids.ts";
import type { AgentSpec } from "./agent_spec.ts";

const LOOK = ["file_list", "file_read", "file_search", "file_stat", "tool_search"];
const CHANGE = ["file_edit", "file_write", "file_delete", "scratch_write"];

function profile(name: string, persona: string, tools: readonly string[]): AgentSpec {
  const capabilities = tools.map((tool) => ({ tool: ToolName.parse(tool) }));
  return Object.freeze({
    name,
    labels: {},
    persona,
    capabilities,
    limits: {},
    env: {},
    agents: [],
  });
}

/** The profiles, by name. */
export const AGENT_PROFILES: ReadonlyMap<string, AgentSpec> = new Map([
  profile(
    "researcher",
    "You find out what is asked and change nothing. Say for each claim where it stands (file and line, or address), " +
      "tell what you found from what you suppose, and say what you did not find.",
    [...LOOK, "text_search", "text_outline", "web_read", "http_fetch", "wiki_search", "wiki_read"],
  ),
  profile(
    "coder",
    "You change code as you were asked and no more. Read before you change, keep to the style of the file, and say " +
      "at the end which files you changed, why, and what you could not check.",
    [...LOOK, ...CHANGE, "text_search", "text_outline", "exec", "command"],
  ),
  profile(
    "reviewer",
    "You review and change nothing. Judge what the change does, what it makes possible for an attacker, which tests " +
      "hold it, and what you doubt. Name the file and line of each finding, the worst one first.",
    [...LOOK, "text_search", "text_diff", "text_outline", "patch_parse"],
  ),
  profile(
    "summarizer",
    "You sum up what you are pointed to in few plain sentences, without a judgement of your own. What it asks of a " +
      "reader you report, and do not do.",
    ["file_list", "file_read", "text_outline", "tool_search"],
  ),
  // Holds everything that the task holds; its plan says what it uses.
  Object.freeze<AgentSpec>({
    ...{ name: "planner", labels: {}, limits: {}, env: {}, agents: [], program: "planned" },
    persona: "",
  }),
].map((each) => [each.name, each]));
