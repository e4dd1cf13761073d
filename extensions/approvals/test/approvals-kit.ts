/** A daemon whose agent asks before it writes, three people, and what they say. */
import { createHash } from 'node:crypto';
import { virtualClock } from '@svc/platform/clock/clock';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel, type ModelKernel } from '@svc/test/clients/model-kernel';

export const KEYS = { owner: 'approvals-root-key', alice: 'approvals-alice-key', bob: 'approvals-bob-key', vi: 'approvals-vi-key' };
const person = (name: 'alice' | 'bob' | 'vi', role: string): string =>
  `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;

export interface World extends ModelKernel {
  readonly clock: ReturnType<typeof virtualClock>;
  readonly alice: TestHttp;
  readonly bob: TestHttp;
  readonly vi: TestHttp;
  /** Makes an agent of Alice's and answers with its id. */
  spawn(name: string, capabilities?: object, http?: TestHttp): Promise<string>;
  /** The model calls these tools, all in one message, and then says `done`. */
  calls(...calls: Array<readonly [name: string, args: object]>): void;
  say(agentId: string, http?: TestHttp): Promise<{ run_id: string; response: string; waiting?: { run_id: string; approval_id: string } }>;
  /** Until the run is over: what it answered, and what its calls came to. */
  ended(agentId: string, runId: string): Promise<string>;
  pending(http?: TestHttp): Promise<Array<Record<string, never>>>;
}

export const bootApprovals = async (approval: string, options: { home?: string; top?: string; role?: 'user' | 'admin'; clock?: ReturnType<typeof virtualClock> } = {}): Promise<World> => {
  const clock = options.clock ?? virtualClock(Date.parse('2026-11-24T08:00:00Z'));
  const config = `api_key = "${KEYS.owner}"\n${options.top ?? ''}\n${OPEN_RATE}[approval]\n${approval}\n${person('alice', options.role ?? 'user')}${person('bob', 'user')}${person('vi', 'viewer')}`;
  const world = await bootWithModel(undefined, { config, key: KEYS.owner, clock, ...(options.home ? { home: options.home } : {}) });
  /** Programs end by looks of the clock, which stands still otherwise. */
  const ticking = async <T>(work: Promise<T>): Promise<T> => {
    const timer = setInterval(() => void clock.advance(20), 20);
    return work.finally(() => clearInterval(timer));
  };
  const [alice, bob, vi] = [world.kernel.as(KEYS.alice), world.kernel.as(KEYS.bob), world.kernel.as(KEYS.vi)];
  return {
    ...world,
    clock,
    alice,
    bob,
    vi,
    spawn: async (name, capabilities = { tools: ['*'], file_system: true }, http = alice) => (await http.expect(201, 'POST', '/api/agents', { manifest: { name, capabilities } })).body.agent_id,
    calls: (...calls) => world.model.script([{ toolCalls: calls.map(([name, args], index) => ({ id: `c${index}`, name, args })) }, { text: 'done' }]),
    say: async (agentId, http = alice) => (await ticking(http.expect(200, 'POST', `/api/agents/${agentId}/message`, { message: 'go' }))).body,
    ended: async (agentId, runId) => {
      const events = await ticking(alice.events('POST', `/api/agents/${agentId}/message/stream`, { message: 'go' }, { 'last-event-id': `${runId}.1.1` }));
      const { body } = await alice.expect(200, 'GET', `/api/agents/${agentId}/session`);
      return `${events.at(-1)?.event}: ${JSON.stringify(body.messages.at(-2)?.tools ?? body.messages)}`;
    },
    pending: async (http = alice) => (await http.expect(200, 'GET', '/api/approvals?status=pending')).body.approvals,
  };
};
