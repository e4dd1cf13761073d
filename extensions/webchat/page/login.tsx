/** Asks for the key where the daemon wants one. The key goes to the daemon once, and nowhere else. */
import { Button, daemon, Failure, loadCaller, SvcError, TextField, CheckField, useState } from '@svc/kit';
import { looksLikeCode, pairHere } from './pair-here.js';
import { t } from './shell-words.js';
import { SignIn } from './sign-in.js';

const logIn = (key: string, remember: boolean) => daemon.call('createLogin', { body: { key, remember } }, { retries: 0 });

/** A short key looks like a code: it is tried as a key first where no device can be paired. */
const pairOrLogIn = async (text: string, remember: boolean): Promise<void> => {
  try {
    await pairHere(text);
  } catch (error) {
    if (error instanceof SvcError && error.status === 404) await logIn(text, remember);
    else throw error;
  }
};

export const Login = () => {
  const [key, setKey] = useState('');
  const [remember, setRemember] = useState(false);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    try {
      if (looksLikeCode(key.trim())) await pairOrLogIn(key.trim(), remember);
      else await logIn(key.trim(), remember);
      setKey('');
      setError(undefined);
      await loadCaller();
    } catch (refusal) {
      setError(refusal);
    } finally {
      setBusy(false);
    }
  };
  return (
    <main class="login">
      <form class="card" onSubmit={submit}>
        <h1>{t('login_title')}</h1>
        <p class="muted">{t('login_text')}</p>
        <TextField label={t('key')} type="password" value={key} onValue={setKey} autocomplete="current-password" required autofocus />
        <CheckField label={t('remember')} value={remember} onValue={setRemember} />
        {error !== undefined && <Failure error={error} title="" />}
        <Button kind="primary" type="submit" icon="key" isBusy={isBusy} disabled={!isBusy && key.trim() === ''}>
          {t('log_in')}
        </Button>
        <SignIn />
      </form>
    </main>
  );
};
