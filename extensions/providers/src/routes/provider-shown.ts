/** What the routes of providers have in common. */
import { type HookHandle, Nullable, OneOf, routeGroup, Type } from '@svc/api';
import type { CatalogModel, ModelsService } from '@svc/ext-models/contract';
import type { LocalServers } from '../addresses/local-servers.js';
import type { Reach } from '../addresses/reach.js';
import type { DefaultModel, ProviderColumns, ProviderRecord } from '../contract.js';
import type { ProviderEntry } from '../directory.js';
import { providerErrors } from '../errors.js';
import type { TestDeps } from '../probe/provider-test.js';
import type { ProvidersControl } from '../service.js';
import { viewOf } from '../views.js';

export interface RoutesDeps {
  providers: ProvidersControl;
  models: ModelsService;
  columns: HookHandle<typeof ProviderColumns>;
  local: LocalServers;
  reach: Reach;
  /** The shipped providers. */
  known: () => Promise<readonly ProviderEntry[]>;
  /** What a test of a provider needs. */
  testing: TestDeps;
}

export const route = routeGroup({ area: 'providers' });

/** Of everything that changes a provider. */
export const byAdmins = { permission: 'providers.admin' } as const;

/** Of a field with two names. Throws `providers_two_values` where they differ. */
export const valueOf = <K extends string>(body: { readonly [name in K]?: string }, name: K, other: K): string | undefined => {
  const [one, second] = [body[name], body[other]];
  if (one !== undefined && second !== undefined && one !== second) throw providerErrors.two_values(name, other);
  return one ?? second;
};

export const Name = Type.Object({ name: Type.String({ minLength: 1, maxLength: 64, description: 'A name of GET /api/providers', examples: ['anthropic'] }) });

export const Default = Type.Object(
  {
    provider: Type.String(),
    model: Type.String(),
    why: Type.String(),
    chosen_by: OneOf(['config', 'person', 'key', 'start']),
    chosen_at: Nullable(Type.String(), { description: 'When it was chosen' }),
    problem: Nullable(Type.String(), { description: 'Why it cannot answer at the moment' }),
  },
  { 'x-name': 'DefaultModel' },
);

export const viewDefault = ({ provider, model, why, chosen_by, chosen_at, trouble }: DefaultModel) => ({ provider, model, why, chosen_by, chosen_at, problem: trouble });

/** While nobody can tell which provider has a key, the list says so with each of them and stands all the same. */
const defaultOrNull = async (providers: ProvidersControl): Promise<DefaultModel | null> => {
  const shown = await providers.shownDefault();
  return shown.problem === null ? shown : null;
};

export const viewer = async ({ providers, models, columns, known, reach }: RoutesDeps) => {
  const [usable, all, shipped, chosen, gathered] = await Promise.all([providers.usable(), models.list(), known(), defaultOrNull(providers), columns.isEmpty() ? [] : columns.call({})]);
  const troubles = gathered.flatMap(({ value }) => value?.troubles ?? []);
  const owned = new Map<string, CatalogModel[]>();
  for (const model of all) owned.set(model.provider, [...(owned.get(model.provider) ?? []), model]);
  const names = new Set(shipped.map(({ name }) => name));
  const modelsOf = (name: string): CatalogModel[] => owned.get(name) ?? [];
  const view = (record: ProviderRecord) =>
    viewOf(record, {
      models: modelsOf(record.name),
      isShipped: names.has(record.name),
      isUsable: usable.includes(record.name),
      isDefault: chosen?.provider === record.name,
      tested: reach.lastOf(record),
      troubles: troubles.filter(({ provider }) => provider === record.name),
    });
  return { modelsOf, view, chosen };
};

/** As the list shows it. */
export const shownRecord = async (providers: ProvidersControl, name: string): Promise<ProviderRecord> => {
  const record = (await providers.list()).find((one) => one.name === name);
  if (!record) throw providerErrors.not_found(name);
  return record;
};
