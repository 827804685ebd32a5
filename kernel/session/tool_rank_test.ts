import assert from "node:assert/strict";
import { ordinaryServers } from "../../bridges/mcp/review/_fixture/ordinary.ts";
import { translate } from "../../bridges/mcp/review/mod.ts";
import { McpServerName, NO_GRANTS, ToolDescriptor } from "../../contracts/mod.ts";
import { rankTools, termsIn } from "./tool_rank.ts";
import { processorTime } from "../../tests/fake/processor_time.ts";

/** What somebody wants, and the tool for it. */
const WANTED: readonly (readonly [query: string, tool: string])[] = [
  ["open a bug report in the repository", "mcp_github_create_issue"],
  ["merge the pull request", "mcp_github_merge_pull_request"],
  ["find code in all repositories", "mcp_github_search_code"],
  ["post a message in a channel", "mcp_slack_slack_post_message"],
  ["answer in a thread", "mcp_slack_slack_reply_to_thread"],
  ["run SQL", "mcp_postgres_execute_sql"],
  ["why is this query slow", "mcp_postgres_explain_query"],
  ["take a screenshot of the page", "mcp_playwright_browser_take_screenshot"],
  ["search the web for news", "mcp_brave_brave_web_search"],
  ["restaurants near me", "mcp_brave_brave_local_search"],
  ["what time is it in London", "mcp_clock_get_current_time"],
  ["documentation of a library", "mcp_libraries_get_library_docs"],
  ["comment on an issue", "mcp_linear_create_comment"],
  ["who am I logged in as", "mcp_sentry_whoami"],
  ["give the customer the money back: refund", "mcp_stripe_create_refund"],
  ["write an email draft", "mcp_gmail_draft_email"],
  ["add an appointment to the calendar", "mcp_calendar_create_event"],
  ["list pods of the cluster", "mcp_kubernetes_pods_list"],
  ["weather tomorrow", "mcp_weather_get_forecast"],
  ["天气怎么样", "mcp_tianqi_forecast"],
  ["rename a file", "mcp_filesystem_move_file"],
  ["make a folder", "mcp_filesystem_create_directory"],
  ["add facts to the knowledge graph", "mcp_memory_add_observations"],
  ["sum of two numbers", "mcp_everything_get_sum"],
];

async function ordinaryTools(): Promise<readonly ToolDescriptor[]> {
  const servers = Object.entries(await ordinaryServers());
  return servers.flatMap(([server, words]) =>
    translate(McpServerName.parse(server), words, {
      grants: NO_GRANTS,
      launch: { kind: "http", url: "https://example.com/mcp" },
    }).tools.map(({ name, description, paramSchema }) =>
      Object.freeze(ToolDescriptor.parse({
        ...{ name, description, paramSchema, interfaceId: `mcp:${server}`, methodName: name },
        ...{ permission: "consent", category: "network" },
      }))
    )
  );
}

Deno.test("among the tools of two dozen servers most of what is wanted is found among the first eight", async () => {
  const tools = await ordinaryTools();
  const places = WANTED.map(([query, wanted]) => {
    const place = rankTools(tools, query).findIndex(({ tool }) => tool.name === wanted);
    return { query, place: place < 0 ? Infinity : place + 1 };
  });
  const within = (most: number): number => places.filter(({ place }) => place <= most).length;
  const missed = JSON.stringify(places.filter(({ place }) => place > 8));
  assert.ok(
    within(8) >= 21,
    `${within(1)}, ${within(3)}, ${within(8)} of ${WANTED.length}; ${missed}`,
  );
  assert.ok(within(1) >= 14, String(within(1)));
});

Deno.test("ranking 512 tools takes milliseconds, and a text of any script ends", async () => {
  const tools = await ordinaryTools();
  const many = Array.from({ length: 512 }, (_, n) => tools[n % tools.length]).flatMap((each, n) =>
    each === undefined ? [] : [Object.freeze({ ...each, methodName: `m${n}` })]
  );
  rankTools(many, "create an issue");
  const before = processorTime();
  rankTools(many, "create an issue in the repository with labels");
  assert.ok(processorTime() - before < 25_000);
  assert.deepEqual(termsIn("Listing files, e.g. 天気予報 getUserName"), [
    ...["list", "fil", "e", "g", "天気", "気予", "予報", "get", "user", "nam"],
  ]);
});
