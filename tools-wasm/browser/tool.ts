/**
 * The plugin `browser`: reads pages and sends forms, without scripts, cookies or a window. @module
 */
import { makeBrowserTools } from "./browser_tools.ts";

// One session for each instance of this script: the host keeps the instance between a task's calls.
/** The tools, by name. */
export const tools = makeBrowserTools();
