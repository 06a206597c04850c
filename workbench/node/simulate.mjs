// Simulates a scenario with the engine of the page, as `lasthop simulate --json` does:
//   node simulate.mjs ENGINE.wasm SCENARIO [key.path=value ...]
import { readFileSync } from "node:fs";
import { basename, extname } from "node:path";

const [enginePath, scenarioPath, ...settings] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(enginePath), {});
const engine = instance.exports;

function write(bytes) {
  const room = engine.lasthop_room(bytes.length);
  new Uint8Array(engine.memory.buffer, room, bytes.length).set(bytes);
}

function answer() {
  const [begin, length] = [engine.lasthop_answer(), engine.lasthop_answer_bytes()];
  return Buffer.from(engine.memory.buffer.slice(begin, begin + length));
}

/** Returns the text that the engine has stored. Ends the program after a failure. */
function textOf(went) {
  if (!went) throw new Error(answer().toString());
  return answer().toString();
}

const text = readFileSync(scenarioPath);
const isJson = extname(scenarioPath) === ".json" ? 1 : 0;

function room(lines) {
  return Buffer.concat([text, Buffer.from(lines.join("\n"))]);
}

write(room(settings));
const scenario = JSON.parse(textOf(engine.lasthop_check(isJson, text.length)));
// a scenario without a name gets the name of its file
const named = scenario.name !== "scenario";
const name = basename(scenarioPath, extname(scenarioPath));
const input = room(named ? settings : [`name=${name}`, ...settings]);
const before = process.cpuUsage();
const runs = [];
for (let replication = 0; replication < scenario.replications; replication += 1) {
  write(input);
  const run = engine.lasthop_begin(isJson, text.length, replication);
  if (!run) textOf(0);
  while (!engine.lasthop_is_over(run)) {
    if (Number.isNaN(engine.lasthop_advance(run))) textOf(0);
  }
  runs.push(run);
}
const values = runs.map((run) => (engine.lasthop_values(run) ? answer() : textOf(0)));
write(Buffer.concat(values));
const result = textOf(engine.lasthop_combine(runs[0]));
const used = process.cpuUsage(before);
process.stdout.write(result);
process.stderr.write(
  `${(used.user + used.system) / 1e6} s of processor time, ${engine.memory.buffer.byteLength} bytes of memory\n`,
);
