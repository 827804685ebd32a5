import { testEngine } from "./_fixture/contract_suite.ts";
import { HAS_CHROMIUM, startBrowser, startStatic } from "./_fixture/engine.ts";

testEngine("static", startStatic, (name, fn) => Deno.test(name, fn));
testEngine("chromium", startBrowser, (name, fn) => Deno.test({ name, fn, ignore: !HAS_CHROMIUM }));
