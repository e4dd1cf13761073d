/** Claims of the contract suite about rows of people and about what third parties send. */
import type { RouteDecl } from '@svc/api';
import { expect } from 'chai';
import { MARK, type Purged, type World } from './contract-worlds.js';

export interface PeopleOptions {
  /** Tables whose rows of an agent outlive it, because they are its owner's books. */
  readonly keeps: readonly string[];
}

/** Claims that leave the world as it is. */
export function peopleClaims(id: string, world: () => Promise<World>): void {
  it("shows nobody another person's rows, and lets nobody change them", async () => {
    const place = await world();
    for (const { value: decl } of place.kernel.daemon.parts.http.routes.active().filter((row) => row.owner.id === id)) {
      const path = pathOf(decl, place);
      const { status, text } = await (isEndless(decl) ? beginningOf(place, path) : place.bob.send(decl.method, path, decl.body ? {} : undefined));
      expect(text, `${decl.id} shows it`).to.not.contain(MARK);
      // 401: a route that knows its callers by what they send, where no key counts.
      const refusals = decl.callers ? [400, 401, 403, 404] : [400, 403, 404];
      if (path.includes(place.agentId)) expect(status, `${decl.id} for a third party: ${text}`).to.be.oneOf(refusals);
    }
    expect((await place.alice.expect(200, 'GET', `/api/agents/${place.agentId}`)).text).to.contain(MARK);
  });
}

/** A stream that a GET opens goes on until its reader leaves. */
const isEndless = ({ method, responses }: Pick<RouteDecl, 'method' | 'responses'>): boolean => method === 'GET' && responses[200]?.contentType === 'text/event-stream';

const STREAM_MS = 500;

/** What is sent at once. */
const beginningOf = async ({ bob }: Pick<World, 'bob'>, path: string): Promise<{ status: number; text: string }> => {
  const left = new AbortController();
  const response = await bob.raw('GET', path, undefined, {}, left.signal);
  const timer = setTimeout(() => left.abort(), STREAM_MS);
  let text = '';
  try {
    for await (const piece of response.body ?? []) text += Buffer.from(piece).toString();
  } catch {
    // It was left.
  } finally {
    clearTimeout(timer);
  }
  return { status: response.status, text };
};

/** Claims about who has no key. They leave the world as it is. */
export function keyClaims(id: string, world: () => Promise<World>): void {
  it('refuses every route that is not public without the key', async () => {
    const { kernel } = await world();
    for (const { value: decl } of kernel.daemon.parts.http.routes.active().filter((row) => row.owner.id === id && row.value.auth !== 'public')) {
      const { status, body } = await kernel.as('').send(decl.method, pathOf(decl, await world()), decl.method === 'GET' ? undefined : {});
      expect([status, typeof body.error], decl.id).to.deep.equal([401, 'string']);
    }
  });

  it('opens no socket without the key', async () => {
    const { kernel } = await world();
    for (const { value: decl } of kernel.daemon.parts.http.sockets.active().filter((row) => row.owner.id === id && row.value.auth !== 'public')) {
      expect((await kernel.as('').get(pathOf(decl, await world()))).status, decl.id).to.equal(401);
    }
  });
}

/** Claims about what is left once an agent was killed and its owner purged. */
export function purgeClaims(id: string, purged: () => Promise<Purged>, options: PeopleOptions): void {
  it('keeps nothing of an agent that was killed, and nothing of an owner who is purged', async () => {
    const { ofAgent, ofOwner } = await purged();
    for (const { area, table, column, rows } of ofAgent) if (area === id && !options.keeps.includes(table)) expect(rows, `${table}.${column} of the agent`).to.equal(0);
    for (const { area, table, rows } of ofOwner) if (area === id) expect(rows, `${table} of the owner`).to.equal(0);
  });
}

/** Claims about what callers should not send. */
export function bodyClaims(id: string, misused: () => Promise<World>): void {
  it('refuses a body of another kind than it declares, and never breaks on one', async () => {
    const world = await misused();
    const { root } = world;
    for (const { value: decl } of world.kernel.daemon.parts.http.routes.active().filter((row) => row.owner.id === id && row.value.body)) {
      for (const body of ['[]', '"text"', '7', 'null']) {
        const { status, text } = await root.send(decl.method, pathOf(decl, world), body);
        expect(status, `${decl.id} with ${body}: ${text}`).to.equal(400);
      }
      const odd = await root.send(decl.method, pathOf(decl, world), { nobody_declared_this: { deep: [MARK] } });
      expect(odd.status, `${decl.id} with an unknown key: ${odd.text}`).to.be.below(500);
    }
  });
}

/** Of names that end like an id and are none. */
const LABELS: ReadonlySet<string> = new Set(['user_id']);

const pathOf = (decl: Pick<RouteDecl, 'path'>, world: World): string =>
  decl.path.replaceAll(/\{\*?([^}]+)\}/g, (_whole, name: string) => (name === 'session_id' ? world.sessionId : /(^|_)id$/.test(name) && !LABELS.has(name) ? world.agentId : 'nothing-of-that-name'));
