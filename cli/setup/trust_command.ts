/** `trust [DIR]`: accepts a folder's remit.yaml by its digest. @module */
import { join } from "node:path";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, printJson, printLines } from "../command.ts";
import { CONFIG_NAME, readConfigBytes, readTrusted } from "../../config/files.ts";
import { parseConfigText } from "../../config/text.ts";
import { has } from "../arguments/parse_arguments.ts";
import { absolute, preparePlaces } from "../../launch/disk/places.ts";
import { withTrust } from "../../config/trust.ts";

/** `trust [DIR]`. */
export function trustCommand(command: Command): Promise<number> {
  const { powers, parsed, places } = command;
  const asked = absolute(powers.environment, parsed.args[0] ?? ".");
  const folder = powers.disk.real(asked);
  if (folder === undefined) {
    throw new Fault("notFound", `Cannot trust "${asked}": there is no such folder`);
  }
  preparePlaces(powers.disk, places, powers.environment.uid);
  const path = join(folder, CONFIG_NAME);
  const bytes = readConfigBytes(powers.disk, path);
  const revoking = has(parsed, "revoke");
  if (bytes === undefined && !revoking) {
    throw new Fault("notFound", `Cannot trust "${folder}": it has no ${CONFIG_NAME}`);
  }
  const digest = revoking || bytes === undefined ? undefined : sha256Hex(bytes);
  // Refuse a malformed file now, not at the next run.
  if (bytes !== undefined && !revoking) parseConfigText(path, new TextDecoder().decode(bytes));
  const next = withTrust(readTrusted(powers.disk, places), folder, digest);
  powers.disk.write(join(places.person, "trusted.json"), `${JSON.stringify(next, null, 2)}\n`);
  if (command.json) printJson(command, { folder, digest: digest ?? null });
  else {
    const name = displayText(path, { max: 500 });
    printLines(command, [
      digest === undefined
        ? `no longer trusted: ${name}`
        : `trusted as it is now: ${name}\n  sha256 ${digest}; any change ends this\n` +
          "  it may now widen what runs in that folder; for runs elsewhere it still only narrows",
    ]);
  }
  return Promise.resolve(EXIT.success);
}
