/** What doctor, health and the security page hear of the vault. Each looks, none repairs, none sees a value. */
import { type DoctorFinding, type SecurityLook, textThatIsSet } from '@svc/api';
import { decodeMasterKey, MASTER_KEY_ENV } from './master-key.js';
import { type Vault, wipe } from './service.js';
import { seal, unseal } from './vault-file.js';

const FIX_KEY = `head -c 32 /dev/urandom | base64   # 32 bytes for ${MASTER_KEY_ENV}`;

export const doctorFindings = async (vault: Vault, masterKeyText: string | undefined): Promise<DoctorFinding[]> => {
  const findings: DoctorFinding[] = [keyFinding(masterKeyText)];
  const status = await vault.status();
  if (status.why !== null)
    findings.push({
      check: 'VaultOpens',
      result: 'fail',
      message: `The vault is ${status.state}: ${status.why}.`,
      fix: 'Bring back its key, or restore vault.enc from a backup; where both are lost: svc vault reset',
    });
  return findings;
};

export const healthProbe = async (vault: Vault): Promise<{ name: string; status: 'ok' | 'warn' | 'error'; detail?: string }> => {
  const status = await vault.status();
  return status.why === null ? { name: 'vault', status: 'ok', detail: status.state } : { name: 'vault', status: 'error', detail: `${status.state}: ${status.why}` };
};

const PROBE_BYTES = 32;

/** A vault of this moment, in memory alone: sealed, opened, and given up as the real one is. */
export const lookAtWiping = async (vault: Vault, isEnabled: boolean, bytes: (count: number) => Uint8Array): Promise<SecurityLook> => {
  if (!isEnabled) return { state: 'inactive', detail: '[vault] enabled is false: no secrets are held.' };
  const [value, master] = [Buffer.from(bytes(PROBE_BYTES)), Buffer.from(bytes(PROBE_BYTES))];
  const opened = unseal(seal(new Map([['probe', value]]), master, bytes), master);
  const held = opened.ok ? opened.secrets.get('probe') : undefined;
  if (!opened.ok || held?.equals(value) !== true) return { state: 'failed', detail: 'A vault that was sealed for this check did not open with what was in it.' };
  wipe({ state: 'open', secrets: opened.secrets, master, isEarlier: false });
  const left = [held, master].reduce((count, buffer) => count + buffer.filter((byte) => byte !== 0).length, 0);
  value.fill(0);
  if (left > 0) return { state: 'failed', detail: `A vault was given up, and ${left} bytes of its secret and key stayed in memory.` };
  const { state, secrets, why } = await vault.status();
  const seen = 'A secret and its key were sealed with AES-256-GCM, opened, and overwritten in memory';
  if (why !== null) return { state: 'degraded', detail: `${seen}. But the vault is ${state}: ${why}.` };
  return { state: 'active', detail: `${seen}. The vault holds ${secrets} ${secrets === 1 ? 'secret' : 'secrets'}.` };
};

const keyFinding = (text: string | undefined): DoctorFinding => {
  const check = 'VaultKeyCheck';
  if (textThatIsSet(text) === undefined) return { check, result: 'pass', message: `${MASTER_KEY_ENV} is not set; the vault uses its own key file.` };
  const decoded = decodeMasterKey(text ?? '', MASTER_KEY_ENV);
  if (!Buffer.isBuffer(decoded)) return { check, result: 'fail', message: `${decoded.why}.`, fix: FIX_KEY };
  decoded.fill(0);
  return { check, result: 'pass', message: `${MASTER_KEY_ENV} decodes to 32 bytes.` };
};
