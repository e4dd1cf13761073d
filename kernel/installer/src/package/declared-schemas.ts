/** The schemas that contributions.json declares, each held to the bounds that the daemon compiles them by: what is refused there is refused before the installation. */
import { isTable } from '@svc/api';
import { foreignSchema } from '@svc/platform/schema/foreign-schema';
import type { AllContributions } from '../contributions.js';

/** All of one extension, in JSON text: each is kept for as long as the extension is installed. */
const MAX_ALL_BYTES = 1_048_576;
const MAX_FAULTS = 5;

type Named = readonly [where: string, schema: object];

/** One sentence for each schema that cannot be used; none where all can. */
export const faultsOfSchemas = (contributions: AllContributions): string[] => {
  const faults: string[] = [];
  let bytes = 0;
  for (const [where, schema] of schemasOf(contributions)) {
    try {
      foreignSchema(schema);
      bytes += JSON.stringify(schema).length;
    } catch (error) {
      faults.push(`${where}: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (faults.length >= MAX_FAULTS) return faults;
    if (bytes > MAX_ALL_BYTES) return [...faults, `its schemas have more than ${MAX_ALL_BYTES} bytes together`];
  }
  return faults;
};

function* schemasOf({ config, declares, routes, sockets, tools, workers }: AllContributions): Generator<Named> {
  for (const route of [...routes, ...sockets]) {
    const name = `${String(route.method ?? 'the socket')} ${String(route.path)}`;
    yield* fields(name, route, ['params', 'query', 'body']);
    yield* membersOf(`${name} takes`, route.takes);
    yield* membersOf(`${name} responses`, route.responses);
  }
  for (const tool of tools) yield* fields(`the tool ${String(tool.name)}`, tool, ['params']);
  for (const worker of workers) yield* fields(`the worker ${String(worker.name)}`, worker, ['input', 'output']);
  for (const one of declares) {
    const name = `${String(one.declares)} ${String(one.name)}`;
    yield* fields(name, one, ['data', 'subject', 'context', 'answer', 'args', 'input', 'result', 'value', 'schema']);
    yield* membersOf(name, one.frames);
    for (const [method, spec] of Object.entries(isTable(one.methods) ? one.methods : {})) {
      if (!isTable(spec)) continue;
      yield* fields(`${name}.${method}`, spec, ['result', 'frame']);
      yield* membersOf(`${name}.${method}`, spec.args);
    }
  }
  yield* membersOf('the config section', config);
}

function* fields(of: string, from: Readonly<Record<string, unknown>>, names: readonly string[]): Generator<Named> {
  for (const name of names) {
    const schema = from[name];
    if (typeof schema === 'object' && schema !== null) yield [`${name} of ${of}`, schema];
  }
}

function* membersOf(of: string, group: unknown): Generator<Named> {
  if (typeof group !== 'object' || group === null) return;
  for (const [name, schema] of Object.entries(group)) if (typeof schema === 'object' && schema !== null) yield [`${of} ${name}`, schema];
}
