/** What a plugin reads within one call, and what the same call then does with it. */
import assert from "node:assert/strict";
import { realTools } from "../../fake/tools.ts";
import { launder } from "./_laundry.ts";

const MAIL_FILE = "desk/inbox/mail.eml";
const CLEAN = { colour: "BLUE", label: "public" };
const RED = { colour: "RED", label: "secret" };

/** Tools that read a file and write another in one call. */
const WAYS: Readonly<Record<string, object>> = {
  json_transform: { path: MAIL_FILE, format: "csv", header: false, to: "json", out: "desk/new.md" },
  patch_merge: {
    ...{ basePath: "desk/other.md", oursPath: "desk/other.md", theirsPath: MAIL_FILE },
    out: "desk/new.md",
  },
};

for (const [tool, args] of Object.entries(WAYS)) {
  Deno.test(`a mail's words would have lost their colour and label through one call of ${tool}`, async () => {
    const clean = [["file_read", { path: "desk/new.md" }]];
    await launder([[tool, args]], clean, ([before, found]) => {
      assert.deepEqual({ colour: before?.colour, label: before?.label }, CLEAN);
      assert.match(String(found?.content), /mallory-account/);
      assert.deepEqual({ colour: found?.colour, label: found?.label }, RED);
    }, { config: { tools: await realTools() } });
  });
}
