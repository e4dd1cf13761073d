/** The caller's authenticator: set up with a QR code, confirmed with a code, replaced or removed with one. */
import { Button, daemon, Dialog, may, type OutputOf, Section, Shown, TextField, useLoaded, useState } from '@svc/kit';
import { t } from './words.js';

type Status = OutputOf<'getTotpStatus'>;

const textOf = ({ enrolled, confirmed, enforced, remaining_recovery_codes: count }: Status): string => {
  if (!enrolled) return t('totp_none');
  if (!confirmed) return t('totp_unconfirmed');
  return t(enforced ? 'totp_enforced' : 'totp_confirmed', { count });
};

export const Authenticator = () => {
  const loaded = useLoaded('authenticator', (signal) => daemon.call('getTotpStatus', {}, { signal }));
  const [open, setOpen] = useState<'setup' | 'remove'>();
  const close = (): void => {
    setOpen(undefined);
    loaded.reload();
  };
  return (
    <Section title={t('totp')}>
      <Shown of={loaded} lines={1}>
        {(status) => (
          <div class="row wrap">
            <p class="grow">{textOf(status)}</p>
            {may('approvals.write') && <Button onPress={() => setOpen('setup')}>{t(status.confirmed ? 'replace' : 'setup')}</Button>}
            {may('approvals.write') && status.enrolled && (
              <Button kind="danger" onPress={() => setOpen('remove')}>
                {t('remove')}
              </Button>
            )}
            {open === 'setup' && <Setup isReplaced={status.confirmed} onClose={close} />}
            {open === 'remove' && <Remove onClose={close} />}
          </div>
        )}
      </Shown>
    </Section>
  );
};

const CodeField = ({ label, value, onValue }: { label: string; value: string; onValue: (value: string) => void }) => (
  <TextField label={label} value={value} onValue={onValue} inputMode="numeric" autocomplete="one-time-code" maxLength={64} autofocus />
);

const Setup = ({ isReplaced, onClose }: { isReplaced: boolean; onClose: () => void }) => {
  const [made, setMade] = useState<OutputOf<'createTotp'>>();
  const [code, setCode] = useState('');
  const begin = async (): Promise<void> => {
    setMade(await daemon.call('createTotp', { body: isReplaced ? { current_code: code.trim() } : {} }));
    setCode('');
  };
  const confirm = async (): Promise<void> => {
    await daemon.call('confirmTotp', { body: { code: code.trim() } });
    onClose();
  };
  return (
    <Dialog
      title={t('setup_title')}
      onClose={onClose}
      actions={
        <Button kind="primary" disabled={(made !== undefined || isReplaced) && code.trim() === ''} onPress={made ? confirm : begin}>
          {t(made ? 'confirm' : 'next')}
        </Button>
      }
    >
      {made ? (
        <div class="stack">
          <p>{t('scan')}</p>
          <img class="approval-qr" src={made.qr_code} alt={made.otpauth_uri} />
          <p>
            {t('secret')}: <code>{made.secret}</code>
          </p>
          <p>{t('recovery')}</p>
          <ul class="approval-codes">
            {made.recovery_codes.map((one) => (
              <li key={one}>
                <code>{one}</code>
              </li>
            ))}
          </ul>
          <CodeField label={t('code')} value={code} onValue={setCode} />
        </div>
      ) : (
        isReplaced && <CodeField label={t('current')} value={code} onValue={setCode} />
      )}
    </Dialog>
  );
};

const Remove = ({ onClose }: { onClose: () => void }) => {
  const [code, setCode] = useState('');
  const remove = async (): Promise<void> => {
    await daemon.call('revokeTotp', { body: { code: code.trim() } });
    onClose();
  };
  return (
    <Dialog
      title={t('remove_title')}
      onClose={onClose}
      actions={
        <Button kind="danger" disabled={code.trim() === ''} onPress={remove}>
          {t('remove')}
        </Button>
      }
    >
      <CodeField label={t('code')} value={code} onValue={setCode} />
    </Dialog>
  );
};
