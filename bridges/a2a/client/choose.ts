/** Which of a card's interfaces is spoken to: on the card's own origin, in a binding and version that are spoken here. @module */
import { Fault } from "../../../contracts/fault.ts";
import { cutText } from "../../mcp/client/mod.ts";
import type { PeerBinding, PeerCard, PeerInterface } from "./card.ts";

/** An interface that can be spoken to. */
export interface Spoken extends Omit<PeerInterface, "binding"> {
  readonly binding: PeerBinding;
}

const BINDINGS: readonly string[] = ["JSONRPC", "HTTP+JSON"] satisfies readonly PeerBinding[];

/**
 * Chooses: the one that was pinned, the one that a person named, else the first.
 *
 * @throws Fault `upstream` when there is none
 */
export function chooseInterface(
  { interfaces, extensions }: Pick<PeerCard, "interfaces" | "extensions">,
  at: {
    readonly card: string;
    readonly pinned: { readonly endpoint: string; readonly binding: PeerBinding };
  },
): Spoken {
  const required = extensions.find((each) => each.required);
  if (required !== undefined) {
    throw new Fault(
      "upstream",
      `Cannot speak to the peer: it requires the extension ${cutText(required.uri, 200)}`,
    );
  }
  const { origin } = new URL(at.card);
  const spoken = interfaces.flatMap((each): readonly Spoken[] =>
    isBinding(each.binding) && /^1(?:\.|$)/.test(each.version)
      ? [{ ...each, binding: each.binding }]
      : []
  );
  const near = spoken.filter(({ url }) => new URL(url).origin === origin);
  const { endpoint, binding } = at.pinned;
  const found = near.find((each) => each.url === endpoint && each.binding === binding) ??
    near.find((each) => each.url === endpoint) ?? near[0];
  if (found !== undefined) return found;
  const [far] = spoken;
  throw new Fault(
    "upstream",
    far === undefined
      ? `Cannot speak to the peer: its card offers ${
        interfaces.slice(0, 4).map((each) => cutText(`${each.binding} ${each.version}`, 48)).join(
          ", ",
        )
      }, and JSONRPC or HTTP+JSON of 1.0 are spoken here`
      : `Cannot speak to the peer: its card lies at ${origin} and names ${
        new URL(far.url).origin
      }; both must be one origin`,
  );
}

function isBinding(text: string): text is PeerBinding {
  return BINDINGS.includes(text);
}
