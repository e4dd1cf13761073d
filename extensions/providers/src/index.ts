import { ProviderChanged, ProviderColumns, Providers } from './contract.js';
import * as contract from './contract.js';
import { LocalModels, ModelColumns, Models } from '@svc/ext-models/contract';
import { DoctorCheck, type ExtensionContext, KernelGreet, allKnown, defineExtension, whenKnown } from '@svc/api';
import { providerTables } from '../migrations/0001_tables.js';
import { createAllowedUrls } from './addresses/allowed-urls.js';
import { CredentialPoolsSection, DefaultModelSection, FallbackProvidersSection, ProviderProxyUrlsSection, ProviderUrlsSection } from './config.js';
import { loadKnownProviders } from './directory.js';
import { createLocalServers } from './addresses/local-servers.js';
import { providerRoutes } from './routes/provider-routes.js';
import { createReach } from './addresses/reach.js';
import { createProvidersService } from './service.js';
import { localAddresses } from './snapshot.js';
import { providersCommand } from './slash-commands.js';
import { createSettingsStore } from './store.js';
import { VaultChanged, VaultReset } from '@svc/ext-vault/contract';
import { Defaults, KeyStates, Settings } from './tables.js';

/** What the start of a generation still has to do, by its context. */
const starting = new WeakMap<ExtensionContext, () => Promise<void>>();

export default defineExtension({
  contract,
  tables: [Settings, Defaults, KeyStates],
  migrations: [providerTables],
  config: [DefaultModelSection, ProviderUrlsSection, ProviderProxyUrlsSection, FallbackProvidersSection, CredentialPoolsSection],
  commandWords: [
    {
      word: 'providers',
      summary: 'model providers and their keys',
      usage: 'providers list|set-key|test|…',
      order: 35,
      module: 'providers',
      synonyms: [
        { word: 'provider', means: 'providers list', runs: true },
        { word: 'models providers', means: 'providers list', runs: true, takesArguments: true },
        { word: 'models connect', means: 'providers add NAME URL' },
        { word: 'models auth', means: 'providers set-key PROVIDER' },
        { word: 'login', means: 'providers set-key PROVIDER' },
        { word: 'auth pool', means: 'providers set-key PROVIDER --label LABEL' },
        { word: 'config set-key', means: 'providers set-key PROVIDER' },
        { word: 'config test-key', means: 'providers test PROVIDER' },
        { word: 'config delete-key', means: 'providers remove-key PROVIDER' },
      ],
    },
  ],
  activate(ctx) {
    const models = ctx.services.require(Models);
    const lists = ctx.services.require(LocalModels);
    const fetch: typeof ctx.fetch = (url, options) => ctx.fetch(url, options);
    const local = createLocalServers({ fetch, clock: ctx.clock, log: ctx.log, addresses: async () => localAddresses(await providers.list()), kept: lists });
    const providers = createProvidersService({
      known: loadKnownProviders,
      config: ctx.config,
      secrets: ctx.secrets,
      store: createSettingsStore(ctx.db),
      models,
      lists,
      events: ctx.events,
      clock: ctx.clock,
      local,
      allowed: createAllowedUrls(ctx.egress),
      log: ctx.log,
    });
    starting.set(ctx, () => providers.allowUrls());
    ctx.services.provide(Providers, providers);
    ctx.hooks.tap(ModelColumns, () =>
      whenKnown(allKnown([providers.list(), providers.usable()]), ([all, usable]) => ({ providers: all.map(({ name }) => ({ name, isUsable: usable.includes(name) })) })),
    );
    const isShipped = async (name: string): Promise<boolean> => (await loadKnownProviders()).some((entry) => entry.name === name);
    const reach = createReach({ fetch, clock: ctx.clock, local, lists, isShipped, log: ctx.log });
    ctx.routes.add(...providerRoutes({ providers, models, columns: ctx.hooks.define(ProviderColumns), local, reach, known: loadKnownProviders, testing: { fetch, clock: ctx.clock, models } }));
    ctx.slashCommands.add(providersCommand(providers));
    for (const event of [VaultReset, VaultChanged]) ctx.events.on(event, () => providers.refresh());
    ctx.events.on(ProviderChanged, ({ name }) => providers.listenForChange(name));
    for (const section of [DefaultModelSection, ProviderUrlsSection, ProviderProxyUrlsSection, FallbackProvidersSection, CredentialPoolsSection])
      ctx.config.onChange(section, () => providers.refresh());
    ctx.hooks.tap(KernelGreet, async () => {
      const { provider, model, why, isMock, problem } = await providers.shownDefault();
      if (problem !== null) return [{ label: 'model', value: 'none', note: `${why} svc vault status says more.` }];
      const line = { label: 'model', value: `${provider}/${model}`, note: why };
      return isMock ? [line, { label: 'real model', value: 'svc providers set-key anthropic', note: 'or another provider: svc providers list' }] : [line];
    });
    ctx.hooks.tap(DoctorCheck, async () => {
      const { why, isMock, problem, trouble } = await providers.shownDefault();
      if (problem !== null) return [{ check: 'providers.default', result: 'fail', message: why, fix: 'svc vault status' }];
      if (trouble !== null)
        return [{ check: 'providers.default', result: 'fail', message: `${trouble} ${why}`, fix: 'svc providers set-key <provider>, or choose another: svc providers default <provider>' }];
      return [{ check: 'providers.default', result: isMock ? 'warn' : 'pass', message: why, ...(isMock ? { fix: 'svc providers set-key <provider>' } : {}) }];
    });
  },
  // Before the generation that it follows, and the base URLs of that one, go.
  start: (ctx) =>
    starting
      .get(ctx)?.()
      .catch((error: unknown) => {
        ctx.log.warn('the base URLs of the providers could not be read; svc tries again at the next request', { error: String(error) });
      }),
});
