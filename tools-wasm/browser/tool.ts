/** The plugin `browser`: pages read and forms sent, without scripts, cookies and a window. @module */
import { makeBrowserTools } from "./browser_tools.ts";

// One session for each instance of this script: the host keeps the instance between the calls of a task.
/** The tools, by name. */
export const tools = makeBrowserTools();
