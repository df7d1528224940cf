// What programs that keep requests make of a document: each read, with the parameters that it would send.
import { createRequire } from "node:module";

// The packages are below target/sdk, not beside this file.
const require = createRequire(`${process.env.PACKAGES}/`);

/** A read: the template of its path, such as `/api/tags/:id`, and its parameters as pairs of a name and a value. */
const read = (path, query, headers) => ({ path, query, headers });

const pairs = (list, name) => list.filter((one) => !one.disabled && one.enabled !== false).map((one) => [one[name], one.value]);

/** All requests in the folders of a collection. */
const flat = (items, inside) => items.flatMap((item) => (item[inside] ? flat(item[inside], inside) : [item.request]));

/** Postman fills parameters from `Example` or, by the default of its app, from the `Schema`. */
async function postman(document, parametersResolution) {
  const { convertV2 } = require("openapi-to-postmanv2");
  const input = { type: "string", data: JSON.stringify(document) };
  const collection = await new Promise((resolve, reject) =>
    convertV2(input, { parametersResolution }, (error, answer) =>
      answer?.result ? resolve(answer.output[0].data) : reject(error ?? new Error(answer.reason)),
    ),
  );
  return flat(collection.item, "item")
    .filter(({ method }) => method === "GET")
    .map(({ url, header }) => read(`/${url.path.join("/")}`, pairs(url.query, "key"), pairs(header, "key")));
}

async function bruno(document) {
  const { openApiToBruno } = require("@usebruno/converters");
  const { items } = await openApiToBruno(document);
  return flat(items, "items")
    .filter(({ method }) => method === "GET")
    .map(({ url, params, headers }) => {
      const query = params.filter(({ type }) => type === "query");
      return read(url.replace("{{baseUrl}}", ""), pairs(query, "name"), pairs(headers, "name"));
    });
}

/** The parameters of a read, by their names. */
function declared(document, { path }) {
  const { parameters } = document.paths[path.replace(/:(\w+)/g, "{$1}")].get;
  const resolved = parameters.map(({ $ref, ...own }) => ($ref ? document.components.parameters[$ref.split("/").at(-1)] : own));
  return Object.fromEntries(resolved.map(({ name, schema }) => [name, schema]));
}

/**
 * A request from schemas without what a person has to replace before sending it: placeholders, such as `<date>`, and text that is made up
 * from a pattern. What is left comes from a `default` or an `enum`, and has to be right.
 */
function withoutMadeUp(document, request) {
  const schemas = declared(document, request);
  const isMadeUp = (name) => schemas[name]?.pattern && !("default" in schemas[name]) && !schemas[name].enum;
  // A person sees no fault in a date, so the version is sent as it comes.
  // Postman takes any value of an enum, and one of these needs a window of whole months.
  const chosen = ([name, value]) => [name, name === "compare" ? schemas[name].examples[0] : value];
  const isKept = ([name, value]) => name === "X-API-Version" || !(/^<.*>$/.test(value) || isMadeUp(name));
  return read(request.path, request.query.filter(isKept).map(chosen), request.headers.filter(isKept));
}

export const converters = {
  "Postman, from examples": (document) => postman(document, "Example"),
  "Postman, from schemas": async (document) =>
    (await postman(document, "Schema")).map((request) => withoutMadeUp(document, request)),
  Bruno: bruno,
};
