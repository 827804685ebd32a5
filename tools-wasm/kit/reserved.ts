/**
 * Names that no plugin may take: tools outside plugins, which main.ts does not load to ask. @module
 */

/**
 * Tools of net/, browser/, memory-wiki/ and the kernel, besides the tools of files and processes. A
 * name that one task knows from Remit must not belong to another author in the next (test: "the
 * reserved names are those of all tools…").
 */
export const RESERVED_TOOLS = [
  ...["http_fetch", "browser_screenshot", "tool_search", "tool_describe"],
  ...["wiki_index", "wiki_search", "wiki_read", "wiki_cite", "wiki_propose", "memory_note"],
  ...["resource_claim", "resource_release", "resource_status", "task_list"],
  ...["artifact_read", "peer_ask", "peer_artifact", "peer_status", "peer_answer"],
] as const;
