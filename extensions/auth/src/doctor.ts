/** What `svc doctor` and the greeting say about keys. */
import type { DoctorFinding, GreetingLine } from '@svc/api';
import type { Keyring } from './keyring.js';

export const PLAIN_KEY = 'config.toml contains the API key in plain text; its hash is enough.';
export const HASH_COMMAND = 'svc key hash --write';

export const findingsOf = (keyring: Keyring, sawPlainLogin: boolean): DoctorFinding[] => [...keyFindings(keyring), ...revokedFindings(keyring), plainLoginFinding(sawPlainLogin)];

const MADE_KEY = 'The daemon made the key itself (owner.key in the home), because programs run here that could reach its port.';

export const greetingOf = (keyring: Keyring): readonly GreetingLine[] => {
  if (keyring.isOwnerKeyUsed) return [{ label: 'key', value: 'needed; svc sends it automatically', note: 'svc open opens the page; svc key show prints the key' }];
  return keyring.isPlainInFile ? [{ label: 'key', value: PLAIN_KEY, note: HASH_COMMAND }] : [];
};

const keyFindings = (keyring: Keyring): readonly DoctorFinding[] => {
  if (!keyring.hasKey && !keyring.isOpen) return [withoutKey(keyring)];
  if (keyring.isOpen)
    return [
      {
        check: 'ApiKeyCheck',
        result: 'warn',
        message: 'No API key is set: anyone who can reach the port is the owner. The daemon creates a key before it starts a program that no sandbox blocks from the port.',
        fix: 'Set api_key in config.toml, or SVC_API_KEY; svc key new makes one.',
      },
    ];
  const isAsked: DoctorFinding = { check: 'ApiKeyCheck', result: 'pass', message: keyring.isOwnerKeyUsed ? `An API key is required. ${MADE_KEY}` : 'An API key is required.' };
  return keyring.isPlainInFile ? [isAsked, { check: 'ApiKeyStorageCheck', result: 'warn', message: PLAIN_KEY, fix: HASH_COMMAND }] : [isAsked];
};

/** Without a key and still closed: by whatever lets people in instead. */
const withoutKey = ({ hasDevices, hasProvider, maySignInAsOwner }: Keyring): DoctorFinding => {
  const ways = [...(hasProvider ? ['people who sign in at a provider'] : []), ...(hasDevices ? ['paired devices'] : [])];
  const who = ways.length === 0 ? 'those who signed in before their provider was taken out of the settings' : ways.join(' and ');
  const message = `No API key is set. Only ${who} can call.`;
  if (hasProvider && maySignInAsOwner) return { check: 'ApiKeyCheck', result: 'pass', message };
  const instead = hasProvider
    ? 'Or make somebody an owner: role_map under [external_auth].'
    : hasDevices
      ? 'Or remove the devices: svc devices remove.'
      : 'Or name the provider again under [external_auth].';
  return { check: 'ApiKeyCheck', result: 'warn', message: `${message} Nobody can come in as the owner${hasProvider ? '' : ' with a key'}.`, fix: `Create a key: svc key new --write. ${instead}` };
};

const revokedFindings = ({ revokedHolders }: Keyring): readonly DoctorFinding[] =>
  revokedHolders.length === 0
    ? []
    : [
        {
          check: 'RevokedKeyCheck',
          result: 'warn',
          message: `The settings of this daemon name a key that was revoked at another daemon (${revokedHolders.join(', ')}); it is refused.`,
          fix: 'Take it out of config.toml or SVC_API_KEY, or create another one: svc key new.',
        },
      ];

const plainLoginFinding = (sawOne: boolean): DoctorFinding =>
  sawOne
    ? {
        check: 'LoginTransportCheck',
        result: 'warn',
        message: 'Since this start, someone logged in from another machine without https: the key and the cookie were sent unencrypted.',
        fix: 'Put a proxy with https in front of the daemon, and name its address in trusted_proxies.',
      }
    : { check: 'LoginTransportCheck', result: 'pass', message: 'No login from another machine without https since this start.' };
