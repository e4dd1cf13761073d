/**
 * One daemon in this process, as it ships: every tap of tool.before on calls of an agent. Input {calls, home, releaseFile}; prints milliseconds
 * of each call as {shell, write}, each {chain, digest, preempted}. `digest`: the floor, the canonical digest of the same arguments.
 */
import { actorFrom, factsOf, needsOf, ToolBefore } from '@svc/api';
import { bootDaemon } from '@svc/daemon';
import { callDigest } from '../../../../extensions/tools/src/call-digest.js';

const { calls, home, releaseFile, key, earlierCalls } = JSON.parse(process.argv[2]);
const WARM_UP = 500;

const daemon = await bootDaemon({ env: { SVC_HOME: home, PATH: process.env.PATH }, releaseFile, foreground: false, port: 0 });
const manifest = {
  name: 'bench',
  capabilities: {
    tools: ['*'],
    shell: ['npm *', 'node *', 'ls *', 'git *'],
    network: ['*.example.com', 'api.github.com'],
    memory_read: ['*'],
    memory_write: ['notes/*'],
    agent_message: ['*'],
    file_system: true,
  },
};
const answer = await fetch(`${daemon.url}/api/agents`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
  body: JSON.stringify({ manifest }),
});
const made = await answer.json();
if (answer.status !== 201) throw new Error(`the agent was not made: ${JSON.stringify(made)}`);

const actor = actorFrom({ id: 'user:bench', role: 'admin', ownerId: 'user:bench' });
const tools = new Map(daemon.kernel.tools().map(({ tool }) => [tool.name, tool]));
const earlier = Array.from({ length: earlierCalls }, (_, n) => ({ digest: callDigest('file_read', { path: `src/file-${n % (earlierCalls / 2)}.ts` }), status: 'completed' }));
const before = daemon.parts.hooks.handle(ToolBefore);
/** A run has read its agent before any of its calls, and the model its conversation. */
const readAgent = () => fetch(`${daemon.url}/api/agents/${made.agent_id}`, { headers: { authorization: `Bearer ${key}` } }).then((one) => one.json());
const conversations = daemon.services.provided.active().find(({ value }) => value.decl.name === 'sessions').value.impl;
const readConversation = async (id) => conversations.project(actor, await conversations.ensure(actor, made.agent_id, id), { budgetTokens: 100_000 });

const agent = await readAgent();
const session = await fetch(`${daemon.url}/api/agents/${made.agent_id}/sessions`, { method: 'POST', headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` }, body: '{}' }).then(
  (one) => one.json(),
);
/** What it has said and read: its person's words, and results of which each fourth is a page of the web. */
const page = (n) => `Notes on release ${n}. See https://releases.example.com/${n}/notes, or write to team-${n}@example.com.\n${'The list is sorted by name, then by date. '.repeat(30)}`;
const entries = Array.from({ length: earlierCalls }, (_, n) => {
  const at = new Date().toISOString();
  const kind = ['user', 'tool_call', 'tool_result', 'assistant'][n % 4];
  const tool = n % 16 === 2 ? 'web_fetch' : 'file_read';
  const body = {
    user: { parts: [{ type: 'text', text: `Sort the list of part ${n} by name and commit it.` }] },
    tool_call: { callId: `read-${n + 1}`, tool, args: { path: `src/file-${n}.ts` } },
    tool_result: {
      callId: `read-${n}`,
      tool,
      content: page(n),
      isError: false,
      status: 'completed',
      ...(tool === 'web_fetch' ? { origin: { labels: ['ExternalNetwork'], source: 'web_fetch' } } : {}),
    },
    assistant: { parts: [{ type: 'text', text: `I sorted part ${n}.` }] },
  }[kind];
  return { session_id: session.session_id, seq: n + 1, kind, run_id: null, body: JSON.stringify(body), at, pending: 0 };
});
const sessions = daemon.parts.storage.dbFor({ id: 'sessions', tables: ['entries'] });
await sessions.commit([sessions.insert('entries', entries)]);

const requestOf = (name, args, n) => ({
  tool: factsOf(tools.get(name)),
  args,
  needs: needsOf(tools.get(name), args),
  call: {
    callId: `call-${n}`,
    runId: '01a20c2b-6964-7231-b566-f64c04444620',
    agentId: made.agent_id,
    sessionId: entries[0].session_id,
    actor,
    depth: 0,
    capabilities: { ...manifest.capabilities, agent_spawn: false, max_llm_tokens_per_hour: null, ...agent.capabilities },
  },
  digest: callDigest(name, args),
  earlier,
});
const shellArguments = (n) => ({ command: `git -C packages/app commit --all --message "step ${n}: the list is sorted by name" --quiet`, timeout_secs: 30 });
const writeArguments = (n) => ({ path: `src/generated/part-${n}.ts`, content: `${'export const line = "a line of text that an agent wrote";\n'.repeat(40)}// ${n}\n` });

const involuntary = () => process.resourceUsage().involuntaryContextSwitches;

const measure = async (name, args) => {
  const [chain, digest] = [[], []];
  let preempted = 0;
  for (let n = -WARM_UP; chain.length < calls; n += 1) {
    if (n % 100 === 0) await Promise.all([readAgent(), readConversation(entries[0].session_id)]);
    const given = args(n);
    const request = requestOf(name, given, n);
    const switches = involuntary();
    const from = performance.now();
    const verdict = await before.call(request);
    const until = performance.now();
    callDigest(name, given);
    const ended = performance.now();
    if (verdict !== undefined) throw new Error(`${name} was not let through: ${JSON.stringify(verdict)}`);
    if (n < 0) continue;
    // Another program had the processor meanwhile: that is no time of ours.
    if (involuntary() !== switches) {
      preempted += 1;
      continue;
    }
    chain.push(until - from);
    digest.push(ended - until);
  }
  return { chain, digest, preempted };
};

const [shell, write] = [await measure('shell_exec', shellArguments), await measure('file_write', writeArguments)];
const taps = daemon.parts.hooks.taps.active().filter(({ value }) => value.hook.name === ToolBefore.name);
await daemon.stop('measured');
console.log(JSON.stringify({ shell, write, taps: taps.map(({ owner }) => owner.id).sort() }));
