/** The address that a person gives of a peer, and a name that can be made of it. Pure. @module */
import { Fault, isLoopback } from "../../contracts/mod.ts";
import { displayText } from "../../text/mod.ts";

/** Reads a host, a card's address or an endpoint's. Throws Fault `invalidInput`. */
export function peerAddress(text: string): URL {
  const shown = displayText(text, { max: 200 });
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const host = text.replace(/[:/].*$/s, "").toLowerCase();
  const whole = scheme ? text : `${isLoopback(host) ? "http" : "https"}://${text}`;
  const url = URL.canParse(whole) && whole.length <= 2_048 ? new URL(whole) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new Fault(
      "invalidInput",
      `Cannot add a peer at "${shown}": give its host, its card or its endpoint, as https://agents.example.org`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new Fault(
      "invalidInput",
      "Cannot add a peer: its address holds a password; give it with --token-file FILE",
    );
  }
  url.hash = "";
  return url;
}

/** A name made of a host: its first part that says something. */
export function nameOfHost({ hostname }: URL): string {
  const parts = hostname.split(".").map((part) => part.toLowerCase().replace(/[^a-z0-9]/g, ""));
  const said = parts.find((part) => /^[a-z]/.test(part) && !DULL.has(part));
  return (said ?? "peer").slice(0, 24);
}

const DULL: ReadonlySet<string> = new Set(["www", "api", "a2a", "agent", "agents", "localhost"]);
