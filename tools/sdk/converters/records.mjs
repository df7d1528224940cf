// Records of the demo owner, made from the document's own example bodies: reads of one record need one.
import assert from "node:assert/strict";

const exampleOf = (operation) => operation.requestBody.content["application/json"].example;

/** Makes one record of each kind, and returns the value of every path parameter by the template of the path it follows. */
export async function makeRecords(document, call) {
  async function write(method, path, id, changes) {
    const input = { ...exampleOf(document.paths[path][method]), ...changes };
    const { status, body } = await call(method, path.replace("{id}", id), input);
    assert(status === 200 || status === 201, `${method} ${path}: ${status} ${body}`);
    return JSON.parse(body).data;
  }
  const listed = async (path) => JSON.parse((await call("get", path)).body).data;

  const properties = await listed("/api/properties");
  const id = properties.find((one) => one.siteUrl === "sc-domain:northmoor.example").id;
  // Without these, a classification and the two providers answer 409.
  await write("post", "/api/properties/{id}/branded-keywords", id);
  await write("put", "/api/integrations/provider-a");
  await write("put", "/api/integrations/provider-b");
  // The example hides a table, and a link refuses what asks for a hidden one. Without `show` it hides none.
  const link = await write("post", "/api/properties/{id}/share-links", id, { show: undefined });
  return {
    "/api/properties/{}": id,
    "/api/properties/{}/segments/{}": (await write("post", "/api/properties/{id}/segments", id)).id,
    "/api/properties/{}/topic-clusters/{}": (await write("post", "/api/properties/{id}/topic-clusters", id)).id,
    "/api/properties/{}/annotations/{}": (await write("post", "/api/properties/{id}/annotations", id)).id,
    "/api/properties/{}/share-links/{}": link.id,
    "/api/share/{}": link.token,
    "/api/tags/{}": (await write("post", "/api/tags")).id,
    "/api/filter-presets/{}": (await write("post", "/api/filter-presets")).id,
    "/api/team/{}": (await listed("/api/team"))[0].id,
  };
}

/** Fills a template such as `/api/tags/:id/properties`. */
export function fill(template, records) {
  let prefix = "";
  let path = "";
  for (const part of template.split("/").slice(1)) {
    const isParameter = part.startsWith(":");
    prefix += `/${isParameter ? "{}" : part}`;
    assert(!isParameter || prefix in records, `no record for ${prefix}`);
    path += `/${isParameter ? records[prefix] : part}`;
  }
  return path;
}
