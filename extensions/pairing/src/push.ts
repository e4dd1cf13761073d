/** Messages for devices whose page is closed, by the server that the operator named. */
import type { Disposable, ExtensionContext } from '@svc/api';
import type { PairingConfig } from './config.js';

const TIMEOUT_MS = 10_000;
const TOKEN = { secret: 'pairing.gotify', env: 'GOTIFY_APP_TOKEN' } as const;

/** Whether the provider took it. Without a provider it did not. */
export const createPush = (ctx: Pick<ExtensionContext, 'egress' | 'env' | 'fetch' | 'log'>, settings: () => PairingConfig) => {
  let allowed: { readonly origin: string; readonly open: Disposable } | undefined;
  const allow = (origin: string): void => {
    if (allowed?.origin === origin) return;
    allowed?.open.dispose();
    allowed = { origin, open: ctx.egress.allow(origin, 'server') };
  };
  const targetOf = (title: string, message: string): { url: string; body: unknown; isSecret: boolean } | undefined => {
    const { ntfy_topic: topic, ntfy_url: ntfy, push_provider: provider } = settings();
    if (provider === 'ntfy') return topic === '' ? undefined : { url: ntfy, body: { topic, title, message }, isSecret: false };
    const gotify = provider === 'gotify' ? (ctx.env('GOTIFY_SERVER_URL') ?? '') : '';
    return gotify === '' ? undefined : { url: `${gotify.replace(/\/$/, '')}/message`, body: { title, message }, isSecret: true };
  };
  return async (title: string, message: string): Promise<boolean> => {
    const target = targetOf(title, message);
    if (!target) return false;
    try {
      allow(new URL(target.url).origin);
      const answer = await ctx.fetch(target.url, {
        purpose: 'server',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(target.body),
        timeoutMs: TIMEOUT_MS,
        redirect: 'manual',
        ...(target.isSecret ? { secretHeaders: { 'x-gotify-key': TOKEN } } : {}),
      });
      answer.cancel();
      if (answer.status >= 200 && answer.status < 300) return true;
      ctx.log.warn('the push server did not take a message for devices', { status: answer.status });
    } catch (error) {
      ctx.log.warn('a message for devices could not be sent to the push server', { error });
    }
    return false;
  };
};
