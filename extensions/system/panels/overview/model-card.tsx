/** Which model answers for `default`, and why that one. */
import { addressOf, Badge, dateTime, Icon, LinkButton, type OutputOf, Section } from '@svc/kit';
import { t } from './words.js';

type Status = OutputOf<'getStatus'>;

/** In words of the page where there are some; a reason that only the daemon knows stands in its own. */
const whyOf = ({ default_model_chosen_by: by, default_model_chosen_at: at, default_model_why: why }: Status): string =>
  by === null ? (why ?? t('model_off')) : [t(`chosen_${by}`), at === null ? '' : t('chosen_at', { time: dateTime(at) })].filter(Boolean).join(' ');

export const ModelCard = ({ status, isOffered }: { status: Status; isOffered: (panel: string) => boolean }) => {
  const { default_provider: provider, default_model: model, default_model_problem: problem, default_model_stand_in: isMock } = status;
  return (
    <Section title={t('model')} note={t('model_note')}>
      <div class="card">
        <div class="row wrap">
          <Icon name="cpu" />
          <strong class="grow model-name">{model === null ? t('no_model') : `${provider ?? ''}/${model}`}</strong>
          {isMock && <Badge tone="warn">{t('stand_in')}</Badge>}
          {problem !== null && <Badge tone="bad">{t('trouble')}</Badge>}
        </div>
        {problem !== null && <p>{problem}</p>}
        <p class="muted">{isMock ? t('stand_in_text') : whyOf(status)}</p>
        {isOffered('models') && (
          <div class="row wrap">
            {isMock && (
              <LinkButton small kind="primary" icon="key" href={addressOf('models')}>
                {t('set_key')}
              </LinkButton>
            )}
            {!isMock && (
              <LinkButton small icon="pencil" href={addressOf('models')}>
                {t('change_model')}
              </LinkButton>
            )}
          </div>
        )}
      </div>
    </Section>
  );
};
