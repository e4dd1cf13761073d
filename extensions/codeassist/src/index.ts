import { defineExtension } from '@svc/api';
import { ModelSession, ProviderChanged, Providers } from '@svc/ext-providers/contract';
import { VaultReset } from '@svc/ext-vault/contract';
import { loginTables } from '../migrations/0001_init.js';
import { CodeassistSection } from './config.js';
import * as contract from './contract.js';
import { createLogins, PROVIDER } from './logins.js';
import { loginRoutes } from './routes.js';
import { createServer } from './server.js';
import { createSessions } from './sessions.js';

const SWEEP_MS = 600_000;
const WIRE = 'copilot';

export default defineExtension({
  contract,
  tables: [contract.LoginRows],
  migrations: [loginTables],
  config: [CodeassistSection],
  commandWords: [{ word: 'auth', summary: 'log in at a provider by a code', usage: 'auth codeassist', order: 36, module: 'auth', synonyms: [{ word: 'auth copilot', means: 'auth codeassist' }] }],
  activate(ctx) {
    const { clock, db, ids, secrets } = ctx;
    const settings = () => ctx.config.get(CodeassistSection);
    const server = createServer({ egress: ctx.egress, fetch: (url, options) => ctx.fetch(url, options) }, settings);
    const sessions = createSessions(server, clock);
    const logins = createLogins({ db, clock, ids, secrets, providers: ctx.services.require(Providers), server, settings });
    ctx.services.provide(ModelSession(WIRE), { open: (ref) => sessions.open(ref) });
    ctx.routes.add(...loginRoutes(logins));
    ctx.events.on(ProviderChanged, ({ name }) => {
      if (name === PROVIDER) sessions.forget();
    });
    ctx.events.on(VaultReset, () => sessions.forget());
    ctx.config.onChange(CodeassistSection, () => sessions.forget());
    ctx.timers.every('sweep-device-logins', SWEEP_MS, () => logins.sweep());
  },
});
