/** `scratch_write` and `outbox_publish`: contents that never enter a mount. @module */
import { Fault } from "../../contracts/fault.ts";
import type { HostCallAnswer } from "../../contracts/wire_toolhost.ts";
import type { StagedChange } from "../../contracts/workspace.ts";
import { checkNewName, SCRATCH } from "../path.ts";
import { flag, pathOf, text } from "./_args.ts";
import { encode } from "./encoding.ts";
import type { HostCall, HostState } from "./state.ts";
import { mix } from "./taint.ts";
import { readSeen, readStaged } from "./view.ts";

/** Writes a file of the scratch space, or appends to it, within the quota. */
export async function scratchWrite(state: HostState, call: HostCall): Promise<HostCallAnswer> {
  const path = pathOf(call.args);
  if (path.mount !== SCRATCH) {
    throw new Fault("invalidArguments", `Cannot write "${path.text}": give a path in ${SCRATCH}/`);
  }
  checkNewName(path);
  const all = state.overlay.list().filter((change) => change.path.startsWith(`${SCRATCH}/`));
  const clash = all.find(({ path: other }) =>
    other.startsWith(`${path.text}/`) || path.text.startsWith(`${other}/`)
  );
  if (clash !== undefined) {
    throw new Fault("conflict", `Cannot write "${path.text}": "${clash.path}" is in the way`);
  }
  const old = state.overlay.get(path.text);
  const written = encode(text(call.args, "content"), "utf-8");
  const earlier = flag(call.args, "append") && old !== undefined
    ? await readStaged(state, old)
    : undefined;
  const bytes = new Uint8Array((earlier?.bytes.length ?? 0) + written.length);
  bytes.set(earlier?.bytes ?? []);
  bytes.set(written, earlier?.bytes.length ?? 0);
  const used = all.reduce((sum, change) => sum + (change === old ? 0 : change.bytes), bytes.length);
  if (used > state.scratchQuota || all.length >= 10_000) {
    throw new Fault(
      "budgetExhausted",
      `Cannot write "${path.text}": scratch space holds at most ${state.scratchQuota} bytes`,
    );
  }
  const taint = mix(call.caller, earlier?.taint ?? {});
  const next = await state.scratch.put(bytes);
  const change: StagedChange = { path: path.text, next, bytes: bytes.length, ...taint };
  state.overlay.put(change);
  return {
    content: `written: ${path.text}, ${bytes.length} bytes`,
    ...taint,
    sources: [],
    staged: [change],
    written: next,
    writtenBytes: written.length,
  };
}

/** Keeps the content of a file for the outbox. */
export async function outboxPublish(state: HostState, call: HostCall): Promise<HostCallAnswer> {
  const path = pathOf(call.args);
  const seen = await readSeen(state, call, path);
  await state.content.put(seen.bytes);
  const taint = mix(seen.taint, call.caller);
  return {
    content: `put aside for the outbox: ${path.text}, ${seen.bytes.length} bytes`,
    ...taint,
    sources: [],
    value: { digest: seen.digest, bytes: seen.bytes.length },
    observed: seen.digest,
    writtenBytes: seen.bytes.length,
  };
}
