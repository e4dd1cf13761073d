/** What is drawn by hand of devices, above the list: a code for the next one, as text and as a QR code. */
import { Button, CopyButton, caller, daemon, Failure, needs, notify, type OutputOf, Section, Select, useChanges, useEffect, useState } from '@svc/kit';
import type { CollectionSlots } from '@svc/kit/collection';
import { renderSVG } from 'uqr';
import { t } from './devices/words.js';

type Requested = OutputOf<'requestPairing'>;

/** From the least. */
const ROLES = ['viewer', 'user', 'admin', 'owner'] as const;
type Role = (typeof ROLES)[number];
const SECOND_MS = 1_000;

/** Seconds until then, counted down. */
const useSeconds = (until: string): number => {
  const left = (): number => Math.max(0, Math.ceil((Date.parse(until) - Date.now()) / SECOND_MS));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    const timer = setInterval(() => setSeconds(left()), SECOND_MS);
    return () => clearInterval(timer);
  }, [until]);
  return seconds;
};

const Code = ({ pairing_code: code, url, expires_at: until, onOver }: Requested & { onOver: () => void }) => {
  const seconds = useSeconds(until);
  useEffect(() => {
    if (seconds === 0) onOver();
  }, [seconds]);
  return (
    <div class="stack">
      <img width="200" height="200" alt={t('qr', { code })} src={`data:image/svg+xml;base64,${btoa(renderSVG(url, { border: 2 }))}`} />
      <p>
        <strong>
          <code>{code}</code>
        </strong>{' '}
        <CopyButton text={code} />
      </p>
      <p class="muted">{t('how', { seconds })}</p>
      {/^https?:\/\/(localhost|127\.|\[::1\])/.test(url) && <p class="muted">{t('local')}</p>}
    </div>
  );
};

const Pair = () => {
  const [role, setRole] = useState<Role>('user');
  const [requested, setRequested] = useState<Requested>();
  const [error, setError] = useState<unknown>();
  useChanges(['device'], (change) => {
    if (change?.state !== 'paired' || !requested) return;
    setRequested(undefined);
    notify(t('paired'));
  });
  const own: string = caller.value?.role ?? 'viewer';
  const most = ROLES.findIndex((one) => one.startsWith(own));
  const request = async (): Promise<void> => {
    try {
      setRequested(await daemon.call('requestPairing', { body: { role } }, { retries: 0 }));
      setError(undefined);
    } catch (refusal) {
      setError(refusal);
    }
  };
  return (
    <Section title={t('pair')}>
      <div class="stack">
        <Select
          label={t('role')}
          hint={t(`may_${role}`)}
          value={role}
          onValue={(value) => setRole(value as Role)}
          options={ROLES.slice(0, Math.max(1, most + 1)).map((value) => ({ value, label: value }))}
        />
        <div>
          <Button kind="primary" icon="plus" {...needs('pairing.write')} onPress={request}>
            {t('get_code')}
          </Button>
        </div>
        {error !== undefined && <Failure error={error} />}
        {requested && <Code key={requested.pairing_code} {...requested} onOver={() => setRequested(undefined)} />}
      </div>
    </Section>
  );
};

export const slots: CollectionSlots = { head: <Pair /> };
