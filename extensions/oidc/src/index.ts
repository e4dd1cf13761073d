import { Auth, AuthBearer, AuthLogout } from '@svc/ext-auth/contract';
import { defineExtension, DoctorCheck } from '@svc/api';
import { oidcTables } from '../migrations/0001_init.js';
import { createAttempts } from './attempts.js';
import { createBearers } from './bearer.js';
import * as contract from './contract.js';
import { findingsOf } from './doctor.js';
import { introspectRoute } from './introspect.js';
import { logoutUrl } from './logout.js';
import { createProviders } from './providers.js';
import { flowRoutes } from './routes.js';
import { createSealing } from './sealing.js';
import { createSessions, sessionOf } from './sessions.js';

const CHECK_MS = 10_000;
const SWEEP_MS = 60_000;

export default defineExtension({
  tables: [contract.AttemptRows, contract.SessionRows, contract.IdentityRows],
  migrations: [oidcTables],
  commandWords: [
    {
      word: 'sso',
      summary: 'sign-in at a provider of your company',
      usage: 'sso providers|whoami|check',
      order: 46,
      module: 'sso',
      synonyms: [
        { word: 'oidc', means: 'sso providers', runs: true },
        { word: 'oauth', means: 'sso providers' },
        { word: 'whoami', means: 'sso whoami', runs: true },
      ],
    },
  ],
  activate(ctx) {
    const auth = ctx.services.require(Auth);
    const providers = createProviders(ctx);
    const attempts = createAttempts(ctx);
    const { clock, db, ids, log } = ctx;
    const sessions = createSessions({ db, clock, ids, log, auth, providers, sealing: createSealing(ctx) });
    const bearer = createBearers({ db, clock, auth, providers, sessions });
    const deps = { auth, attempts, providers, sessions };
    ctx.routes.add(...flowRoutes(deps), introspectRoute(deps));
    ctx.hooks.tap(AuthBearer, ({ token }) => bearer(token));
    ctx.hooks.tap(AuthLogout, async ({ credential, origin }) => {
      const id = sessionOf(credential);
      const session = id === undefined ? undefined : await sessions.find(id);
      if (!session) return undefined;
      const tokens = await sessions.tokensOf(session);
      await sessions.remove([session.id]);
      return { logoutUrl: await logoutUrl(deps, session.provider, tokens, origin) };
    });
    ctx.hooks.tap(DoctorCheck, () => findingsOf(deps));
    ctx.timers.every('check-sign-ins', CHECK_MS, () => sessions.revalidate());
    ctx.timers.every('sweep-sign-ins', SWEEP_MS, async () => {
      await attempts.sweep();
      await sessions.sweep();
    });
  },
});
