/** A try of a provider, and what it found in sentences. */
import { daemon, duration, Failure, type OutputOf } from '@svc/kit';
import type { Provider } from './provider-state.js';
import { t } from './words.js';

/** Either what was found, or why there was nothing to ask with. */
export interface Tried {
  readonly result?: OutputOf<'testProvider'>;
  readonly error?: unknown;
  /** A key was kept just before. */
  readonly isKeyStored?: boolean;
}

export const tryProvider = async (name: string): Promise<Tried> => {
  try {
    return { result: await daemon.call('testProvider', { name, body: {} }) };
  } catch (error) {
    return { error };
  }
};

export const Outcome = ({ tried: { result, error, isKeyStored = false }, provider }: { tried: Tried; provider: Pick<Provider, 'display_name' | 'key_present'> }) => {
  if (!result)
    return (
      <div role="status">
        {isKeyStored && <p>{t('key_kept')}</p>}
        <Failure title="" error={error} />
      </div>
    );
  const isGood = result.status === 'ok';
  const filled = { name: provider.display_name };
  return (
    <div class={isGood ? 'models-result' : 'models-result bad'} role="status">
      <h2>{isGood ? t(provider.key_present ? 'test_ok' : 'test_ok_free', filled) : t('test_bad', filled)}</h2>
      {result.error && <p>{result.error}</p>}
      <p class="muted">
        {isKeyStored && `${t('key_kept')} `}
        {t(isGood ? 'test_took' : 'test_gave_up', { time: duration(result.latency_ms) })}
        {isGood && result.models_listed && result.model_tested && ` ${t('test_model', { count: result.models_listed.length, model: result.model_tested })}`}
      </p>
    </div>
  );
};
