import { defineExtension, type Events } from '@svc/api';
import { VaultConfig } from './config.js';
import { MASTER_KEY_ENV } from './master-key.js';
import { doctorFindings, healthProbe, securityReport } from './reports.js';
import { vaultRoutes } from './routes.js';
import { createVault, type Vault } from './service.js';

export default defineExtension({
  config: { vault: VaultConfig },
  activate(ctx) {
    const masterKeyText = () => ctx.env(MASTER_KEY_ENV);
    const vault = createVault({ data: ctx.files.data, ids: ctx.ids, log: ctx.log, masterKeyText, isEnabled: () => ctx.config.get('vault').enabled, clock: ctx.clock });
    ctx.routes.add(...vaultRoutes({ ...vault, reset: () => resetAndSay(vault, ctx.events) }));
    ctx.onDispose('vault: wipe what is in memory', () => vault.close());

    ctx.hooks.tap('secret.resolve', async ({ name }) => {
      const value = await vault.resolve(name);
      return value === undefined ? undefined : { value };
    });
    ctx.hooks.tap('secret.change', async ({ op, name, value }) => {
      if (op === 'list') return { changed: false, names: await vault.names(name) };
      if (op === 'delete') return { changed: await vault.delete(name) };
      await vault.put(name, value ?? '');
      return { changed: true };
    });
    ctx.hooks.tap('doctor.check', () => doctorFindings(vault, masterKeyText()));
    ctx.hooks.tap('health.probe', () => healthProbe(vault));
    ctx.hooks.tap('security.report', () => securityReport(vault));
  },
});

/** Whoever remembers where a secret is kept looks again. */
async function resetAndSay(vault: Vault, events: Events): ReturnType<Vault['reset']> {
  const done = await vault.reset();
  events.publish('vault.reset', {});
  return done;
}
