import { VaultChanged, VaultReset } from './contract.js';
import * as contract from './contract.js';
import { createTables, DoctorCheck, type Events, HealthProbe, SecretChange, SecretResolve, SecurityReport, defineExtension, securityProbe, textThatIsSet } from '@svc/api';
import { VaultSection } from './config.js';
import { MASTER_KEY_ENV, PREVIOUS_KEY_ENV } from './master-key.js';
import { filePlace, rowPlace, Sealed, type VaultPlace } from './place.js';
import { doctorFindings, healthProbe, lookAtWiping } from './reports.js';
import { vaultRoutes } from './routes.js';
import { createVault, type Vault } from './service.js';

const LOOK_EVERY_MS = 5_000;
/** A daemon that was killed. */
const GONE_MS = 30_000;

export default defineExtension({
  contract,
  config: [VaultSection],
  tables: [Sealed],
  migrations: [createTables('0001_init', [Sealed])],
  commandWords: [
    {
      word: 'vault',
      hub: 'safety',
      summary: 'stored secrets, by name',
      usage: 'vault list|set|remove|…',
      order: 36,
      module: 'vault',
      synonyms: [
        { word: 'vault init', means: 'vault set NAME' },
        { word: 'secrets', means: 'vault list', runs: true },
      ],
    },
  ],
  activate(ctx) {
    const masterKeyText = () => ctx.env(MASTER_KEY_ENV);
    const { data } = ctx.files;
    let place: VaultPlace | undefined;
    const findPlace = async (): Promise<VaultPlace> => {
      const isShared = textThatIsSet(masterKeyText()) !== undefined && (await ctx.kernel.replicas()).isShared;
      place = isShared ? rowPlace(ctx.db, ctx.events, data) : filePlace(data);
      return place;
    };
    const vault = createVault({
      ...{ data, ids: ctx.ids, log: ctx.log, masterKeyText, previousKeyText: () => ctx.env(PREVIOUS_KEY_ENV), clock: ctx.clock },
      place: async () => place ?? findPlace(),
      isAmongOthers: async () => (await ctx.kernel.replicas()).daemons.some(({ isSelf, silentMs }) => !isSelf && silentMs < GONE_MS),
      isEnabled: () => ctx.config.get(VaultSection).enabled,
    });
    ctx.events.on(VaultChanged, () => vault.close());
    // What the bus did not bring.
    ctx.timers.every('look-at-shared-secrets', LOOK_EVERY_MS, async () => {
      if (await vault.isOutdated()) ctx.events.publish(VaultChanged, {});
    });
    ctx.routes.add(...vaultRoutes({ ...vault, reset: () => resetAndSay(vault, ctx.events) }));
    ctx.onDispose('vault: wipe what is in memory', () => vault.close());

    const answer = (value: string | undefined) => (value === undefined ? undefined : { value });
    ctx.hooks.tap(SecretResolve, ({ name }) => {
      const found = vault.resolve(name);
      return found instanceof Promise ? found.then(answer) : answer(found);
    });
    ctx.hooks.tap(SecretChange, async ({ op, name, value }) => {
      if (op === 'list') return { changed: false, names: await vault.names(name) };
      if (op === 'delete') return { changed: await vault.delete(name) };
      await vault.put(name, value ?? '');
      return { changed: true };
    });
    ctx.hooks.tap(DoctorCheck, () => doctorFindings(vault, masterKeyText()));
    ctx.hooks.tap(HealthProbe, () => healthProbe(vault));
    ctx.hooks.tap(
      SecurityReport,
      securityProbe('secret_zeroization', () => lookAtWiping(vault, ctx.config.get(VaultSection).enabled, (count) => ctx.ids.bytes(count))),
    );
  },
});

/** Whoever remembers where a secret is kept looks again. */
async function resetAndSay(vault: Vault, events: Events): ReturnType<Vault['reset']> {
  const done = await vault.reset();
  events.publish(VaultReset, {});
  return done;
}
