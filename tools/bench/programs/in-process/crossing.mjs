/** Nanoseconds of one awaited call: a plain function, a service of another area, and the same where what crosses is validated. */
import { Type, defineService, method } from '@svc/api';
import { Lifetime, ServiceRegistry, createContractValidator } from '@svc/core';
import { loadViolation } from '@svc/platform/schema/violation';

const { calls, rounds } = JSON.parse(process.argv[2]);

const Actor = Type.Object({ id: Type.String(), role: Type.String(), ownerId: Type.String() });
const Looked = defineService('looked', '1.0.0', { up: method([Actor, Type.String()], Type.Object({ id: Type.String(), name: Type.String() }), { what: 'looks up a name' }) });
const up = async (_actor, id) => ({ id, name: 'assistant' });
const actor = { id: 'owner', role: 'owner', ownerId: 'owner' };

const ownerOf = (id, build) => ({ id, generation: 1, lifetime: new Lifetime(id), ...(build === undefined ? {} : { build }) });

const serviceFor = async (build) => {
  const validate = createContractValidator(loadViolation, false);
  await validate.load();
  const registry = new ServiceRegistry(() => undefined, validate);
  const provider = ownerOf('provider', 'one');
  registry.provide(provider, Looked, { up });
  registry.provided.swap(undefined, provider);
  return registry.require(ownerOf('caller', build), Looked);
};

const timed = async (call) => {
  const begun = process.hrtime.bigint();
  for (let at = 0; at < calls; at += 1) await call(actor, 'an-agent');
  return Number(process.hrtime.bigint() - begun) / calls;
};

const ways = { plain: up, crossing: (await serviceFor('one')).up, validated: (await serviceFor(undefined)).up };
const raw = { plain: [], crossing: [], validated: [] };
// Floor and product take turns; the first round compiles.
for (let round = 0; round <= rounds; round += 1) for (const [name, call] of Object.entries(ways)) raw[name].push(await timed(call));
console.log(JSON.stringify(Object.fromEntries(Object.entries(raw).map(([name, all]) => [name, all.slice(1)]))));
