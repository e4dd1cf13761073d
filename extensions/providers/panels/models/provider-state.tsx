/** What stands in the way of a provider, or nothing, in a word. */
import { Badge, dateTime, type OutputOf, Section, type Tone } from '@svc/kit';
import { t } from './words.js';

export type Provider = OutputOf<'listProviders'>['providers'][number];

type State = 's_works' | 's_set' | 's_failed' | 's_refused' | 's_missing' | 's_removed' | 's_free' | 's_running' | 's_off' | 's_unknown' | 's_unsupported';

const BY_AUTH: Readonly<Record<Provider['auth_status'], State>> = {
  validated_key: 's_works',
  configured: 's_set',
  invalid_key: 's_refused',
  missing: 's_missing',
  no_key_needed: 's_free',
  auto_detected: 's_running',
  local_offline: 's_off',
};

const TONES: Readonly<Record<State, Tone>> = {
  s_works: 'good',
  s_set: 'info',
  s_failed: 'warn',
  s_refused: 'bad',
  s_missing: 'quiet',
  s_removed: 'warn',
  s_free: 'good',
  s_running: 'good',
  s_off: 'quiet',
  s_unknown: 'warn',
  s_unsupported: 'quiet',
};

const stateOf = (provider: Provider): State => {
  if (provider.wire === 'unsupported') return 's_unsupported';
  if (provider.key_required && provider.key_present === null) return 's_unknown';
  // It was asked, and what came back says nothing of the key.
  if (provider.auth_status === 'configured' && provider.last_tested !== null && provider.error_message !== undefined) return 's_failed';
  return provider.suppressed ? 's_removed' : BY_AUTH[provider.auth_status];
};

export const StateBadge = ({ provider }: { provider: Provider }) => {
  const state = stateOf(provider);
  return (
    <Badge tone={TONES[state]} {...(provider.error_message === undefined ? {} : { title: provider.error_message })}>
      {t(state)}
    </Badge>
  );
};

/** What the daemon met when it called it; nothing while all is well. */
export const HealthBadge = ({ provider: { health } }: { provider: Provider }) =>
  health === 'ok' ? null : <Badge tone={health === 'refused' || health === 'out_of_credit' ? 'bad' : 'warn'}>{t(`h_${health}`)}</Badge>;

export const Troubles = ({ provider: { troubles, keys } }: { provider: Provider }) =>
  troubles.length === 0 && keys.length === 0 ? null : (
    <Section title={t('health')} note={t('health_note')}>
      <ul class="models-health">
        {keys.map((key) => (
          <li key={`key ${key.name}`}>
            <span class="row wrap">
              {t('key_named', { name: key.name })} <Badge tone={key.health === 'ok' ? 'good' : 'warn'}>{t(`h_${key.health}`)}</Badge>
            </span>
          </li>
        ))}
        {troubles.map(({ kind, model, key, failures, until }) => (
          <li key={`${kind} ${model} ${key}`}>
            {t('trouble', { what: t(`h_${kind}`), where: [model ?? t('all_models'), ...(key === null ? [] : [t('key_named', { name: key })])].join(' · '), count: failures, until: dateTime(until) })}
          </li>
        ))}
      </ul>
    </Section>
  );
