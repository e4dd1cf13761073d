/** What GET /api/health tells somebody without a key, against what the checks know. */
import { type HealthProbe, type HookHandle, isTable, type KernelView, type SecurityLook } from '@svc/api';
import { Health } from './answers.js';

const MEMBERS = Object.keys(Health.properties);
const MEMBERS_OF_CHECK = ['name', 'status'];

export const lookAtRedaction = async (get: KernelView['anonymousGet'], probe: HookHandle<typeof HealthProbe>): Promise<SecurityLook> => {
  // Without an API key everybody may have the details, and asking for them would try everything that doctor tries.
  const [health, version, rows] = await Promise.all([get('/api/health'), get('/api/version'), probe.call(undefined)]);
  if (health.status !== 200) return { state: 'failed', detail: `GET /api/health answered ${health.status} to a caller without a key.` };
  const { unexpected, checks } = unexpectedIn(health.body);
  if (unexpected.length > 0) return { state: 'failed', detail: `GET /api/health tells a caller without a key more than it should: ${unexpected.join(', ')}.` };
  const causes = rows.filter(({ value, error }) => value?.detail !== undefined || error !== undefined).length;
  const seen = `A caller without a key got the status, version, uptime and ${checks} checks from GET /api/health, without the causes that ${causes} of them have`;
  if (version.status === 200) return { state: 'degraded', detail: `${seen}. But no API key is set, so anyone who can reach the port can read GET /api/health/detail. svc key new makes a key.` };
  const { status } = await get('/api/health/detail');
  if (status === 200) return { state: 'failed', detail: 'A caller without a key got the details from GET /api/health/detail.' };
  if (status !== 401 && status !== 403) return { state: 'degraded', detail: `${seen}. GET /api/health/detail answered ${status}, so it could not be tried.` };
  return { state: 'active', detail: `${seen}. GET /api/health/detail was refused (${status}).` };
};

/** Members of the answer that nobody without a key should see, by name. */
const unexpectedIn = (text: string): { readonly unexpected: readonly string[]; readonly checks: number } => {
  const body: unknown = JSON.parse(text);
  if (!isTable(body)) return { unexpected: ['an answer of another form'], checks: 0 };
  const checks = Array.isArray(body.checks) ? body.checks : [];
  const ofChecks = checks.flatMap((check) => (isTable(check) ? Object.keys(check).filter((name) => !MEMBERS_OF_CHECK.includes(name)) : ['a check of another form']));
  return { unexpected: [...Object.keys(body).filter((name) => !MEMBERS.includes(name)), ...new Set(ofChecks.map((name) => `checks.${name}`))], checks: checks.length };
};
