/**
 * A program that asks a registry about packages. It runs in the namespace of a fetch and can reach
 * that registry's host alone; `npm_facts.ts` parses its output as untrusted.
 * @module
 */

/** `[name, version]` of each package, from standard input. */
const asked = await new Response(Deno.stdin.readable).json() as [string, string][];
const [registry = ""] = Deno.args;
const MAX_PARALLEL = 16;
const REQUEST_MS = 10_000;
const MAX_BYTES = 2_000_000;

async function get(path: string): Promise<unknown> {
  try {
    const answer = await fetch(new URL(path, registry), {
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    if (!answer.ok || answer.body === null) {
      await answer.body?.cancel();
      return undefined;
    }
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let bytes = 0;
    for await (const chunk of answer.body) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) return undefined;
      chunks.push(chunk);
    }
    return await new Response(new Blob(chunks)).json();
  } catch {
    // A missing answer means that nothing is known; nothing depends on it.
    return undefined;
  }
}

const said: unknown[] = [];
async function worker(): Promise<void> {
  for (let next = asked.pop(); next !== undefined; next = asked.pop()) {
    const [name, version] = next;
    const manifest = await get(`${name.replace("/", "%2f")}/${version}`) as
      | { deprecated?: unknown; dist?: Record<string, unknown> }
      | undefined;
    const { deprecated, dist } = manifest ?? {};
    if (dist === undefined && deprecated === undefined) continue;
    const { integrity, signatures, attestations } = dist ?? {};
    said.push({ name, version, deprecated, integrity, signatures, attestations });
  }
}
await Promise.all(Array.from({ length: MAX_PARALLEL }, worker));
const signed = said.some((each) => (each as { signatures?: unknown }).signatures !== undefined);
const keys = signed ? await get("-/npm/v1/keys") : undefined;
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify({ said, keys })));
