/** openapi.json of each preset: clean by an outside validate, and equal to the table that answers. */
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { bootTestKernel, OPEN_RATE, type TestKernel } from '@svc/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import { bootWithModel, stopModelKernels } from '../clients/model-kernel.js';
import { walk } from './route-walk.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

// biome-ignore lint/suspicious/noExplicitAny: a document is read by path here
type Document = any;

const operationsOf = (document: Document): Array<{ method: string; path: string; operation: Document }> =>
  Object.entries(document.paths as Record<string, Document>).flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => ({ method, path, operation })));
const plainPath = (path: string): string => path.replace(/\{\*?[^}]+\}/g, '{}');
const boot = (preset: string): Promise<TestKernel> => bootTestKernel({ config: `[extensions]\npreset = "${preset}"\n${OPEN_RATE}` });

/** Places in answers where any value may stand, and why. */
/** Without one of the first three the daemon is closed; the last one answers with the document. */
const STAYING_ON = ['auth', 'ratelimit', 'capabilities', 'system'];

const nullsAlone = (node: Document, path: readonly string[] = []): string[] => {
  if (typeof node !== 'object' || node === null) return [];
  const isForm = path.at(-2) === 'anyOf' || path.at(-2) === 'oneOf';
  return [...(node.type === 'null' && !isForm ? [path.join('.')] : []), ...Object.entries(node).flatMap(([key, value]) => nullsAlone(value, [...path, key]))];
};

const formsOf = (schema: Document): Document[] => schema.anyOf ?? [schema];

const WITHOUT_FIXED_FIELDS: Readonly<Record<string, string>> = {
  'getAgent: kept.*': 'keys of a manifest that wait for their area, as they were written',
  'listAgentTraces: traces[].input': "the arguments of a call, by the tool's own schema",
  'streamLogs: [].data.fields.*': 'what a line of the log tells beside its words, as its area named it',
  'callA2a: ': 'the protocol has its own schemas',
  'getOfficialAgentCard: ': 'the protocol has its own schemas',
  'sendOfficialA2aMessage: ': 'the protocol has its own schemas',
  'getOfficialA2aTask: ': 'the protocol has its own schemas',
  'cancelOfficialA2aTask: ': 'the protocol has its own schemas',
  'listOfficialA2aTasks: ': 'the protocol has its own schemas',
  'callMcp: ': 'the protocol has its own schemas',
  'callPublicMcp: ': 'the protocol has its own schemas',
  'getTrigger: pattern.all': 'a pattern without parameters',
  'getTrigger: pattern.lifecycle': 'a pattern without parameters',
  'getTrigger: pattern.agent_terminated': 'a pattern without parameters',
  'getTrigger: pattern.system': 'a pattern without parameters',
  'getTrigger: pattern.memory_update': 'a pattern without parameters',
  'updateTrigger: pattern.all': 'a pattern without parameters',
  'updateTrigger: pattern.lifecycle': 'a pattern without parameters',
  'updateTrigger: pattern.agent_terminated': 'a pattern without parameters',
  'updateTrigger: pattern.system': 'a pattern without parameters',
  'updateTrigger: pattern.memory_update': 'a pattern without parameters',
  'listTriggers: items[].pattern.all': 'a pattern without parameters',
  'listTriggers: items[].pattern.lifecycle': 'a pattern without parameters',
  'listTriggers: items[].pattern.agent_terminated': 'a pattern without parameters',
  'listTriggers: items[].pattern.system': 'a pattern without parameters',
  'listTriggers: items[].pattern.memory_update': 'a pattern without parameters',
  'listTriggers: triggers[].pattern.all': 'a pattern without parameters',
  'listTriggers: triggers[].pattern.lifecycle': 'a pattern without parameters',
  'listTriggers: triggers[].pattern.agent_terminated': 'a pattern without parameters',
  'listTriggers: triggers[].pattern.system': 'a pattern without parameters',
  'listTriggers: triggers[].pattern.memory_update': 'a pattern without parameters',
  'createWorkflow: workflow.layout': 'the state of an editor, stored as it is',
  'createWorkflow: workflow.steps[].gate.value': 'any JSON value that a gate compares with',
  'getWorkflow: layout': 'the state of an editor, stored as it is',
  'getWorkflow: steps[].gate.value': 'any JSON value that a gate compares with',
  'updateWorkflow: layout': 'the state of an editor, stored as it is',
  'updateWorkflow: steps[].gate.value': 'any JSON value that a gate compares with',
  'getWorkflowRun: input': 'what the run was started with',
  'getWorkflowRun: steps[].gate.value': 'any JSON value that a gate compares with',
  'listWorkflowRuns: [].input': 'what the run was started with',
  'addMemory: memories[].metadata.*': 'what whoever added the entry stored with it',
  'exportMemories: memories[].metadata.*': 'what whoever added the entry stored with it',
  'getMcpServer: transport.tools[].input_schema.*': 'the JSON Schema of the arguments, as it was written',
  'getMemoryHistory: memory.metadata.*': 'what whoever added the entry stored with it',
  'listAgentMemories: memories[].metadata.*': 'what whoever added the entry stored with it',
  'listDuplicateMemories: groups[][].metadata.*': 'what whoever added the entry stored with it',
  'listMemories: memories[].metadata.*': 'what whoever added the entry stored with it',
  'listMemoriesOfUser: memories[].metadata.*': 'what whoever added the entry stored with it',
  'searchAgentMemories: memories[].metadata.*': 'what whoever added the entry stored with it',
  'searchMemories: memories[].metadata.*': 'what whoever added the entry stored with it',
  'updateMemory: memory.metadata.*': 'what whoever added the entry stored with it',
  'exportAgentMemory: kv.*': 'any JSON value that somebody stored under a key',
  'getMemoryKey: value': 'any JSON value that somebody stored under a key',
  'listMemoryKeys: kv_pairs[].value': 'any JSON value that somebody stored under a key',
  'getConfig: *': 'sections and keys of config.toml, by what is installed',
  'getApproval: payload': "the arguments of a call, by the tool's own schema",
  'listApprovals: approvals[].payload': "the arguments of a call, by the tool's own schema",
  'listAuditEntries: entries[].personal.*': 'what each event says of people, by its type',
  'listAuditEntries: items[].personal.*': 'what each event says of people, by its type',
  'listPanels: panels[].view': 'a table with its forms, from the declaration of a collection',
  'listSettings: settings[].value': 'what the schema of the setting allows',
  'getConfigSchema: *': 'a JSON Schema of what is installed',
  'getRegistrySchema: *': 'a JSON Schema of what is installed',
  'getTool: input_schema': "a JSON Schema: each tool's own",
  'listTools: tools[].input_schema': "a JSON Schema: each tool's own",
  'followSession: [].data.input': "the arguments of a call, by the tool's own schema",
  'streamMessage: [].data.input': "the arguments of a call, by the tool's own schema",
  'followSession: [].data.client.calls[].args': "the arguments of a call, by the schema of the client's tool",
  'followSession: [].data.result.client.calls[].args': "the arguments of a call, by the schema of the client's tool",
  'streamMessage: [].data.client.calls[].args': "the arguments of a call, by the schema of the client's tool",
  'streamMessage: [].data.result.client.calls[].args': "the arguments of a call, by the schema of the client's tool",
  'getSessionById: messages[].content[].input': "the arguments of a call, by the tool's own schema",
  'getSession: messages[].tools[].input': "the arguments of a call, by the tool's own schema",
  'exportPlugin: manifest.*': 'plugin.toml, as its author wrote it',
  'testPluginHook: output': 'what the script said',
  'getHand: agents[].capabilities.*': 'a table of agent.toml, as the author of the hand wrote it',
  'getHand: i18n.*.*': 'texts in other languages, as the author of the hand wrote them',
  'installHand: agents[].capabilities.*': 'a table of agent.toml, as the author of the hand wrote it',
  'installHand: i18n.*.*': 'texts in other languages, as the author of the hand wrote them',
  'listHands: hands[].i18n.*.*': 'texts in other languages, as the author of the hand wrote them',
  'getHandStats: metrics.*.value': 'any JSON value that the agent stored under the key',
  'getOpenapi: components.*': 'OpenAPI 3.1 describes it',
  'getOpenapi: paths.*': 'OpenAPI 3.1 describes it',
};

/** Parameters that look like ids of ours and are none. */
const IDS_OF_ANOTHER_KIND: Readonly<Record<string, string>> = {
  'finishMcpServerAuth: id': 'the name of a server',
  'getMcpServerAuth: id': 'the name of a server',
  'revokeMcpServerAuth: id': 'the name of a server',
  'startMcpServerAuth: id': 'the name of a server',
  'getPerson: id': 'it says where a person comes from',
  'signOutPerson: id': 'it says where a person comes from',
  'updatePerson: id': 'it says where a person comes from',
  'listMemoriesOfUser: user_id': 'a label for a person',
  'getAuditInclusionProof: id': 'the number of an entry',
  'listAuditEntries: agent_id': 'an agent id, or `system`',
  'getModel: id': 'a name of the catalog',
  'deleteCustomModel: id': 'a name of the catalog',
  'getSessionByLabel: id': 'an agent id or a name',
  'getWorkflowTemplate: id': 'a name, or the id of one that somebody saved',
  'instantiateWorkflowTemplate: id': 'a name, or the id of one that somebody saved',
  'getAgentBudget: id': 'an agent id or a name',
  'updateAgentBudget: id': 'an agent id or a name',
  'getOpenaiResponse: id': 'resp_ and the run',
  'deleteOpenaiResponse: id': 'resp_ and the run',
  'cancelOpenaiResponse: id': 'resp_ and the run',
  'getOfficialA2aTask: id': 'whatever another server sends; what is no id of a task is answered as the protocol says',
  'cancelOfficialA2aTask: id': 'whatever another server sends; what is no id of a task is answered as the protocol says',
  'followOfficialA2aTask: id': 'whatever another server sends; what is no id of a task is answered as the protocol says',
  'getPeer: id': 'an id that another daemon gave itself',
  'getRemoteAgent: id': 'an id, a URL or a name',
  'getOpenaiModel: id': 'svc:<agent>, an agent id or a name',
  'getMcpServer: id': 'a name, or the id of a template',
  'getMcpTemplate: id': 'the id of a template',
  'getHand: hand_id': 'the id in a HAND.toml',
  'uninstallHand: hand_id': 'the id in a HAND.toml',
  'activateHand: hand_id': 'the id in a HAND.toml',
  'checkHandDependencies: hand_id': 'the id in a HAND.toml',
  'installHandDependencies: hand_id': 'the id in a HAND.toml',
  'getHandSettings: hand_id': 'the id in a HAND.toml',
  'updateHandSettings: hand_id': 'the id in a HAND.toml',
  'reconnectMcpServer: id': 'a name, or the id of a template',
  'removeMcpServer: id': 'a name, or the id of a template',
  'replaceMcpServer: id': 'a name, or the id of a template',
};

/** Paths that the interface has as they are; the router takes the one with more fixed words. */
const REDIRECTS = /operation-2xx-response #\/paths\/~1api~1auth~1login(~1\{provider\})?\//;
const OF_A_NOT = /no-required-schema-properties-undefined \S*\/not\//;
const AMBIGUOUS = ['`/api/channels/deliveries/{id}`', '`/api/agents/{id}/sessions/by-label/{label}`', '`/api/webhooks/events/{id}`', '`/api/workflows/runs/{run_id}`', '`/api/hands/instances/{id}`'];

/** What a place refers to, or the place itself. */
const resolved = (document: Document, place: Document): Document =>
  place.$ref
    ? place.$ref
        .slice(2)
        .split('/')
        .reduce((at: Document, name: string) => at[name], document)
    : place;

const successesOf = (operation: Document): Array<{ schema: Document }> =>
  Object.entries(operation.responses as Record<string, Document>).flatMap(([status, answer]) => (/^2\d\d$/.test(status) ? (Object.values(answer.content ?? {}) as Array<{ schema: Document }>) : []));

/** Where a schema says nothing of what stands there. */
const openPlaces = (document: Document, schema: Document, at = ''): string[] => {
  if (schema.$ref) return openPlaces(document, document.components.schemas[schema.$ref.split('/').at(-1)], at);
  if (schema.const !== undefined || schema.enum) return [];
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices) return choices.flatMap((one: Document) => openPlaces(document, one, at));
  if (schema.type === 'array') return openPlaces(document, schema.items ?? {}, `${at}[]`);
  if (schema.type !== undefined && schema.type !== 'object') return [];
  const inner = (name: string) => (at === '' ? name : `${at}.${name}`);
  const { properties = {}, patternProperties = {} } = schema;
  const places = [...Object.entries(properties).map(([name, one]) => [name, one]), ...Object.values(patternProperties).map((one) => ['*', one])] as Array<[string, Document]>;
  return places.length === 0 ? [at] : places.flatMap(([name, one]) => openPlaces(document, one, inner(name)));
};

const eventsOf = (text: string): Array<{ event: string; id: string; data: unknown }> =>
  text
    .split('\n\n')
    .filter((block) => block.includes('data: '))
    .map((block) => {
      const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
      return { event: field('event'), id: field('id'), data: JSON.parse(field('data')) };
    });

describe('openapi.json', () => {
  after(stopModelKernels);

  for (const preset of ['minimal', 'standard', 'full'])
    describe(`of the preset ${preset}`, () => {
      let kernel: TestKernel;
      let document: Document;
      before(async () => {
        kernel = await boot(preset);
        document = (await kernel.http.expect(200, 'GET', '/api/openapi.json')).body;
      });
      after(() => kernel.stop());

      it('is clean under the recommended rules of redocly', async () => {
        const found = await lintFromString({ source: JSON.stringify(document), config: await createConfig({ extends: ['recommended'] }) });
        const reported = found.map((problem) => `${problem.severity} ${problem.ruleId} ${problem.location[0]?.pointer}: ${problem.message}`);
        // What a local daemon cannot grant: a server that is not this machine. And what the interface asks for: a path beside one with an id, which no id can be.
        // And that a browser is sent elsewhere: nothing else is answered to it.
        // And what may not stand together: its names stand beside the `not`.
        expect(reported.filter((line) => !line.includes('no-server-example.com') && !AMBIGUOUS.some((path) => line.includes(path)) && !OF_A_NOT.test(line) && !REDIRECTS.test(line))).to.deep.equal([]);
      });

      it('names exactly what is mounted', () => {
        const documented = operationsOf(document).map(({ method, path }) => `${method.toUpperCase()} ${plainPath(path)}`);
        const mounted = new Set(walk(kernel).map((one) => `${one.method} ${plainPath(one.template)}`));
        expect(documented.sort()).to.deep.equal([...mounted].sort());
      });

      it('tells for each operation its id, whether it needs the key, and its errors', () => {
        const declared = new Map(walk(kernel).map((one) => [one.id, one.decl]));
        const ids = new Set<string>();
        for (const { method, path, operation } of operationsOf(document)) {
          expect(METHODS, path).to.include(method);
          const decl = declared.get(operation.operationId);
          expect(decl, `${method} ${path} ${operation.operationId}`).to.not.equal(undefined);
          expect(operation.security, path).to.deep.equal(decl?.auth === 'public' ? [] : [{ bearer: [] }]);
          if (decl?.auth === 'bearer') expect(operation.responses, path).to.have.property('401');
          expect(operation.responses, path).to.have.property('429');
          ids.add(operation.operationId);
        }
        expect(ids.size).to.equal(operationsOf(document).length);
      });
    });

  describe('of all that there is', () => {
    let document: Document;
    before(async () => {
      const kernel = await boot('full');
      document = (await kernel.http.expect(200, 'GET', '/api/openapi.json')).body;
      await kernel.stop();
    });

    it('names the fields of every answer that is a success, but for those that have no fixed ones', () => {
      const open = operationsOf(document).flatMap(({ operation }) => successesOf(operation).flatMap(({ schema }) => openPlaces(document, schema).map((place) => `${operation.operationId}: ${place}`)));
      expect([...new Set(open)].sort()).to.deep.equal(Object.keys(WITHOUT_FIXED_FIELDS).sort());
    });

    it('shows bodies that the operation takes, three of each that people write', () => {
      const decide = new Ajv2020({ strict: false });
      addFormats.default(decide);
      decide.addSchema({ $id: 'openapi', components: document.components });
      const local = (schema: Document): Document => JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/'));
      for (const { operation } of operationsOf(document)) {
        const { schema, examples = {} } = operation.requestBody?.content['application/json'] ?? {};
        if (!schema) continue;
        const fits = decide.compile(local(schema));
        for (const { summary, value } of Object.values(examples as Record<string, Document>))
          expect(fits(value), `${operation.operationId}: ${summary}: ${decide.errorsText(fits.errors)}`).to.equal(true);
      }
    });

    it('tells of each body that it may be wrong, too large, or of another type', () => {
      for (const { method, path, operation } of operationsOf(document)) {
        if (!operation.requestBody?.content['application/json']) continue;
        expect(operation.responses, `${method} ${path}`).to.include.keys('400', '413', '415');
      }
    });

    it('tells of each operation that it may be refused, limited, or come at the wrong moment', () => {
      for (const { method, path, operation } of operationsOf(document)) expect(operation.responses, `${method} ${path}`).to.include.keys('403', '429', '500', '503');
    });

    it('tells of each message that the model may have no key', () => {
      for (const id of ['sendMessage', 'streamMessage', 'createChatCompletion']) {
        const found = operationsOf(document).find(({ operation }) => operation.operationId === id);
        expect(found?.operation.responses, id).to.include.keys('412', '429');
      }
    });

    it('says of ids that they are UUIDs', () => {
      const plain = operationsOf(document).flatMap(({ operation }) =>
        (operation.parameters ?? []).filter((one: Document) => /(^|_)id$/.test(one.name) && one.schema.format !== 'uuid').map((one: Document) => `${operation.operationId}: ${one.name}`),
      );
      expect(plain.sort()).to.deep.equal(Object.keys(IDS_OF_ANOTHER_KIND).sort());
    });

    it('says of nothing that it is null and nothing else: generators of clients have no type for that', () => {
      expect(nullsAlone(document)).to.deep.equal([]);
    });

    it('gives every refusal the one body of errors', () => {
      for (const { method, path, operation } of operationsOf(document))
        for (const [status, answer] of Object.entries(operation.responses as Record<string, Document>))
          if (Number(status) >= 400 && operation.operationId !== 'getReadiness')
            expect(formsOf(resolved(document, answer).content['application/json'].schema), `${method} ${path} ${status}`).to.deep.include({ $ref: '#/components/schemas/ErrorBody' });
    });
  });

  it('describes the events of a run as they come: phase, thinking_delta, chunk, tool_use, tool_result, done, error', async () => {
    const script = [{ thoughts: 'Where?', text: 'Let me look.', toolCalls: [{ name: 'file_list', args: { path: '.' } }] }, { text: 'It is empty.' }];
    const { http, agent } = await bootWithModel(script);
    const { body: lost } = await http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "lost"\n[model]\nprovider = "anthropic"\nmodel = "claude-sonnet-4-6"\n' });
    const { paths } = (await http.expect(200, 'GET', '/api/openapi.json')).body;
    const documented: Document[] = paths['/api/agents/{id}/message/stream'].post.responses[200].content['text/event-stream'].schema.items.oneOf;
    const ajv = addFormats.default(new Ajv2020({ strict: false }));
    const seen = new Set<string>();

    for (const id of [agent.id, lost.agent_id]) {
      const answer = await http.raw('POST', `/api/agents/${id}/message/stream`, { message: 'look' });
      for (const event of eventsOf(await answer.text())) {
        seen.add(event.event);
        const schema = documented.find((one) => one.properties.event.const === event.event);
        expect(schema, `${event.event} is documented`).to.not.equal(undefined);
        expect(
          ajv.validate({ ...schema, properties: { ...schema.properties, data: { ...schema.properties.data, additionalProperties: false } } }, event),
          JSON.stringify([event, ajv.errors]),
        ).to.equal(true);
      }
    }

    expect([...seen].sort()).to.deep.equal(documented.map((one) => one.properties.event.const).sort());
  });

  it('has an ETag that answers 304 until the table changes', async () => {
    const kernel = await boot('standard');
    const first = await kernel.http.expect(200, 'GET', '/api/openapi.json');
    const etag = first.headers.get('etag') ?? '';
    expect(etag).to.match(/^"[0-9a-f]+"$/);
    expect((await kernel.http.get('/api/openapi.json', { 'if-none-match': etag })).status).to.equal(304);
    await kernel.daemon.kernel.disable('openai-compat');
    const changed = await kernel.http.expect(200, 'GET', '/api/openapi.json', undefined, { 'if-none-match': etag });
    expect(changed.headers.get('etag')).to.not.equal(etag);
  });

  it('holds no trace of an area that is off, nor does the table, and everything is back when it is on again', async function () {
    // Each of some fifty areas is switched off, and each of its routes is asked.
    this.timeout(180_000);
    const kernel = await boot('full');
    const off = kernel.daemon.kernel.extensions().filter((one) => one.state === 'active' && !one.essential && !STAYING_ON.includes(one.id));
    expect(off.map((one) => one.id)).to.include.members(['webchat', 'openai-compat', 'files', 'commands', 'loop-guard']);
    const before = (await kernel.http.expect(200, 'GET', '/api/openapi.json')).body;
    for (const { id } of off) {
      const own = walk(kernel).filter((one) => kernel.daemon.kernel.routes().some((row) => row.owner === id && row.id === one.id));
      await kernel.daemon.kernel.disable(id, { force: true });
      const { body } = await kernel.http.expect(200, 'GET', '/api/openapi.json');
      expect(
        operationsOf(body).filter(({ operation }) => operation.tags.includes(id)),
        id,
      ).to.deep.equal([]);
      expect(
        kernel.daemon.kernel.routes().filter((row) => row.owner === id),
        id,
      ).to.deep.equal([]);
      expect(
        kernel.daemon.kernel.tools().filter((row) => row.owner === id),
        id,
      ).to.deep.equal([]);
      for (const one of own) expect((await kernel.http.send(one.method, one.path, one.method === 'GET' ? undefined : {})).status, `${id}: ${one.template}`).to.equal(404);
    }
    for (const { id } of off) await kernel.daemon.kernel.enable(id);
    const { body } = await kernel.http.expect(200, 'GET', '/api/openapi.json');
    expect(body).to.deep.equal(before);
  });
});
