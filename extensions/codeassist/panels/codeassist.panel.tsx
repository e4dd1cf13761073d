/** Login at GitHub Copilot: a code, how long it works, and what became of it. */
import { Button, CopyButton, daemon, definePanel, Failure, needs, type OutputOf, PanelBody, PanelHead, Section, useEffect, useState } from '@svc/kit';
import { t } from './codeassist/words.js';

type Started = OutputOf<'startCodeassistLogin'> & { readonly endsAt: number };
type Standing = OutputOf<'pollCodeassistLogin'>;

const SECOND_MS = 1_000;
const POLL_MS = 2_000;

/** Seconds until then, counted down. */
const useSeconds = (endsAt: number): number => {
  const left = (): number => Math.max(0, Math.ceil((endsAt - Date.now()) / SECOND_MS));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    const timer = setInterval(() => setSeconds(left()), SECOND_MS);
    return () => clearInterval(timer);
  }, [endsAt]);
  return seconds;
};

const Code = ({ poll_id, user_code: code, verification_uri: page, endsAt, onEnded }: Started & { onEnded: (standing: Standing) => void }) => {
  const seconds = useSeconds(endsAt);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const gone = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        const standing = await daemon.call('pollCodeassistLogin', { poll_id }, { signal: gone.signal });
        if (standing.status !== 'pending') return onEnded(standing);
        setError(undefined);
      } catch (failure) {
        if (gone.signal.aborted) return;
        setError(failure);
      }
      timer = setTimeout(ask, POLL_MS);
    };
    timer = setTimeout(ask, POLL_MS);
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [poll_id]);
  return (
    <div class="stack">
      <p>
        <strong>
          <code>{code}</code>
        </strong>{' '}
        <CopyButton text={code} />
      </p>
      <p>
        <a href={page} target="_blank" rel="noreferrer noopener">
          {t('open')}
        </a>
      </p>
      <p class="muted">{t('how', { minutes: Math.floor(seconds / 60), seconds: seconds % 60 })}</p>
      {error === undefined ? <p class="muted">{t('waiting')}</p> : <Failure error={error} />}
    </div>
  );
};

const outcome = ({ status, error }: Standing): string => {
  if (status === 'authorized') return t('done');
  if (error === 'access_denied') return t('denied');
  return error === null || error === 'expired_token' ? t('over') : t('ended', { error });
};

const Codeassist = () => {
  const [started, setStarted] = useState<Started>();
  const [ended, setEnded] = useState<Standing>();
  const [error, setError] = useState<unknown>();
  const start = async (): Promise<void> => {
    setEnded(undefined);
    try {
      const login = await daemon.call('startCodeassistLogin', {}, { retries: 0 });
      setStarted({ ...login, endsAt: Date.now() + login.expires_in * SECOND_MS });
      setError(undefined);
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <>
      <PanelHead title={t('title')} note={t('note')} />
      <PanelBody>
        <Section title={t('login')}>
          <div class="stack">
            <div>
              <Button kind="primary" icon="key" {...needs('codeassist.admin')} onPress={start}>
                {t(started ? 'again' : 'log_in')}
              </Button>
            </div>
            {error !== undefined && <Failure error={error} />}
            {started && (
              <Code
                key={started.poll_id}
                {...started}
                onEnded={(standing) => {
                  setStarted(undefined);
                  setEnded(standing);
                }}
              />
            )}
            <p role="status">{ended ? outcome(ended) : ''}</p>
          </div>
        </Section>
      </PanelBody>
    </>
  );
};

export const panel = definePanel({ view: Codeassist });
