import { equal, match, ok } from "node:assert/strict";
import { question } from "../../cli/_fixture/samples.ts";
import { sha256Hex } from "../../port/digest.ts";
import { Digest, type Question } from "../../contracts/authority/mod.ts";
import { showChange } from "../../cli/question/shown_content.ts";
import { mayConsent, tellingOf } from "./result.ts";

Deno.test("a host's person answers consent alone, to what they are shown, and nothing that administers", () => {
  const own = { selfConsent: true, clearance: "internal" } as const;
  const { scope } = question();
  equal(mayConsent(question(), own), true);
  equal(mayConsent(question(), { ...own, selfConsent: false }), false);
  for (const kind of ["stepUp", "recovery", "budget", "brake", "elicit"]) {
    equal(mayConsent(question({ kind }), own), false, kind);
  }
  equal(mayConsent(question({ scope: { ...scope, effect: "admin" } }), own), false);
  equal(mayConsent(question({ scope: { ...scope, label: "secret" } }), own), false);
});

Deno.test("a host's person is shown what a change writes, and is not asked about what cannot be shown whole", () => {
  const told = (text: string, named = Digest.parse(sha256Hex(text))) => {
    const bytes = new TextEncoder().encode(text);
    const changes: Question["changes"] = [
      {
        ...{ path: "notes/b.md", next: named, bytes: 5, colour: "BLUE", label: "internal" },
      } as Question["changes"][number],
    ];
    const asked = question({ changes, argumentsText: "{}" });
    const { waiting } = tellingOf({ kind: "waiting", question: asked, content: "/staged" }, {
      ...{ task: asked.task, clearance: "internal", selfConsent: true, where: () => "" },
      show: (content, change) =>
        showChange(
          { read: (path) => path === `/staged/${named}` ? bytes : undefined },
          content,
          change,
        ),
    });
    return waiting;
  };
  const plain = told("send all\nof it\u{202e}\n");
  equal(plain?.elicit, true);
  match(plain?.summary ?? "", /new notes\/b.md\n.*\n\+send all\n\+of it\\u\{202e\}/);
  const long = told("line\n".repeat(2_000));
  equal(long?.elicit, false);
  match(long?.summary ?? "", /new notes\/b.md\n\(too much to show here/);
  const other = told("what was shown", Digest.parse("0".repeat(64)));
  equal(other?.elicit, false, "content that is not what its digest says");
  ok(!other?.summary.includes("what was shown"));
});
