import { languageModelContract } from "../_fixture/contract_suite.ts";
import { makeTinyGguf } from "../_fixture/tiny_gguf.ts";
import { openNativeProcess } from "./_fixture/native_process.ts";

const weights = makeTinyGguf({ seed: 7 });

languageModelContract("gguf, accelerated, in its namespace", () => openNativeProcess(weights), {
  free: true,
});
