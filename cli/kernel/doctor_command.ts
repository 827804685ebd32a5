/** `remit doctor`: shows which walls this machine offers, and where Remit keeps things. @module */
import { EXIT } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, printJson, printLines } from "../command.ts";
import { loadConfig } from "../../config/files.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import type { LockedServer } from "../../bridges/mcp/registry/lock.ts";
import { obstaclesOf, obstacleText } from "../../launch/disk/places.ts";
import { lockOf } from "../mcp/work.ts";
import { reachableStates } from "../model/status.ts";
import { VERSION } from "../../launch/kernel/version.ts";
import { type Basic, RUNS_AS_ROOT } from "../powers.ts";

/** `doctor`. */
export async function doctorCommand(
  command: Command<Basic | "mcpStore" | "models" | "walls">,
): Promise<number> {
  const { powers, places } = command;
  const { paint } = powers.screen;
  const obstacles = obstaclesOf(powers.disk, places);
  // Without a readable state the other checks cannot run.
  if (obstacles.some(({ place }) => place === "state") && !command.json) {
    printLines(command, obstacles.map((each) => paint.red(`  ✗ ${obstacleText(each)}`)));
    return EXIT.failure;
  }
  // Before the walls are tried: an idle kernel may end meanwhile.
  const link = await powers.kernels(places).find();
  const kernel = link === undefined
    ? undefined
    : { pid: link.pid, harness: link.harness, receiptKey: link.receiptKey, head: link.head };
  link?.close();
  const walls = await powers.walls.look();
  const stepUp = powers.disk.real(places.person) === undefined
    ? undefined
    : openKeyRing(powers.disk, places).stepUpKey();
  const config = loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts: [] });
  const { browser, commands } = config;
  const models = await reachableStates(command, config);
  const chromium = powers.disk.stat(browser.program) === undefined ? "which is missing" : "there";
  const tools = {
    browser: browser.engine === "static"
      ? "static: pages are read without running their scripts"
      : `chromium: ${browser.program}, ${chromium}`,
    commands: Object.keys(commands).join(", ") || "none granted in remit.yaml",
  };
  const servers = lockOf(command).list();
  const of = (state: LockedServer["state"]): number =>
    servers.filter((each) => each.state === state).length;
  const mcp = { approved: of("approved"), added: of("added"), revoked: of("revoked") };
  const code = obstacles.length === 0 ? EXIT.success : EXIT.failure;
  const { unusableRuntime, root } = powers.environment;
  if (command.json) {
    printJson(command, {
      version: VERSION,
      walls,
      obstacles,
      state: places.state,
      cache: places.cache,
      config: places.config,
      kernel: kernel ?? null,
      stepUpKey: stepUp ?? null,
      tools,
      models,
      mcp,
      root,
    });
    return code;
  }
  const line = (name: string, text: string): string => `  ${name.padEnd(16)} ${text}`;
  printLines(command, [
    `remit ${VERSION}`,
    "",
    "Walls",
    ...walls.map(({ wall, stands, says }) =>
      `${stands ? paint.green("  ✓") : paint.yellow("  –")} ${wall.padEnd(14)} ${says}`
    ),
    ...(root ? [`${paint.yellow("  –")} ${"account".padEnd(14)} ${RUNS_AS_ROOT}`] : []),
    "",
    "Models",
    ...models.map(({ ok, name, says }) =>
      `${ok ? paint.green("  ✓") : paint.yellow("  –")} ${
        displayText(name, { max: 60 }).padEnd(14)
      } ${displayText(says, { max: 300 })}`
    ),
    ...(config.model === undefined
      ? ['    none is chosen; "remit model list" shows all, "remit model use NAME" chooses']
      : []),
    "",
    "Places",
    line("state", places.state),
    line("cache", places.cache),
    line("configuration", places.config),
    line("ceiling", places.ceiling),
    line("sockets", places.runtime),
    ...(unusableRuntime === undefined
      ? []
      : [line("", `not where ${displayText(unusableRuntime, { max: 300 })}`)]),
    ...obstacles.map((each) => paint.red(`  ✗ ${obstacleText(each)}`)),
    "",
    "Now",
    line("kernel", kernel === undefined ? "none runs" : `runs as ${kernel.pid}, ${kernel.harness}`),
    ...(kernel === undefined
      ? []
      : [line("receipt key", kernel.receiptKey), line("head", kernel.head)]),
    line("browser", tools.browser),
    line("programs", displayText(tools.commands, { max: 500 })),
    line(
      "MCP servers",
      servers.length === 0
        ? 'none; "remit mcp import" finds yours'
        : `${mcp.approved} approved, ${mcp.added} not approved, ${mcp.revoked} revoked; "remit mcp list" shows them`,
    ),
    line("passphrase key", stepUp ?? 'none; "remit key create" makes one'),
  ]);
  return code;
}
