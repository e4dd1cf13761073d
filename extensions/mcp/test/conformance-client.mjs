/** What the conformance suite starts as a client: it has a running svc reach the suite's server, sign in where it must, and call its tools. */
import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The suite starts all at once, more than a small machine can do in time. */
const AT_ONCE = 3;
const FOCAL = 'json_schema_2020_12_tool';
/** An entry may name a document as its client. */
const DOCUMENTS = { 'auth/basic-cimd': { client_id: 'https://conformance-test.local/client-metadata.json' } };
const base = process.env.SVC_URL;
const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const { client_id, client_secret, toolCalls } = { ...DOCUMENTS[scenario], ...JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') };
const name = `${scenario.replace(/[^a-z0-9]/gi, '-').slice(0, 40)}-${new URL(url).port}`;

const call = async (method, path, body) => {
  const answer = await fetch(`${base}${path}`, { method, headers: { 'content-type': 'application/json' }, ...(body ? { body: JSON.stringify(body) } : {}) });
  return { status: answer.status, body: await answer.json() };
};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const server = async () => (await call('GET', `/api/mcp/servers/${name}`)).body;
const settled = async () => {
  for (let tries = 0; tries < 100; tries++) {
    const now = await server();
    if (now.status !== 'connecting') return now;
    await pause(100);
  }
  return server();
};

/** The suite's authority agrees by itself: the browser is only sent on. */
const signIn = async () => {
  const begun = await call('POST', `/api/mcp/servers/${name}/auth/start`, {});
  if (begun.status !== 200) throw new Error(`the sign-in did not begin: ${begun.body.error}`);
  const there = await fetch(begun.body.auth_url, { redirect: 'manual' });
  const back = there.headers.get('location');
  if (!back) throw new Error(`the authority answered ${there.status}`);
  const done = await fetch(back);
  if (done.status !== 200) throw new Error(`the sign-in failed: ${await done.text()}`);
  await pause(50);
};

const turn = async () => {
  for (;;) {
    for (let number = 0; number < AT_ONCE; number++) {
      const place = join(process.env.SVC_TURNS, String(number));
      if (
        await mkdir(place).then(
          () => true,
          () => false,
        )
      )
        return place;
    }
    await pause(50);
  }
};

const argumentsFor = ({ properties = {} } = {}) =>
  Object.fromEntries(
    Object.entries(properties).map(([field, { type, enum: values, default: usual }]) => [
      field,
      usual ?? values?.[0] ?? { number: 2, integer: 2, boolean: true, array: [], object: {} }[type] ?? 'hello',
    ]),
  );

const callAll = async ({ tools }) => {
  const results = [];
  for (const { name: called, arguments: given } of toolCalls ?? []) {
    const { tool } = tools.find((one) => one.name === called);
    results.push({ tool, ...(await call('POST', `/api/tools/${tool}/invoke`, given)) });
  }
  if (toolCalls) return results;
  const schemas = new Map();
  for (const { tool, name: called } of tools) schemas.set(called, { tool, schema: (await call('GET', `/api/tools/${tool}`)).body.input_schema });
  for (const { tool, schema } of schemas.values()) {
    const given = argumentsFor(schema);
    // One scenario wants to see the schema that arrived.
    if (schemas.has(FOCAL) && 'schema' in given) given.schema = schemas.get(FOCAL).schema;
    results.push({ tool, ...(await call('POST', `/api/tools/${tool}/invoke`, given)) });
  }
  return results;
};

const oauth =
  client_id === undefined
    ? {}
    : { oauth: { client_id, ...(client_secret === undefined ? {} : { client_secret_env: 'CLIENT_SECRET' }) }, ...(client_secret === undefined ? {} : { env: [`CLIENT_SECRET=${client_secret}`] }) };
const place = await turn();
const made = await call('POST', '/api/mcp/servers', { name, transport: { type: 'http', url }, ...oauth });
try {
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  const MAX_SIGN_INS = 3;
  let now = await settled();
  for (let times = 0; times < MAX_SIGN_INS; times++) {
    if (now.status === 'setup') {
      await signIn();
      now = await settled();
    }
    if (now.status === 'connected') {
      console.log(JSON.stringify(await callAll(now)));
      now = await settled();
    }
    if (now.status !== 'setup') break;
  }
  if (now.status !== 'connected') throw new Error(now.error ?? now.status);
} finally {
  await call('DELETE', `/api/mcp/servers/${name}`);
  await rmdir(place);
}
