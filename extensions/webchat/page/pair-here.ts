/** Makes this browser a device of whoever has the pairing code. Its key goes into a cookie at once, which no script can read. */
import { daemon } from '@svc/kit';

const CODE = /^[A-Za-z0-9]{4}-?[A-Za-z0-9]{4}$/;
const MAX_NAME = 100;

/** Keys are longer, unless a person chose a very short one: then the code is tried, and refused. */
export const looksLikeCode = (text: string): boolean => CODE.test(text);

export const pairHere = async (pairing_code: string): Promise<void> => {
  const body = { pairing_code, display_name: browserName(), platform: 'web' };
  const { api_key: key } = await daemon.call('completePairing', { body }, { retries: 0 });
  await daemon.call('createLogin', { body: { key, remember: true } }, { retries: 0 });
};

/** Such as `Firefox, Linux`. */
const browserName = (): string => {
  const agent = navigator.userAgent;
  const browser = ['Firefox', 'Edg', 'OPR', 'Chrome', 'Safari'].find((name) => agent.includes(`${name}/`)) ?? 'Browser';
  const system = /\(([^;)]+)/.exec(agent)?.[1] ?? '';
  return [browser === 'Edg' ? 'Edge' : browser === 'OPR' ? 'Opera' : browser, system].filter(Boolean).join(', ').slice(0, MAX_NAME);
};
