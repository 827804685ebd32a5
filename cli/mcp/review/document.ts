/** A review as a document for programs. @module */
import type { McpLook } from "../../../contracts/mod.ts";
import type { McpReview } from "./review.ts";

/** Everything that a person is shown, and the exact descriptors. */
export function reviewDocument(
  review: McpReview,
  look: Pick<McpLook, "accesses"> & Partial<McpLook>,
): Record<string, unknown> {
  const { server, words, rows, translation } = review;
  const translated = new Map(translation.tools.map((each) => [each.tool, each]));
  return {
    name: server.name,
    state: server.state,
    launch: server.launch,
    from: server.from,
    grants: server.grants,
    env: Object.keys(server.env),
    secretEnv: server.secretEnv,
    secretHeaders: server.secretHeaders,
    clearance: server.clearance,
    packages: server.packages.length,
    verified: server.packages.filter((each) => each.verified).length,
    notes: server.notes,
    asked: look.accesses,
    ...(look.readyMs === undefined ? {} : { readyMs: look.readyMs }),
    ...(look.bytes === undefined ? {} : { bytes: look.bytes }),
    says: { ...words.server, protocol: words.protocol, capabilities: words.capabilities },
    tools: rows.map(({ tool, stands, off, plain, flags, notes, refused }) => {
      const pinned = translated.get(tool);
      return {
        ...{ tool, stands, off, plain, flags, notes },
        ...(refused === undefined ? {} : { refused }),
        ...(pinned === undefined ? {} : {
          name: pinned.name,
          effect: pinned.effect,
          holds: pinned.holds,
          description: pinned.description,
          paramSchema: pinned.paramSchema,
          ...(pinned.resultSchema === undefined ? {} : { resultSchema: pinned.resultSchema }),
          digest: pinned.digest,
        }),
      };
    }),
    flags: review.flags,
    changes: review.changes,
    gone: review.gone,
    left: words.left,
  };
}
