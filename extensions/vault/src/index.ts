import { VaultReset } from './contract.js';
import * as contract from './contract.js';
import { DoctorCheck, type Events, HealthProbe, SecretChange, SecretResolve, SecurityReport, defineExtension, securityProbe } from '@svc/api';
import { VaultSection } from './config.js';
import { MASTER_KEY_ENV, PREVIOUS_KEY_ENV } from './master-key.js';
import { doctorFindings, healthProbe, lookAtWiping } from './reports.js';
import { vaultRoutes } from './routes.js';
import { createVault, type Vault } from './service.js';

export default defineExtension({
  contract,
  config: [VaultSection],
  commandWords: [
    {
      word: 'vault',
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
    const vault = createVault({
      data: ctx.files.data,
      ids: ctx.ids,
      log: ctx.log,
      masterKeyText,
      previousKeyText: () => ctx.env(PREVIOUS_KEY_ENV),
      isEnabled: () => ctx.config.get(VaultSection).enabled,
      clock: ctx.clock,
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
