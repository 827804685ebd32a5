/** `mcp add NAME -- COMMAND…` and `mcp add NAME URL`: takes in one server. @module */
import { Millis } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import { displayText } from "../../../text/mod.ts";
import type { Command } from "../../command.ts";
import { secretArguments } from "../../../text/looks_secret.ts";
import { readGrantFlags, takeSecrets } from "../grant_flags.ts";
import { onboard } from "../onboard.ts";
import { launchOf, type McpWish } from "../../../bridges/mcp/registry/launch.ts";
import { type ProvidedLaunch, provideLaunch } from "../../../bridges/mcp/registry/fetch/provide.ts";
import { freshServer, type LockedServer, withGrants } from "../../../bridges/mcp/registry/lock.ts";
import { placeWords } from "../../../bridges/mcp/registry/paths.ts";
import { keepMcpSecret } from "../../../bridges/mcp/registry/secrets.ts";
import { lockOf, registryOf, serverName } from "../work.ts";
import { preparePlaces } from "../../../launch/disk/places.ts";
import type { Basic } from "../../powers.ts";

const KEY_IN_CLEAR =
  "something in its arguments looks like a key: it stands in remit.lock in clear; where it can, give it as --secret VAR";

/** Puts a server into remit.lock, also over one never approved. Throws `alreadyExists`. */
export function putServer(command: Command<Basic | "mcpStore">, server: LockedServer): void {
  const lock = lockOf(command);
  const before = lock.find(server.name);
  if (before === undefined) return lock.add(server);
  if (before.state !== "added") throw taken(server.name);
  lock.change(server.name, () => server);
}

function taken(name: string): Fault {
  return new Fault(
    "alreadyExists",
    `Cannot add MCP server "${name}": there is one of that name; remove it with "remit mcp remove ${name}", or choose another name`,
  );
}

/** Fetches or finds the program; a refusal names the server. */
async function contained(
  command: Command<Basic | "mcpStore">,
  name: string,
  wish: McpWish,
): Promise<ProvidedLaunch> {
  try {
    return await provideLaunch(registryOf(command), wish);
  } catch (error) {
    const [, why] = error instanceof Fault
      ? /^Cannot contain it: (.*)$/s.exec(error.message) ?? []
      : [];
    if (!(error instanceof Fault) || why === undefined) throw error;
    throw new Fault(error.code, `Cannot add MCP server "${name}": ${why}`, { cause: error });
  }
}

/** `mcp add`. */
export async function mcpAdd(
  command: Command<Basic | "keyboard" | "mcpStore" | "plugins" | "readInput">,
): Promise<number> {
  const { powers, places, parsed } = command;
  const name = serverName(command);
  preparePlaces(powers.disk, places, powers.environment.uid);
  const before = lockOf(command).find(name);
  if (before !== undefined && before.state !== "added") throw taken(name);
  const words = placeWords(registryOf(command), parsed.args.slice(1));
  const wish = launchOf(words);
  if (wish.kind === "refused") {
    throw new Fault("refused", `Cannot add MCP server "${name}": ${wish.why}`);
  }
  if (wish.kind !== "http" && parsed.dashed !== true) {
    // Without `--`, an npx `-y` would be read as Remit's own --yes.
    const shown = words.slice(0, 2).map((word) => displayText(word, { max: 100 })).join(" ");
    throw new Fault(
      "invalidInput",
      `Cannot add MCP server "${name}": write -- before its command, so that its flags are its own: remit mcp add ${name} -- ${shown} …`,
    );
  }
  const flags = readGrantFlags(command);
  const { grants, secretEnv, secretHeaders } = flags;
  const reaches = [...grants.read, ...grants.write, ...grants.net, ...secretEnv];
  if (wish.kind === "http" && reaches.length > 0) {
    throw new Fault(
      "invalidInput",
      `Cannot grant that to MCP server "${name}": one at a URL has no files, variables or hosts here; it takes --header`,
    );
  }
  if (wish.kind !== "http" && secretHeaders.length > 0) {
    throw new Fault(
      "invalidInput",
      `Cannot give MCP server "${name}" a header: only one at a URL has requests; use --secret VAR`,
    );
  }
  const provided = await contained(command, name, wish);
  const headers = wish.kind === "http" ? wish.headers : {};
  for (const [header, value] of Object.entries(headers)) {
    keepMcpSecret(registryOf(command), name, { header }, value);
  }
  const server = withGrants(
    freshServer(name, provided, {
      addedAt: Millis.parse(powers.environment.now()),
      from: {
        kind: wish.kind === "http" ? "url" : "command",
        // A header's value is a secret and never written to remit.lock.
        text: (wish.kind === "http" ? wish.url : words.join(" ")).slice(0, 16_384),
      },
    }),
    { ...flags, secretHeaders: [...secretHeaders, ...Object.keys(headers)] },
  );
  if (wish.kind !== "http" && secretArguments(words.slice(1)).length > 0) {
    server.notes.push(KEY_IN_CLEAR);
  }
  await takeSecrets(command, name, flags);
  putServer(command, server);
  return await onboard(command, server);
}
