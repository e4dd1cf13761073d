/** Providers that people sign in at, below the key, and why the last sign-in did not work. */
import { daemon, Icon, type OutputOf, useEffect, useState } from '@svc/kit';
import { t } from './shell-words.js';

type Provider = OutputOf<'listAuthProviders'>['providers'][number];

const REFUSED = /[?&]signin=([a-z_]{3,60})(?=&|$)/;

/** The code of a sign-in that was refused, out of the address. */
const takenRefusal = (): string | undefined => {
  const [, code] = REFUSED.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(history.state, '', location.hash.replace(REFUSED, '') || '#/');
  return code;
};

const refusal = takenRefusal();

const SAID = {
  oidc_wrong_domain: 'sign_in_domain',
  oidc_no_role: 'sign_in_no_role',
  oidc_person_disabled: 'sign_in_disabled',
  oidc_email_unverified: 'sign_in_email',
} as const;

const wordFor = (code: string) => SAID[code as keyof typeof SAID] ?? 'sign_in_failed'; // other codes have no words of their own

export const SignIn = () => {
  const [providers, setProviders] = useState<readonly Provider[]>([]);
  useEffect(() => {
    // Without the extension there are none, and the key works as ever.
    daemon.call('listAuthProviders').then(
      (answer) => setProviders(answer.providers),
      () => undefined,
    );
  }, []);
  if (providers.length === 0 && refusal === undefined) return null;
  return (
    <div class="stack">
      {refusal !== undefined && (
        <p class="failure" role="alert">
          <Icon name="circle-alert" />
          <span>{t(wordFor(refusal), { code: refusal })}</span>
        </p>
      )}
      {providers.map(({ display_name: name, id, login_url: url }) => (
        <a key={id} class="button" href={url}>
          <Icon name="key" />
          <span>{t('sign_in_with', { name })}</span>
        </a>
      ))}
    </div>
  );
};
