// SPDX-License-Identifier: Apache-2.0
/*
 * node trace_processor.mjs ASSETS TRACE < QUERIES
 *
 * Perfetto's own trace processor reads TRACE and answers one SQL query per line, each
 * as a JSON array of rows on a line of its own. ASSETS is a folder with its WebAssembly
 * and the glue code of the Perfetto UI, which expects a browser's worker around it.
 */
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";
import {pathToFileURL} from "node:url";

const CHUNK = 8 << 20;
const [assets, trace] = process.argv.slice(2);

function replace(text, from, to) {
  if (!text.includes(from)) {
    throw new Error(`trace_processor.mjs does not fit these assets: no ${from}`);
  }
  return text.replace(from, to);
}

// The module in 32 bits, which all versions of Node know, from memory instead of the network.
function bridge() {
  let glue = fs.readFileSync(path.join(assets, "engine_bundle.node.js"), "utf8");
  glue = replace(glue, "this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;");
  glue = replace(glue, "locateFile: (s) => s,",
                 "locateFile: (s) => s, wasmBinary: globalThis.wasmBytes,");
  glue = replace(glue, "const wasmBridge = new wasm_bridge_1.WasmBridge();",
                 "const wasmBridge = globalThis.wasmBridge = new wasm_bridge_1.WasmBridge();");
  globalThis.self = globalThis;
  globalThis.WorkerGlobalScope = class {};
  globalThis.location = {href: "file:///"};
  globalThis.wasmBytes = fs.readFileSync(path.join(assets, "trace_processor.wasm"));
  console.warn = () => {};
  vm.runInThisContext(glue);
  return globalThis.wasmBridge;
}

async function connect() {
  const {EngineBase} = await import(pathToFileURL(path.join(assets, "engine.mjs")));
  const wasm = bridge();
  class Engine extends EngineBase {
    id = "0";
    mode = "WASM";
    rpcSendRequestBytes(data) {
      wasm.onMessage({data});
    }
  }
  const engine = new Engine();
  wasm.messagePort = {postMessage: (data) => engine.onRpcResponseBytes(data)};
  return engine;
}

async function load(engine) {
  const bytes = fs.readFileSync(trace);
  for (let at = 0; at < bytes.length; at += CHUNK) {
    await engine.parse(new Uint8Array(bytes.subarray(at, at + CHUNK)));
  }
  await engine.notifyEof();
}

function plain(value) {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (typeof value !== "bigint") return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
}

async function answer(engine, sql) {
  const result = await engine.query(sql);
  const columns = result.columns();
  const rows = [];
  for (const it = result.iter({}); it.valid(); it.next()) {
    rows.push(Object.fromEntries(columns.map((c) => [c, plain(it.get(c))])));
  }
  return rows;
}

console.log = () => {};
const engine = await connect();
await new Promise((done) => setTimeout(done, 0));
await load(engine);
let answers = "";
for (const sql of fs.readFileSync(0, "utf8").split("\n").filter((line) => line.trim())) {
  answers += JSON.stringify(await answer(engine, sql)) + "\n";
}
process.stdout.write(answers, () => process.exit(0));
