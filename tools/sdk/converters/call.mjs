// Makes each read that a converter makes of the served document, with every parameter as the converter fills it, and expects 200.
// Ids are those of records of this server, which no document knows.
// BASE_URL, TOKEN and PACKAGES, the folder of node_modules, come from the environment.
import { converters } from "./convert.mjs";
import { fill, makeRecords } from "./records.mjs";

const base = process.env.BASE_URL;
const document = await (await fetch(`${base}/openapi.json`)).json();

async function call(method, path, body) {
  const headers = { authorization: `Bearer ${process.env.TOKEN}`, "content-type": "application/json" };
  const answer = await fetch(base + path, { method: method.toUpperCase(), headers, body: body && JSON.stringify(body) });
  return { status: answer.status, body: await answer.text() };
}

async function makeRead({ path, query, headers }, records) {
  const asked = new URLSearchParams(query);
  if (asked.has("tag")) asked.set("tag", records["/api/tags/{}"]);
  const url = `${base}${fill(path, records)}?${asked}`;
  const answer = await fetch(url, { headers: [...headers, ["authorization", `Bearer ${process.env.TOKEN}`]] });
  return { url, status: answer.status, body: await answer.text() };
}

const operationOf = (path) => document.paths[path.replace(/:(\w+)/g, "{$1}")].get.operationId;
const reads = Object.values(document.paths).filter((path) => path.get).length;
const records = await makeRecords(document, call);

let failed = 0;
for (const [name, convert] of Object.entries(converters)) {
  const requests = await convert(document);
  if (requests.length !== reads) throw new Error(`${name} makes ${requests.length} reads of ${reads}`);
  for (const request of requests) {
    const { url, status, body } = await makeRead(request, records);
    if (status === 200) continue;
    failed += 1;
    const headers = request.headers.map((one) => one.join(": ")).join("; ");
    console.log(`${name}: ${operationOf(request.path)}: ${status} ${body}\n  ${url}\n  ${headers}`);
  }
}
console.log(`${failed} of ${reads * Object.keys(converters).length} reads failed`);
process.exitCode = failed ? 1 : 0;
