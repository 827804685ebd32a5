import { testEngine } from "./_fixture/contract_suite.ts";
import { testDownloads } from "./_fixture/download_suite.ts";
import { HAS_CHROMIUM, startBrowser, startStatic } from "./_fixture/engine.ts";

for (const suite of [testEngine, testDownloads]) {
  suite("static", startStatic, (name, fn) => Deno.test(name, fn));
  suite("chromium", startBrowser, (name, fn) => Deno.test({ name, fn, ignore: !HAS_CHROMIUM }));
}
