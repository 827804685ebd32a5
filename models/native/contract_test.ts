import { languageModelContract } from "../_fixture/contract_suite.ts";
import { makeTinyGguf } from "../_fixture/tiny_gguf.ts";
import { openNativeProcess } from "./_fixture/native_process.ts";

const weights = makeTinyGguf({ seed: 7 });
const endless = makeTinyGguf({ seed: 7, endless: true });

languageModelContract("gguf, accelerated, in its namespace", () => openNativeProcess(weights), {
  free: { endless: () => openNativeProcess(endless) },
});
