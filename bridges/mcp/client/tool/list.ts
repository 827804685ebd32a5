/** What the bridge itself must know of a server's tools: which of them run as tasks only. @module */
import { isObject, type JsonObject } from "../../../../contracts/json.ts";
import { PAGES } from "../limits.ts";

/** See {@link makeToolList}. */
export interface ToolList {
  clear(): void;
  /** Takes one page of `tools/list`. */
  note(page: JsonObject): void;
  /** Whether a page was noted. */
  known(): boolean;
  /** Asks for the list itself. */
  read(ask: (method: string, params: JsonObject) => Promise<JsonObject>): Promise<void>;
  needsTask(tool: string): boolean;
}

/** Makes the list of one server. */
export function makeToolList(): ToolList {
  let known = false;
  const tasks = new Set<string>();
  const note = (page: JsonObject): void => {
    known = true;
    const { tools } = page;
    for (const tool of Array.isArray(tools) ? tools : []) {
      if (!isObject(tool) || !isObject(tool["execution"])) continue;
      const { name, execution } = tool;
      if (typeof name === "string" && execution["taskSupport"] === "required") tasks.add(name);
    }
  };
  return Object.freeze<ToolList>({
    clear() {
      known = false;
      tasks.clear();
    },
    note,
    known: () => known,
    async read(ask) {
      let cursor: string | undefined;
      for (let page = 0; page < PAGES; page++) {
        const answer = await ask("tools/list", cursor === undefined ? {} : { cursor });
        note(answer);
        const next = answer["nextCursor"];
        if (typeof next !== "string" || next === cursor) return;
        cursor = next;
      }
    },
    needsTask: (tool) => tasks.has(tool),
  });
}
