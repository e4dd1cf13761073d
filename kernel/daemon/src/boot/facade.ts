/** Step 2: the server, which answers `starting` until everything else is up. */
import * as api from '@svc/api';
import * as internal from '@svc/api/internal';
import type { Lifecycle } from '@svc/core';
import { canSwitch } from '@svc/platform/choices/consequences';
import { settingsOf } from '@svc/platform/config/kernel-sections';
import { isDatabaseKept } from '@svc/platform/config/start-settings';
import { createHttp, type Http, type HttpOptions } from '@svc/platform/http/http-server';
import { limitsOf } from '@svc/platform/http/limits';
import { createOffRoutes } from '@svc/platform/http/not-served';
import { createProjections } from '@svc/platform/streams/projections';
import type { StreamsAdmin, Topics } from '@svc/platform/streams/streams';
import type { Ground } from './ground.js';
import { admissionOf, missingSecurity } from './start-rules.js';
import type { Wiring } from './wiring.js';

export function createFacade(ground: Ground, streams: Topics & StreamsAdmin): Http {
  const { config, keys, listen, options, progress, wiring } = ground;
  return createHttp({
    access: {
      corsOrigins: () => settingsOf(config, 'api').cors_origins,
      hasApiKey: keys.hasKey,
      listenHost: () => listen.host,
      trustedProxies: () => (config.get('/trusted_proxies') as readonly string[] | undefined) ?? [],
    },
    hooks: {
      admit: wiring.hooks.handle(api.HttpAdmit),
      authenticate: knownActors(wiring),
      authorize: wiring.hooks.handle(api.HttpAuthorize),
      upgrade: wiring.hooks.handle(api.SocketUpgrade),
    },
    log: ground.log.logger('http'),
    ids: options.ids,
    clock: options.clock,
    streams,
    projections: createProjections((name) => wiring.projections.active().find(({ value }) => internal.declaredAs(value.decl) === name)?.value),
    limits: () => limitsOf(settingsOf(config, 'api')),
    checkReplies: options.checkReplies ?? false,
    offExtension: createOffRoutes(ground.installed, (id) => progress.lifecycleWhenUp()?.isActive(id) ?? false),
    admission: () => admissionNow(ground),
  });
}

/** Whoever calls is known from here on, as one for whom others may act. */
function knownActors({ hooks, actors }: Wiring): HttpOptions['hooks']['authenticate'] {
  const authenticate = hooks.handle(api.HttpAuthenticate);
  return { isEmpty: authenticate.isEmpty, atOnce: (admission) => api.whenKnown(authenticate.atOnce(admission), (actor) => actor && actors.hand(actor)) };
}

const admissionNow = ({ config, databaseUrl, isDatabaseGuessed, preset, progress }: Ground): ReturnType<HttpOptions['admission']> => {
  const [phase, lifecycle] = [progress.phase(), progress.lifecycleWhenUp()];
  return phase === 'ready' && lifecycle ? admissionOf(config.closed(), missingSecurity(lifecycle, preset.preset, config), isDatabaseGuessed && !isDatabaseKept(config, databaseUrl)) : { state: phase };
};

/** Whether areas can be switched over the API as usual. */
export const isAskable = (ground: Ground, lifecycle: Lifecycle): boolean =>
  admissionNow(ground).state !== 'closed' && ground.installed.all().some((one) => canSwitch(one) && lifecycle.isActive(one.id));
