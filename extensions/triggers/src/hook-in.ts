/**
 * The address of a trigger, for senders that choose their own body.
 *
 * H1  A call fires its trigger for the owner of it, and nothing else is done before its signature holds.
 * H2  What comes again with its id within 24 hours fires once.
 * H3  Its text has the label ExternalNetwork.
 */
import { type Actors, type Admission, type Db, type Ids, isTable, Nullable, OneOf, reply, type RouteDecl, routeGroup, Type, Uuid } from '@svc/api';
import { CallRows, type FireRow, type Trigger } from './contract.js';
import { createCallKeys } from './call-keys.js';
import type { Engine } from './engine.js';
import { triggerErrors } from './errors.js';
import type { Happening } from './happenings.js';
import { hookOf } from './pattern.js';
import { idOfCall, refusalOf, type SenderDeps, type SentCall } from './senders.js';
import { type Lookup, valueAt } from './values.js';

export interface HookInDeps extends SenderDeps {
  readonly db: Db;
  readonly actors: Actors;
  readonly clock: SenderDeps['clock'] & Parameters<typeof createCallKeys>[0]['clock'];
  readonly ids: Pick<Ids, 'uuid'>;
  readonly engine: Pick<Engine, 'receive' | 'skip'>;
  /** Of any owner. */
  find(id: string): Promise<Trigger | undefined>;
  /** Names of the secrets that hold now. */
  secretsOf(trigger: Trigger): Promise<readonly string[]>;
}

const MAX_BODY_BYTES = 1_048_576;
const MAX_EVENT_CHARS = 20_000;
const HOOK_COST = 10;
/** Owns nothing, so that nothing can be done in its name. */
const UNPROVED = 'hook:unproved';
const SAID = ['x-github-event', 'x-gitlab-event', 'x-event-key', 'x-shopify-topic'];
const KNOWN_BY = ['idempotency-key', 'webhook-id', 'x-github-delivery', 'x-gitlab-event-uuid'];
const SHOWN_BY = ['webhook-timestamp', 'webhook-signature', 'x-hub-signature-256', 'stripe-signature', 'x-gitlab-token'];
const headed = (names: readonly string[], description: string) => names.map((name) => [name, Type.Optional(Type.String({ description }))] as const);
const Headers = Type.Object(
  Object.fromEntries([...headed(KNOWN_BY, 'What comes again with it fires once'), ...headed(SHOWN_BY, 'How the sender shows the secret'), ...headed(SAID, 'What the sender says that happened')]),
);
const route = routeGroup({ area: 'triggers', errors: [401] });

export const hookInRoute = (deps: HookInDeps): RouteDecl => {
  const keyOf = createCallKeys(deps, CallRows.name);
  return route({
    id: 'triggerByHook',
    method: 'POST',
    path: '/api/hooks/in/{id}',
    summary: 'Fire a trigger from outside',
    description:
      'For senders that choose their own body, such as GitHub and Stripe. The trigger waits for `{"webhook": {"scheme": …}}`; its secret signs the call, or is its token, and no API key is asked for. `{{path.of.a.value}}` in its message is filled in from the body. What comes again with its id within 24 hours fires once.',
    cost: HOOK_COST,
    maxBodyBytes: MAX_BODY_BYTES,
    keepsBytes: true,
    callers: (_request: Admission) => deps.actors.of(UNPROVED),
    params: Type.Object({ id: Type.String({ format: 'uuid', description: 'Id of the trigger' }) }),
    headers: Headers,
    body: Type.Record(Type.String(), Type.Unknown(), { description: 'Whatever the sender says' }),
    examples: {
      'a pull request on GitHub': { action: 'opened', pull_request: { number: 7, title: 'Fix the door' }, sender: { login: 'octocat' } },
      'a payment at Stripe': { id: 'evt_1', type: 'invoice.paid', data: { object: { amount_paid: 1_900, currency: 'eur' } } },
      'an alert': { status: 'firing', alerts: [{ labels: { alertname: 'DiskFull' } }] },
    },
    audit: 'hook_in',
    responses: {
      200: Type.Object({
        status: OneOf(['accepted', 'skipped', 'ignored'], { description: '`ignored`: it is not what the trigger waits for' }),
        trigger_id: Uuid,
        fire_id: Nullable(Uuid),
        reason: Nullable(Type.String()),
      }),
    },
    handler: async ({ params, headers, bytes, body }) => {
      const trigger = await deps.find(params.id);
      const hook = trigger && hookOf(trigger.pattern);
      if (!trigger || !hook) throw refusal('no trigger waits for a webhook here');
      const call: SentCall = { headers, bytes, body };
      const refused = await refusalOf(deps, hook.scheme, await deps.secretsOf(trigger), call);
      if (refused !== undefined) throw refusal(refused);
      const lookup = lookupOf(headers, body);
      const isMeant = Object.entries(hook.where ?? {}).every(([path, wanted]) => lookup(path) === wanted);
      if (!isMeant) return reply(200, { status: 'ignored' as const, trigger_id: trigger.id, fire_id: null, reason: 'the values that it waits for are others' });
      const id = idOfCall(hook.scheme, call);
      const key = id === undefined ? `hook:${deps.ids.uuid()}` : await keyOf(trigger.owner_id, `${trigger.id}\n${id}`);
      const happening = happeningOf(trigger, key, body, lookup);
      if (trigger.enabled) await deps.engine.receive(happening, trigger);
      else await deps.engine.skip(trigger, happening, 'disabled: the trigger is switched off');
      const fire = await deps.db.system('a fire of a hook').first<FireRow>({ from: 'fires', where: { trigger_id: trigger.id, event_key: key } });
      const isSkipped = !fire || fire.status === 'skipped';
      return reply(200, { status: isSkipped ? ('skipped' as const) : ('accepted' as const), trigger_id: trigger.id, fire_id: fire?.id ?? null, reason: fire?.reason ?? null });
    },
  });
};

/** A token may stand where an API key does. */
const refusal = (why: string) => triggerErrors.bad_signature(why).with({ headers: { 'www-authenticate': 'Bearer' } });

/** Values of the body; `event` is all of it, and `header.NAME` one of the headers that say what happened. */
const lookupOf = (headers: SentCall['headers'], body: unknown): Lookup => {
  const all = JSON.stringify(body).slice(0, MAX_EVENT_CHARS);
  return (path) => {
    const inBody = isTable(body) ? valueAt(body, path) : undefined;
    if (inBody !== undefined && path !== '$') return inBody;
    if (path === 'event' || path === '$') return all;
    return SAID.includes(path.replace(/^header\./, '')) ? headers[path.replace(/^header\./, '')] : undefined;
  };
};

const happeningOf = (trigger: Trigger, key: string, body: unknown, lookup: Lookup): Happening => ({
  kind: 'webhook',
  ownerId: trigger.owner_id,
  key,
  subject: trigger.id,
  text: JSON.stringify(body).slice(0, MAX_EVENT_CHARS),
  data: {},
  origin: { labels: ['ExternalNetwork'], source: 'a webhook' },
  lookup,
});
