/**
 * What the names of the operator's origins led to when they were first asked: a name of a stranger that led to the web
 * then, and leads to this machine or its network now, was turned against it (DNS rebinding). docs/threat_model.md.
 * @module
 */
import { isObject } from "../../contracts/json.ts";
import type { Json } from "../../contracts/mod.ts";

/** Origins that are remembered; of more the first ones are. */
const MOST = 4_096;
const LINE = /^(public|private) (https?:\/\/[^\s]{1,300})$/;

type Led = "public" | "private";

/** The memory of one state. */
export interface NamedOrigins {
  /** A request to the net service, with what is known of each origin in it that the operator named. */
  known(request: Json): Promise<Json>;
  /** Takes in where an answer came from. */
  saw(request: Json, answer: Json): void;
}

/** What {@link makeNamedOrigins} is handed. */
export interface NamedOriginsParts {
  /** A line for each origin. */
  readonly file: string;
  readonly disk: {
    read(path: string): Promise<Uint8Array | undefined>;
    write(path: string, bytes: Uint8Array): Promise<void>;
  };
  isPublic(address: string): boolean;
  note(line: string): void;
}

/** Opens the memory; it is read when it is first asked. */
export function makeNamedOrigins({ file, disk, isPublic, note }: NamedOriginsParts): NamedOrigins {
  const led = new Map<string, Led>();
  let reading: Promise<void> | undefined;
  let writing: Promise<void> = Promise.resolve();

  const read = async (): Promise<void> => {
    const text = new TextDecoder().decode(await disk.read(file) ?? new Uint8Array());
    for (const line of text.split("\n")) {
      const [, how, origin] = LINE.exec(line) ?? [];
      if (origin !== undefined) led.set(origin, how === "public" ? "public" : "private");
    }
  };
  const write = (): void => {
    const lines = [...led].map(([origin, how]) => `${how} ${origin}\n`).join("");
    writing = writing.then(() => disk.write(file, new TextEncoder().encode(lines))).catch(
      // What is not kept is learnt anew by the next kernel.
      (error: unknown) => note(`Where named origins lead was not kept: ${String(error)}`),
    );
  };

  return Object.freeze<NamedOrigins>({
    async known(request): Promise<Json> {
      const allow = namedIn(request);
      if (allow.length === 0 || !isObject(request)) return request;
      await (reading ??= read());
      return {
        ...request,
        allow: allow.map((each) =>
          each["named"] === true && led.get(String(each["origin"])) === "public"
            ? { ...each, was: "public" }
            : each
        ),
      };
    },
    saw(request, answer): void {
      const named = new Set(
        namedIn(request).flatMap((each) => each["named"] === true ? [each["origin"]] : []),
      );
      for (const { url, address } of hopsIn(answer)) {
        const { origin } = new URL(url);
        if (!named.has(origin) || led.has(origin) || led.size >= MOST) continue;
        led.set(origin, isPublic(address) ? "public" : "private");
        write();
      }
    },
  });
}

function namedIn(request: Json): readonly Readonly<Record<string, Json>>[] {
  const allow = isObject(request) ? request["allow"] : undefined;
  return Array.isArray(allow) ? allow.filter(isObject) : [];
}

/** TRUST: from the net service, which reads hostile bytes: anything else is none. */
function hopsIn(answer: Json): readonly { readonly url: string; readonly address: string }[] {
  if (!isObject(answer)) return [];
  const { hop, hops } = answer;
  const all = Array.isArray(hops) ? hops : [hop ?? null];
  return all.filter(isObject).flatMap(({ url, address }) =>
    typeof url === "string" && URL.canParse(url) && typeof address === "string"
      ? [{ url, address }]
      : []
  );
}
