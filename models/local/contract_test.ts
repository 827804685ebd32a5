import { languageModelContract } from "../_fixture/contract_suite.ts";
import { makeTinyGguf } from "../_fixture/tiny_gguf.ts";
import { openLocal } from "./_fixture/local_process.ts";

const weights = makeTinyGguf({ seed: 7 });
const endless = makeTinyGguf({ seed: 7, endless: true });

languageModelContract("gguf in a process without permissions", () => openLocal(weights), {
  free: { endless: () => openLocal(endless) },
});
